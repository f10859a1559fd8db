//! Content that is too large for a line: one file for each, named by its hash.
//!
//! Invariants: a file is written once and never changed; its name is the beginning of its content's hash.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::error::JournalError;
use super::file::{replace, sync_folder};
use super::{Durability, reference};

/// Where content is, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) sha256: String,
}

/// The kept content of one run.
#[derive(Debug)]
pub(super) struct Contents {
    folder: PathBuf,
    /// Names that are taken, with the whole hash.
    known: HashMap<String, String>,
    /// What may not be on disk yet.
    unsynced: Vec<PathBuf>,
}

impl Contents {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), known: HashMap::new(), unsynced: Vec::new() }
    }

    /// Keeps content, unless it is kept already.
    pub(super) fn put(&mut self, content: &[u8]) -> Result<Kept, JournalError> {
        let sha256 = crate::sha256(content);
        // Half a hash can be made to collide on purpose; the whole cannot.
        let mut name = reference(&sha256);
        if self.holder(&name).is_some_and(|holder| holder != sha256) {
            name = format!("observations/{sha256}.txt");
        }
        if self.holder(&name).is_none() {
            let path = self.folder.join(&name);
            // Whatever needs to be on disk is waited for in one go, by `settle`.
            replace(&path, content, Durability::NoSync)?;
            self.unsynced.push(path);
            self.known.insert(name.clone(), sha256.clone());
        }
        Ok(Kept { name, sha256 })
    }

    /// The hash of what has this name, if there is such a file and an interruption did not spoil it.
    fn holder(&mut self, name: &str) -> Option<&str> {
        if !self.known.contains_key(name) {
            let sha256 = crate::sha256(&read(&self.folder, name).ok()?);
            if !is_named(name, &sha256) {
                return None;
            }
            self.unsynced.push(self.folder.join(name));
            self.known.insert(name.to_owned(), sha256);
        }
        self.known.get(name).map(String::as_str)
    }

    /// Waits until everything kept is on disk, where that is wanted.
    pub(super) fn settle(&mut self, durability: Durability) -> Result<(), JournalError> {
        let unsynced = std::mem::take(&mut self.unsynced);
        if unsynced.is_empty() || durability == Durability::NoSync {
            return Ok(());
        }
        for path in unsynced {
            File::open(&path)
                .and_then(|file| file.sync_data())
                .map_err(JournalError::io("write", &path))?;
        }
        sync_folder(&self.folder.join("observations"))
    }
}

/// Whether a reference is one that this module makes for content with this hash.
pub(super) fn is_named(name: &str, sha256: &str) -> bool {
    digits(name).is_some_and(|digits| sha256.starts_with(digits))
}

/// The hexadecimal digits of a reference that this module makes.
pub(super) fn digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix("observations/")?.strip_suffix(".txt")?;
    let is_hash = matches!(digits.len(), 16 | 64)
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some(digits)
}

/// The content of a plain file of a run's folder.
pub(super) fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    let path = folder.join(name);
    // Opening a pipe or a device that somebody put there could wait for ever.
    if !fs::symlink_metadata(&path)?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    fs::read(path)
}

#[cfg(test)]
mod tests;
