//! All runs of a project, newest first.
//!
//! Invariant: a run that ended costs one small file to read; no run hides another.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::error::JournalError;
use super::lines::{EVENTS, attached, parse, split};
use super::run_id::RunId;
use super::summary::{RunSummary, SUMMARY, summary};

/// Bytes from the end of a long record that tell how far a run got.
const TAIL: u64 = 32_768;

/// A run that cannot be listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unlisted {
    /// The run.
    pub run_id: String,
    /// Why.
    pub message: String,
}

/// The newest runs, at most `limit`, without child runs, and those that could not be read.
pub fn list(
    runs: &Path,
    limit: Option<usize>,
) -> Result<(Vec<RunSummary>, Vec<Unlisted>), JournalError> {
    let (mut listed, mut unlisted) = (Vec::new(), Vec::new());
    for run_id in run_ids(runs)?.iter().rev().filter(|run_id| run_id.parent().is_none()) {
        if limit.is_some_and(|limit| listed.len() >= limit) {
            break;
        }
        match summarize(&runs.join(run_id.as_str())) {
            Ok(summary) => listed.push(summary),
            Err(message) => unlisted.push(Unlisted { run_id: run_id.to_string(), message }),
        }
    }
    Ok((listed, unlisted))
}

/// The names of all runs, child runs included, oldest first.
pub(super) fn run_ids(runs: &Path) -> Result<Vec<RunId>, JournalError> {
    let entries = match fs::read_dir(runs) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(JournalError::io("read", runs)(error)),
    };
    let mut run_ids = Vec::new();
    for entry in entries {
        let entry = entry.map_err(JournalError::io("read", runs))?;
        run_ids.extend(entry.file_name().to_str().and_then(|name| name.parse::<RunId>().ok()));
    }
    run_ids.sort_unstable();
    Ok(run_ids)
}

/// A run in short: what it says itself, or what its events say if it was cut off or still goes on.
pub(super) fn summarize(folder: &Path) -> Result<RunSummary, String> {
    match fs::read(folder.join(SUMMARY)) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| format!("`{SUMMARY}`: {error}"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => from_events(folder),
        Err(error) => Err(format!("`{SUMMARY}`: {error}")),
    }
}

fn from_events(folder: &Path) -> Result<RunSummary, String> {
    let bytes = ends(&folder.join(EVENTS)).map_err(|error| format!("`{EVENTS}`: {error}"))?;
    let (lines, _) = split(&bytes);
    let mut events = Vec::new();
    for line in lines {
        let event = parse(line).map_err(|error| format!("`{EVENTS}`: {error}"))?;
        // The first tells what was asked for; texts that others refer to are not in a summary.
        let is_first = events.is_empty();
        events.push(match is_first {
            true => attached(event, folder).map_err(|error| error.to_string())?,
            false => event,
        });
    }
    match events.is_empty() {
        true => Err("nothing was recorded before it was cut off".to_owned()),
        false => Ok(summary(&events)),
    }
}

/// The whole of a short record; the first line and the last ones of a long one.
fn ends(path: &Path) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(File::open(path)?);
    let length = reader.get_ref().metadata()?.len();
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes)?;
    if length > bytes.len() as u64 + TAIL {
        reader.seek(SeekFrom::Start(length - TAIL))?;
        // Most likely in the middle of a line.
        reader.skip_until(b'\n')?;
    }
    reader.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
