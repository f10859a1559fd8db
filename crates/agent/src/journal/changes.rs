//! `changes/`: what is needed to take the changes of files back, one file for each, oldest first.
//!
//! Invariant: it is on disk before the change is made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tools::undo::{Previous, Undo};

use super::error::JournalError;
use super::file::{replace, sync_folder};
use super::{Durability, Journal, content};

/// One change; the content that was replaced has a file of its own.
#[derive(Serialize, Deserialize)]
struct Change {
    path: String,
    previous: Option<Replaced>,
    sha256_after: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Replaced {
    #[serde(rename = "ref")]
    name: String,
    sha256: String,
    mode: u32,
}

impl Journal {
    /// Keeps what is needed to take a change of a file back, on disk before the change.
    pub fn record_change(&mut self, change: &Undo) -> Result<(), JournalError> {
        let previous = match &change.previous {
            None => None,
            Some(Previous { bytes, mode }) => {
                let kept = self.contents.put(bytes)?;
                Some(Replaced { name: kept.name, sha256: kept.sha256, mode: *mode })
            }
        };
        self.contents.settle(self.durability)?;
        let change = Change {
            path: change.path.clone(),
            previous,
            sha256_after: change.sha256_after.clone(),
        };
        let folder = self.folder.join("changes");
        fs::create_dir_all(&folder).map_err(JournalError::io("create", &folder))?;
        let free = (1..).map(|number| place(&folder, number)).find(|path| !path.exists());
        let path = free.unwrap_or_else(|| place(&folder, 0));
        replace(&path, serde_json::json!(change).to_string().as_bytes(), self.durability)?;
        if self.durability == Durability::Sync {
            sync_folder(&folder)?;
            sync_folder(&self.folder)?;
        }
        Ok(())
    }
}

fn place(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:06}.json"))
}

/// The changes that a run announced, oldest first; the last one may not have been made.
pub fn changes(folder: &Path) -> Result<Vec<Undo>, JournalError> {
    let changes = folder.join("changes");
    let paths = (1..).map(|number| place(&changes, number)).take_while(|path| path.exists());
    paths.map(|path| undo(folder, &path).map_err(JournalError::io("read", &path))).collect()
}

fn undo(folder: &Path, path: &Path) -> io::Result<Undo> {
    let Change { path, previous, sha256_after } = serde_json::from_slice(&fs::read(path)?)?;
    let previous = match previous {
        None => None,
        Some(Replaced { name, sha256, mode }) => {
            let bytes = content::read(folder, &name)?;
            if crate::sha256(&bytes) != sha256 {
                return Err(io::Error::other(format!("`{name}` is not what was kept")));
            }
            Some(Previous { bytes, mode })
        }
    };
    Ok(Undo { path, previous, sha256_after })
}

#[cfg(test)]
mod tests;
