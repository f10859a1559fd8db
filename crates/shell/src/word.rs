//! A word of a line after quotes are removed, and what the shell would still do with it.

use crate::quoting::quoted;

/// A word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// What a program would be given, as far as that is known.
    pub(crate) text: String,
    /// How it was written.
    pub(crate) raw: String,
    /// Whether something in it is quoted.
    pub(crate) is_quoted: bool,
    /// Whether names of files can take its place.
    pub(crate) is_glob: bool,
    /// Whether it begins with a `~` that stands for a folder.
    pub(crate) has_tilde: bool,
    /// Whether a part is only known when it runs.
    pub(crate) expands: bool,
    /// Whether that part is outside quotes, so that it can become several words, or none.
    pub(crate) splits: bool,
}

impl Word {
    /// A word that means itself.
    pub(crate) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), raw: text.to_owned(), ..Self::default() }
    }

    /// Whether the program gets exactly the text.
    pub(crate) fn is_literal(&self) -> bool {
        !self.is_glob && !self.has_tilde && !self.expands
    }

    /// The word for rules: quoted where it has to be, and as it was written where its value is not known.
    pub(crate) fn shown(&self) -> String {
        if self.is_literal() { quoted(&self.text) } else { self.raw.clone() }
    }

    /// Whether no wildcard in it can match the name of an option, because the word begins with something else.
    pub(crate) fn is_anchored(&self) -> bool {
        !self.raw.starts_with(['*', '?', '[', '-', '\'', '"', '\\', '$'])
    }

    /// The name, if it has the form of an assignment.
    pub(crate) fn assigned(&self) -> Option<&str> {
        self.text.split_once('=').map(|(name, _)| name)
    }
}
