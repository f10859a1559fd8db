//! Taking a change back.

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

/// Takes a change back, if the file still is what the change made of it.
pub fn undo(change: &Undo, workspace: &Workspace) -> Result<(), ToolError> {
    let place = workspace.writable(&change.path)?;
    let current = change::previous(&place, workspace.limits.file_bytes)?;
    if current.map(|file| sha256(&file.bytes)) != change.sha256_after {
        return Err(ToolError::Changed { path: change.path.clone() });
    }
    let result = match &change.previous {
        Some(file) => {
            change::replace(place.folder(), Path::new(place.inner), &file.bytes, Some(file.mode))
        }
        None if change.sha256_after.is_none() => Ok(()),
        None => change::remove(place.folder(), Path::new(place.inner)),
    };
    result.map_err(|source| ToolError::at(&change.path, source))
}
