//! The record of a run on disk.
//!
//! Invariant: what was committed is never lost or changed. Each line holds the hash of the one before, so
//! an edit, a deletion or a reordering shows.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::event::{Event, Happening};
use crate::run::Run;

/// Where a content with this hash is kept, relative to the run's folder.
pub fn reference(sha256: &str) -> String {
    format!("observations/{}.txt", &sha256[..16])
}

/// A run's folder, open for writing by this process alone.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
}

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {}

impl Journal {
    /// Adds an event; it is on disk for certain only after [`Journal::commit`].
    pub fn append(
        &mut self,
        happening: Happening,
        now: jiff::Timestamp,
    ) -> Result<Event, JournalError> {
        todo!()
    }

    /// Waits until everything added is on disk.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        todo!()
    }

    /// The number that the next event will have.
    pub fn next_sequence(&self) -> u64 {
        todo!()
    }

    /// Replaces `state.json`.
    pub fn write_state(&mut self, state: &Value) -> Result<(), JournalError> {
        todo!()
    }

    /// Keeps content that is too large for an event; answers with its reference.
    pub fn keep(&mut self, content: &[u8]) -> Result<String, JournalError> {
        todo!()
    }

    /// Begins the record of a child run.
    pub fn sibling(&self, run_id: &str) -> Result<Self, JournalError> {
        todo!()
    }

    /// Writes `run.json` and `final.md` from where the run is now.
    pub fn finish(&mut self, run: &Run) -> Result<(), JournalError> {
        todo!()
    }

    /// The run's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
