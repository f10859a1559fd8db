//! `index.json`: the skills a run began with, kept once for all runs that began with the same.

use skill::index::Index;
use state::{Access, Folder};

use super::Journal;
use super::error::JournalError;

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
    /// Of all skills of an index.
    pub fn of(index: &Index) -> Self {
        Self::new(serde_json::to_vec(&index.skills).unwrap_or_default())
    }

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
        let name = shared_name(&index.hash);
        let own = self.place.own();
        // Not every disk has links, another process may be pruning, and the folder may be another user's.
        let is_shared = match self.place.runs().create_folder(INDEXES, Access::Mask) {
            Err(error) if error.is_unsafe() => return Err(error.into()),
            Err(_) => false,
            Ok(indexes) => {
                let indexes = indexes.private();
                let share = || indexes.replace_among_many(&name, &index.json, self.durability);
                take(&indexes, &name, own, &index.json)
                    || share().is_ok() && take(&indexes, &name, own, &index.json)
            }
        };
        match is_shared {
            true => Ok(()),
            false => Ok(own.replace(INDEX, &index.json, self.durability)?),
        }
    }
}

/// Makes an index that is there the one of a run, if it is what it should be: it may have come from anywhere.
fn take(indexes: &Folder, name: &str, run: &Folder, json: &[u8]) -> bool {
    if indexes.link(name, run, INDEX).is_err() {
        return false;
    }
    let is_same = run.read_shared(INDEX, json.len() as u64).is_ok_and(|bytes| bytes == json);
    if !is_same {
        // Whoever writes another one puts it in its place.
        let _ = run.remove_file(INDEX);
    }
    is_same
}

/// What the index with this JSON is called.
pub(super) fn index_hash(json: &[u8]) -> String {
    format!("sha256:{}", basics::sha256::Sha256::of(json))
}

/// In the folder of all indexes.
fn shared_name(hash: &str) -> String {
    let name: String = hash.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{name}.json")
}

#[cfg(test)]
mod tests;
