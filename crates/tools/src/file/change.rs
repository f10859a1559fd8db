//! `write_file`, `edit_file` and `delete_file`.
//!
//! Invariant: a reader sees the file before or after a change, never in between.

use std::io;

use basics::sha256::Sha256;
use permission::params::{DeleteFile, EditFile, WriteFile};
use serde_json::json;

use crate::error::ToolError;
use crate::file::read::text;
use crate::outcome::Outcome;
use crate::workspace::Workspace;

/// Creates a file, or replaces all of it.
pub(crate) fn write_file(call: &WriteFile, workspace: &Workspace) -> Result<Outcome, ToolError> {
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
    target
        .replace(call.content.as_bytes(), mode)
        .map_err(|source| ToolError::at(&call.path, source))?;
    Ok(Outcome::done(sha256, facts))
}

/// Replaces an exact text in a file.
pub(crate) fn edit_file(call: &EditFile, workspace: &Workspace) -> Result<Outcome, ToolError> {
    if call.old.is_empty() {
        return Err(ToolError::Pattern { reason: "the text to be replaced is empty".to_owned() });
    }
    // What must not be changed is said before what is in it.
    workspace.writable(&call.path)?;
    let content = text(&call.path, workspace)?;
    let places: Vec<usize> = content.match_indices(&call.old).map(|(place, _)| place).collect();
    if places.is_empty() {
        let nearest = nearest(&content, &call.old);
        return Err(ToolError::TextMissing { path: call.path.clone(), nearest });
    }
    if places.len() > 1 && !call.all {
        let lines = places.iter().map(|place| content[..*place].matches('\n').count() + 1);
        return Err(ToolError::TextNotUnique { path: call.path.clone(), lines: lines.collect() });
    }
    let content = content.replace(&call.old, &call.new);
    let outcome = write_file(&WriteFile { path: call.path.clone(), content }, workspace)?;
    let facts = json!({"path": call.path, "size": outcome.facts["size"], "replaced": places.len()});
    Ok(Outcome::done(outcome.sha256, facts))
}

/// Lines that are compared, characters of each, and how many are shown.
const COMPARED: usize = 5_000;
const WIDTH: usize = 200;
const SHOWN: usize = 3;

/// The lines that are most like the first line of a text.
fn nearest(content: &str, wanted: &str) -> Vec<(usize, String)> {
    let cut = |line: &str| -> String { line.trim().chars().take(WIDTH).collect() };
    let wanted = cut(wanted.trim_start().lines().next().unwrap_or_default());
    let lines = content.lines().map(cut).enumerate().take(COMPARED);
    let mut alike: Vec<(usize, String, f64)> = lines
        .map(|(index, line)| {
            let likeness = strsim::normalized_levenshtein(&line, &wanted);
            (index + 1, line, likeness)
        })
        .filter(|(_, _, likeness)| *likeness > 0.5)
        .collect();
    alike.sort_by(|left, right| right.2.total_cmp(&left.2));
    alike.into_iter().take(SHOWN).map(|(number, line, _)| (number, line)).collect()
}

/// Deletes a file.
pub(crate) fn delete_file(call: &DeleteFile, workspace: &Workspace) -> Result<Outcome, ToolError> {
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
    target.remove().map_err(at)?;
    Ok(outcome)
}
