//! What was typed in earlier conversations, in the user's state.
//!
//! It is for comfort alone: where it cannot be read or written, there is none.

use std::io::Write;
use std::path::PathBuf;

use state::{Durability, Folder};

use crate::session::Session;

const FILE: &str = "chat_history.jsonl";
const MOST_BYTES: u64 = 4 * 1024 * 1024;
const MOST: usize = 1_000;
/// A longer text is not remembered.
const LONGEST: usize = 100_000;

/// What was typed, the newest last.
pub(super) struct History {
    folder: Option<PathBuf>,
    entries: Vec<String>,
}

impl History {
    pub(super) fn read(session: &Session) -> Self {
        let folder = session.surroundings.home.as_ref().map(|home| home.join(".agent"));
        let content = folder.as_ref().and_then(|folder| Folder::open(folder).ok());
        let content = content.and_then(|folder| folder.read(FILE, MOST_BYTES).ok());
        let content = content.unwrap_or_default();
        let lines = content.split(|byte| *byte == b'\n');
        let entries: Vec<String> =
            lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let history = Self { folder, entries };
        if history.entries.len() > 2 * MOST {
            history.shorten();
        }
        history
    }

    pub(super) fn entries(&self) -> Vec<String> {
        self.entries[self.entries.len().saturating_sub(MOST)..].to_vec()
    }

    pub(super) fn add(&mut self, text: &str) {
        if text.len() > LONGEST || self.entries.last().is_some_and(|last| last == text) {
            return;
        }
        self.entries.push(text.to_owned());
        let Some(folder) = &self.folder else { return };
        let file =
            Folder::create(folder).and_then(|folder| folder.private().append_or_create(FILE));
        if let (Ok(mut file), Ok(line)) = (file, serde_json::to_string(text)) {
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Keeps the newest.
    fn shorten(&self) {
        let Some(folder) = self.folder.as_ref().and_then(|folder| Folder::open(folder).ok()) else {
            return;
        };
        let lines = self.entries();
        let lines = lines.iter().filter_map(|entry| serde_json::to_string(entry).ok());
        let text: String = lines.map(|line| line + "\n").collect();
        let _ = folder.private().replace_among_many(FILE, text.as_bytes(), Durability::NoSync);
    }
}
