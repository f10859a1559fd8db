//! Content that is too large for a line: one file for each, named by its hash.
//!
//! Invariants: a file is written once and never changed; its name is the beginning of its content's hash.

use std::collections::HashMap;
use std::io::{self, Read};

use agent::stored::reference;
use basics::sha256::Sha256;
use sha2::{Digest, Sha256 as Hasher};
use state::{Access, Cause, Folder, StateError};

use super::error::JournalError;
use super::{Durability, limits};

/// The folder of a run's content.
const FOLDER: &str = "observations";

/// Where content is, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) sha256: Sha256,
}

/// The kept content of one run.
#[derive(Debug)]
pub(super) struct Contents {
    folder: Folder,
    /// Names that are taken, with the whole hash.
    known: HashMap<String, Sha256>,
    /// What may not be on disk yet.
    unsynced: Vec<String>,
}

impl Contents {
    pub(super) fn new(run: &Folder) -> Result<Self, JournalError> {
        let folder = run.create_folder(FOLDER, Access::Private)?;
        Ok(Self { folder, known: HashMap::new(), unsynced: Vec::new() })
    }

    /// Keeps content, unless it is kept already.
    pub(super) fn put(&mut self, content: &[u8]) -> Result<Kept, JournalError> {
        let sha256 = Sha256::of(content);
        // Half a hash can be made to collide on purpose; the whole cannot.
        let mut name = reference(&sha256);
        if self.holder(&name).is_some_and(|holder| holder != sha256) {
            name = format!("{FOLDER}/{sha256}.txt");
        }
        if self.holder(&name).is_none() {
            // Whatever needs to be on disk is waited for in one go, by `settle`.
            self.folder.replace(inside(&name), content, Durability::NoSync)?;
            self.unsynced.push(name.clone());
            self.known.insert(name.clone(), sha256);
        }
        Ok(Kept { name, sha256 })
    }

    /// The hash of what has this name, if there is such a file and an interruption did not spoil it.
    fn holder(&mut self, name: &str) -> Option<Sha256> {
        if !self.known.contains_key(name) {
            let sha256 = Sha256::of(&self.folder.read(inside(name), limits::CONTENT).ok()?);
            if !is_named(name, &sha256) {
                return None;
            }
            self.unsynced.push(name.to_owned());
            self.known.insert(name.to_owned(), sha256);
        }
        self.known.get(name).copied()
    }

    /// Waits until everything kept is on disk, where that is wanted.
    pub(super) fn settle(&mut self, durability: Durability) -> Result<(), JournalError> {
        let unsynced = std::mem::take(&mut self.unsynced);
        if unsynced.is_empty() || durability == Durability::NoSync {
            return Ok(());
        }
        for name in unsynced {
            let file = self.folder.open_file(inside(&name))?;
            let path = self.folder.path().join(inside(&name));
            file.sync_data().map_err(JournalError::io("write", &path))?;
        }
        Ok(self.folder.sync()?)
    }
}

/// A reference as a name in the folder.
fn inside(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether a reference is one that this module makes for content with this hash.
pub(super) fn is_named(name: &str, sha256: &Sha256) -> bool {
    digits(name).is_some_and(|digits| sha256.to_string().starts_with(digits))
}

/// The hexadecimal digits of a reference that this module makes.
pub(super) fn digits(name: &str) -> Option<&str> {
    let digits = name.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".txt")?;
    let is_hash = matches!(digits.len(), 16 | 64)
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some(digits)
}

/// The content of a file of a run's folder.
pub(super) fn read(run: &Folder, name: &str) -> Result<Vec<u8>, StateError> {
    run.read(name, limits::CONTENT)
}

/// The SHA-256 of a file of a run's folder, which may be too large for memory; `left` is how many bytes there may
/// still be.
pub(super) fn hash(run: &Folder, name: &str, left: &mut u64) -> Result<Sha256, StateError> {
    let mut file = run.open_file(name)?.take(left.saturating_add(1));
    let failed = |cause| StateError { doing: "read", path: run.path().join(name), cause };
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) if file.limit() == 0 => {
                let limit = std::mem::take(left);
                return Err(failed(Cause::TooLarge { limit }));
            }
            Ok(0) => {
                *left = file.limit().saturating_sub(1);
                return Ok(hasher.into());
            }
            Ok(bytes) => hasher.update(&buffer[..bytes]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error.into())),
        }
    }
}

#[cfg(test)]
mod tests;
