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

/// The JSON of an index, and what it is called by: `sha256:` and its hash.
#[derive(Debug)]
pub struct IndexSnapshot {
    json: Vec<u8>,
    hash: String,
}

impl IndexSnapshot {
    /// Of the JSON of all skills.
    pub fn new(json: Vec<u8>) -> Self {
        Self { hash: index_hash(&json), json }
    }

    /// What it is called by.
    pub fn hash(&self) -> &str {
        &self.hash
    }
}

impl Journal {
    /// Puts an index into the run's folder; it is written only if no other run has brought it before.
    pub fn write_index(&mut self, index: &IndexSnapshot) -> Result<(), JournalError> {
        let shared = shared(&self.folder, &index.hash);
        let own = self.folder.join(INDEX);
        if fs::hard_link(&shared, &own).is_ok() {
            return Ok(());
        }
        share(&shared, &index.json, self.durability).map_err(JournalError::io("write", &shared))?;
        // Not every disk has links, and another process may be pruning.
        fs::hard_link(&shared, &own)
            .or_else(|_| fs::write(&own, &index.json))
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
