//! Text that was piped in: what it is, for a reader that is no language model.

use agent::piped;

/// Lines that tell what a text is.
const LINES: usize = 20;

/// What to look for among skills: the words of a request, and what kind of text was piped in with it.
pub fn query(request: &str) -> String {
    match piped::split(request) {
        (words, None) => words.to_owned(),
        (words, Some(text)) => format!("{words} {}", Kind::of(text).word()),
    }
}

/// What a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Csv,
    Tsv,
    Text,
}

impl Kind {
    /// A table has at least two lines, and as many delimiters in nearly every line as in the first.
    pub(super) fn of(text: &str) -> Self {
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
        let is_table = |delimiter: char| {
            let count = |line: &&str| line.matches(delimiter).count();
            let first = lines.first().map_or(0, count);
            let alike = lines.iter().filter(|line| count(line) == first).count();
            first > 0 && lines.len() > 1 && alike * 4 >= lines.len() * 3
        };
        match () {
            () if is_table('\t') => Self::Tsv,
            () if is_table(',') || is_table(';') => Self::Csv,
            () => Self::Text,
        }
    }

    /// The word for it, which descriptions of skills have.
    fn word(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Text => "text",
        }
    }

    /// The extension of a file that holds it.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Text => "txt",
        }
    }
}
