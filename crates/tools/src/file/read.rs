//! `read_file`: the text of a file, or some of its lines.

use basics::sha256::Sha256;
use permission::params::ReadFile;
use rustix::fs::fstat;
use serde_json::json;

use crate::beneath;
use crate::error::ToolError;
use crate::outcome::Outcome;
use crate::workspace::{Twins, Workspace, has_twin};

/// Reads the lines that the call asks for.
pub(crate) fn read_file(call: &ReadFile, workspace: &Workspace) -> Result<Outcome, ToolError> {
    Ok(lines_of(call, &text(&call.path, workspace)?, workspace))
}

/// The lines of a text that the call asks for.
pub(crate) fn lines_of(call: &ReadFile, text: &str, workspace: &Workspace) -> Outcome {
    let first = usize::try_from(call.first_line.max(1)).unwrap_or(usize::MAX);
    let count = call.lines.map_or(usize::MAX, |lines| usize::try_from(lines).unwrap_or(usize::MAX));
    let wanted: Vec<&str> = text.split_inclusive('\n').skip(first - 1).take(count).collect();
    let facts = json!({
        "path": call.path,
        "size": text.len(),
        "first_line": first,
        "last_line": (first - 1).saturating_add(wanted.len()),
        "total_lines": text.split_inclusive('\n').count(),
    });
    let outcome = Outcome::text(wanted.concat(), workspace.limits.shown_bytes, facts);
    Outcome { sha256: Sha256::of(text.as_bytes()).to_string(), ..outcome }
}

/// The bytes of a file that may be seen.
pub(crate) fn bytes(name: &str, workspace: &Workspace, limit: u64) -> Result<Vec<u8>, ToolError> {
    let place = workspace.visible(name)?;
    let at = |source| ToolError::at(name, source);
    let mut file = beneath::open_file(place.folder(), place.path()).map_err(at)?;
    let stat = fstat(&file).map_err(|error| at(error.into()))?;
    if has_twin(&stat) {
        Twins::find(workspace).check(&stat, name)?;
    }
    beneath::read_whole(&mut file, limit).map_err(at)?.map_err(|size| ToolError::TooLarge {
        path: name.to_owned(),
        size,
        limit,
    })
}

/// The whole text of a file that may be seen.
pub(crate) fn text(name: &str, workspace: &Workspace) -> Result<String, ToolError> {
    let bytes = bytes(name, workspace, workspace.limits.file_bytes)?;
    let not_text = || ToolError::NotText { path: name.to_owned() };
    // A NUL is valid UTF-8, but no text has one.
    if bytes.contains(&0) {
        return Err(not_text());
    }
    String::from_utf8(bytes).map_err(|_| not_text())
}
