//! Where the files of a run are: its folder, among those of the other runs.
//!
//! Invariant: both are open, and everything in them is reached through their handles.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use basics::run_id::RunId;
use state::{Folder, StateError};

use super::error::JournalError;

/// The folder of a run, open.
#[derive(Debug)]
pub(super) struct RecordFolder {
    runs: Arc<Folder>,
    own: Folder,
}

impl RecordFolder {
    pub(super) fn new(runs: Arc<Folder>, own: Folder) -> Self {
        Self { runs, own }
    }

    /// The run in a folder.
    pub(super) fn open(folder: &Path) -> Result<Self, JournalError> {
        let open = || -> Result<Self, StateError> {
            let runs = Folder::open(folder.parent().unwrap_or(Path::new(".")))?;
            let own = runs.folder(folder.file_name().unwrap_or_default())?;
            Ok(Self { runs: Arc::new(runs), own })
        };
        open().map_err(|error| match error.is_missing() {
            true => JournalError::NotFound { folder: folder.to_owned() },
            false => error.into(),
        })
    }

    /// Another run beside this one.
    pub(super) fn beside(&self, run_id: &RunId) -> Result<Self, JournalError> {
        Ok(Self { runs: Arc::clone(&self.runs), own: self.runs.folder(run_id.as_str())? })
    }

    /// The folder of all runs.
    pub(super) fn runs(&self) -> &Arc<Folder> {
        &self.runs
    }

    /// The folder of this run.
    pub(super) fn own(&self) -> &Folder {
        &self.own
    }

    /// Its path, for words.
    pub(super) fn path(&self) -> &Path {
        self.own.path()
    }

    /// Its name.
    pub(super) fn name(&self) -> Cow<'_, str> {
        self.path().file_name().unwrap_or_default().to_string_lossy()
    }
}
