//! Where skills of projects come from, as the user said or saw it.
//!
//! A lockfile comes with a clone, and anybody can write one. Nobody is asked for anything, and nothing is read, because
//! of an address in it that the user does not know.

use std::path::Path;

use super::{Trust, TrustStore, key};

impl Trust {
    /// Whether the user knows that a skill in the lockfile of a project comes from `source`.
    pub fn knows_source(&self, project: &Path, lockfile: &Path, name: &str, source: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(store) => {
                let known = store.sources.get(&key(lockfile)).and_then(|known| known.get(name));
                known.is_some_and(|known| known == source) || store.writes(project, lockfile)
            }
        }
    }
}

impl TrustStore {
    /// Remembers where a skill in a lockfile comes from.
    pub fn remember_source(&mut self, lockfile: &Path, name: &str, source: &str) {
        let known = self.sources.entry(key(lockfile)).or_default();
        known.insert(name.to_owned(), source.to_owned());
    }
}
