//! Taking a change back.

use std::collections::BTreeMap;

use basics::sha256::Sha256;

use crate::error::ToolError;
pub use crate::workspace::Previous;
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

/// What it took to take a change back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restoration {
    /// The file was made what it was.
    Done,
    /// It is what it was: the change was never made, or somebody took it back before.
    NotNeeded,
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
    pub fn undo(&mut self, change: &Undo) -> Result<Restoration, ToolError> {
        let target = match &change.previous {
            Some(_) => self.workspace.writable(&change.path)?,
            None => self.workspace.removable(&change.path)?,
        };
        let at = |source| ToolError::at(&change.path, source);
        let current = match self.imagined.get(&change.path) {
            Some(imagined) => imagined.clone(),
            None => target
                .read(self.workspace.limits.file_bytes)?
                .map(|file| Sha256::of(&file.bytes).to_string()),
        };
        let before = change.previous.as_ref().map(|file| Sha256::of(&file.bytes).to_string());
        if !self.dry_run {
            target.sweep();
        }
        if current == before {
            return Ok(Restoration::NotNeeded);
        }
        if current != change.sha256_after {
            return Err(ToolError::Changed { path: change.path.clone() });
        }
        if self.dry_run {
            self.imagined.insert(change.path.clone(), before);
            return Ok(Restoration::Done);
        }
        match &change.previous {
            Some(file) => target.replace(&file.bytes, Some(file.mode)),
            None => target.remove(),
        }
        .map_err(at)?;
        Ok(Restoration::Done)
    }
}
