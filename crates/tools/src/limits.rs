//! How much a tool may read, return and wait for.

use std::time::Duration;

/// How much a tool may read, return and wait for; the defaults suit a model's context.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest file that is read, written or kept for undo.
    pub file_bytes: u64,
    /// How much of a result the model sees; the whole is handed back to be stored.
    pub shown_bytes: usize,
    /// How much of a single line of a search result the model sees.
    pub line_bytes: usize,
    /// How much of a search result or a network response is kept at all.
    pub kept_bytes: usize,
    /// How many entries of a directory are listed.
    pub entries: usize,
    /// How many levels of directories are listed.
    pub depth: u64,
    /// How long a search may take.
    pub search_time: Duration,
    /// How long a network request may take, with all its redirects.
    pub network_time: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
}

impl Limits {
    /// The same, with no more time than this.
    #[must_use]
    pub fn within(&self, time: Duration) -> Self {
        Self {
            search_time: self.search_time.min(time),
            network_time: self.network_time.min(time),
            ..self.clone()
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 10 << 20,
            shown_bytes: 20_000,
            line_bytes: 500,
            kept_bytes: 4 << 20,
            entries: 10_000,
            depth: 8,
            search_time: Duration::from_secs(20),
            network_time: Duration::from_secs(30),
            redirects: 5,
        }
    }
}
