//! `write_file` and `delete_file`.
//!
//! Invariants: a reader sees the file before or after a change, never in between; what was there has
//! been recorded before anything changes.

use std::io;

use basics::sha256::Sha256;
use permission::params::{DeleteFile, WriteFile};
use serde_json::json;

use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::undo::Undo;
use crate::workspace::Workspace;

type Record<'r> = &'r mut dyn FnMut(&Undo) -> io::Result<()>;

/// Creates a file, or replaces all of it.
pub(crate) fn write_file(
    call: &WriteFile,
    workspace: &Workspace,
    record: Record<'_>,
) -> Result<Outcome, ToolError> {
    let target = workspace.writable(&call.path)?;
    let (size, limit) = (call.content.len() as u64, workspace.limits.file_bytes);
    if size > limit {
        return Err(ToolError::TooLarge { path: call.path.clone(), size, limit });
    }
    let previous = target.read(limit)?;
    let mode = previous.as_ref().map(|file| file.mode);
    // Renaming would get around the protection of a file that its owner made read-only.
    if mode.is_some_and(|mode| mode & 0o222 == 0) {
        return Err(ToolError::at(&call.path, io::ErrorKind::PermissionDenied.into()));
    }
    let sha256 = Sha256::of(call.content.as_bytes()).to_string();
    let facts = json!({"path": call.path, "size": size, "created": previous.is_none()});
    let undo = Undo { path: call.path.clone(), previous, sha256_after: Some(sha256.clone()) };
    record(&undo).map_err(|source| ToolError::NotRecorded { path: call.path.clone(), source })?;
    target
        .replace(call.content.as_bytes(), mode)
        .map_err(|source| ToolError::at(&call.path, source))?;
    Ok(Outcome::done(sha256, facts))
}

/// Deletes a file.
pub(crate) fn delete_file(
    call: &DeleteFile,
    workspace: &Workspace,
    record: Record<'_>,
) -> Result<Outcome, ToolError> {
    let target = workspace.writable(&call.path)?;
    let at = |source| ToolError::at(&call.path, source);
    let previous = target.read(workspace.limits.file_bytes)?;
    let bytes = previous
        .as_ref()
        .map(|file| &file.bytes)
        .ok_or_else(|| at(io::ErrorKind::NotFound.into()))?;
    let outcome = Outcome::done(
        Sha256::of(bytes).to_string(),
        json!({"path": call.path, "size": bytes.len()}),
    );
    let undo = Undo { path: call.path.clone(), previous, sha256_after: None };
    record(&undo).map_err(|source| ToolError::NotRecorded { path: call.path.clone(), source })?;
    target.remove().map_err(at)?;
    Ok(outcome)
}
