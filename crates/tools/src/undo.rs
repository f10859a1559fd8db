//! Taking a change back.

use std::collections::BTreeMap;
use std::path::Path;

use crate::file::change;
use crate::outcome::{ToolError, sha256};
use crate::workspace::Workspace;

/// What is needed to take one change back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The file, by its name in the workspace.
    pub path: String,
    /// What it was; none if it did not exist.
    pub previous: Option<Previous>,
    /// The SHA-256 of what was written; none if it was deleted.
    pub sha256_after: Option<String>,
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previous {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Its permission bits.
    pub mode: u32,
}

/// Takes changes back, the last one first; or finds out what would happen.
pub struct Undoing<'a> {
    workspace: &'a Workspace,
    dry_run: bool,
    /// The SHA-256 of files as they would be by now, where nothing is written.
    imagined: BTreeMap<String, Option<String>>,
}

impl<'a> Undoing<'a> {
    /// With `dry_run`, nothing is written.
    pub fn new(workspace: &'a Workspace, dry_run: bool) -> Self {
        Self { workspace, dry_run, imagined: BTreeMap::new() }
    }

    /// Takes a change back, if the file still is what the change made of it.
    pub fn undo(&mut self, change: &Undo) -> Result<(), ToolError> {
        let place = self.workspace.writable(&change.path)?;
        let current = match self.imagined.get(&change.path) {
            Some(imagined) => imagined.clone(),
            None => change::previous(&place, self.workspace.limits.file_bytes)?
                .map(|file| sha256(&file.bytes)),
        };
        if current != change.sha256_after {
            return Err(ToolError::Changed { path: change.path.clone() });
        }
        if self.dry_run {
            let before = change.previous.as_ref().map(|file| sha256(&file.bytes));
            self.imagined.insert(change.path.clone(), before);
            return Ok(());
        }
        let result = match &change.previous {
            Some(file) => change::replace(
                place.folder(),
                Path::new(place.inner),
                &file.bytes,
                Some(file.mode),
            ),
            None if change.sha256_after.is_none() => Ok(()),
            None => change::remove(place.folder(), Path::new(place.inner)),
        };
        result.map_err(|source| ToolError::at(&change.path, source))
    }
}
