//! Lists of names.

/// Names with blanks between them.
pub(crate) struct Names(pub(crate) &'static str);

impl Names {
    /// Whether a name is among them.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.iter().any(|known| known == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.split_ascii_whitespace()
    }
}
