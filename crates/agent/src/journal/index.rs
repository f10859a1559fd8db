//! `index.json`: the skills a run began with, kept once for all runs that began with the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::JournalError;
use super::{Durability, Journal};

/// The file in a run's folder.
pub(super) const INDEX: &str = "index.json";
/// The folder, beside the runs, that holds each index once.
pub(super) const INDEXES: &str = ".indexes";

impl Journal {
    /// Puts the index with this hash, `sha256:` and the hash of its JSON, into the run's folder. The JSON
    /// is made only if no other run has brought it before.
    pub fn write_index(
        &mut self,
        hash: &str,
        json: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), JournalError> {
        let shared = shared(&self.folder, hash);
        let own = self.folder.join(INDEX);
        if fs::hard_link(&shared, &own).is_ok() {
            return Ok(());
        }
        let json = json();
        let found = index_hash(&json);
        if found != hash {
            return Err(JournalError::OtherIndex { expected: hash.to_owned(), found });
        }
        share(&shared, &json, self.durability).map_err(JournalError::io("write", &shared))?;
        // Not every disk has links, and another process may be pruning.
        fs::hard_link(&shared, &own)
            .or_else(|_| fs::write(&own, &json))
            .map_err(JournalError::io("write", &own))
    }
}

/// What the index with this JSON is called.
pub(super) fn index_hash(json: &[u8]) -> String {
    format!("sha256:{}", crate::sha256(json))
}

fn shared(run: &Path, hash: &str) -> PathBuf {
    let name: String = hash.chars().filter(char::is_ascii_alphanumeric).collect();
    run.with_file_name(INDEXES).join(format!("{name}.json"))
}

/// Other processes may be writing the same one.
fn share(path: &Path, json: &[u8], durability: Durability) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let file = tempfile::NamedTempFile::new_in(folder)?;
    fs::write(file.path(), json)?;
    if durability == Durability::Sync {
        file.as_file().sync_data()?;
    }
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
