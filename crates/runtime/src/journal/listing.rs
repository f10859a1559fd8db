//! All runs of a project, newest first.
//!
//! Invariant: a run that ended costs one small file to read; no run hides another.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use basics::run_id::RunId;
use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::Serialize;
use state::{Folder, StateError};

use super::error::JournalError;
use super::limits;
use super::lines::{EVENTS, SEALS, Texts, parse, split, without_texts};
use super::owner::{Origin, Owner};
use super::seal::Seals;
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

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ListedRun {
    /// What it did.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Who made it, as far as its seals tell.
    pub origin: Origin,
}

/// The runs of the newest conversations, at most `limit` of these, without child runs, and those that could not be
/// read.
///
/// A run is called by its folder's name: what a record says of itself may be anything.
pub fn list(
    runs: &Path,
    limit: Option<usize>,
    owner: Option<&Owner>,
) -> Result<(Vec<ListedRun>, Vec<Unlisted>), JournalError> {
    let (mut listed, mut unlisted) = (Vec::new(), Vec::new());
    let Some(runs) = open_runs(runs)? else { return Ok((listed, unlisted)) };
    // A run that a newer one continues is no conversation of its own.
    let (mut continued, mut conversations) = (HashSet::new(), 0);
    for run_id in run_ids(&runs)?.iter().rev().filter(|run_id| run_id.parent().is_none()) {
        let run_id = run_id.to_string();
        let is_full = limit.is_some_and(|limit| conversations >= limit);
        if is_full && !continued.contains(&run_id) {
            break;
        }
        match summarize(&runs, &run_id) {
            Ok(summary) => {
                conversations += usize::from(!continued.contains(&run_id));
                continued.extend(summary.continues.clone());
                listed.push(ListedRun {
                    origin: origin(&runs, &run_id, owner),
                    summary: RunSummary { run_id, ..summary },
                });
            }
            Err(message) => unlisted.push(Unlisted { run_id, message }),
        }
    }
    Ok((listed, unlisted))
}

/// The newest run of this owner.
pub fn newest(runs: &Path, owner: Option<&Owner>) -> Result<Option<RunId>, JournalError> {
    let Some(runs) = open_runs(runs)? else { return Ok(None) };
    let own = run_ids(&runs)?
        .into_iter()
        .rev()
        .find(|run_id| run_id.parent().is_none() && origin(&runs, run_id.as_str(), owner).is_own());
    Ok(own)
}

/// The runs whose names begin like this, without child runs; none for an empty beginning.
pub fn beginning_with(runs: &Path, beginning: &str) -> Result<Vec<RunId>, JournalError> {
    let Some(runs) = open_runs(runs)?.filter(|_| !beginning.is_empty()) else {
        return Ok(Vec::new());
    };
    let mut names = run_ids(&runs)?;
    names.retain(|name| name.parent().is_none() && name.as_str().starts_with(beginning));
    Ok(names)
}

/// Who made a run, as far as its seals and its last event tell: whoever acts on it looks at the rest, too.
pub(super) fn origin(runs: &Folder, run_id: &str, owner: Option<&Owner>) -> Origin {
    let read = || -> Option<Origin> {
        let seals = runs.read(format!("{run_id}/{SEALS}"), limits::SEALS).ok()?;
        let events = runs.open_file(format!("{run_id}/{EVENTS}")).ok()?;
        Some(Seals::parse(&seals).origin_of(owner?, run_id, &last_hash(events)?))
    };
    read().unwrap_or(Origin::Elsewhere)
}

/// The hash of the last complete line.
fn last_hash(mut events: File) -> Option<String> {
    let length = events.metadata().ok()?.len();
    let mut wanted = TAIL;
    loop {
        let start = length.saturating_sub(wanted);
        events.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        (&mut events).take(wanted).read_to_end(&mut bytes).ok()?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n')?;
        match bytes[..end].iter().rposition(|byte| *byte == b'\n') {
            Some(before) => return Some(Sha256::of(&bytes[before + 1..end]).to_string()),
            None if start == 0 => return Some(Sha256::of(&bytes[..end]).to_string()),
            None if wanted >= limits::FIRST_LINE => return None,
            None => wanted *= 8,
        }
    }
}

/// The folder of all runs; nothing if there is none yet.
pub(super) fn open_runs(runs: &Path) -> Result<Option<Folder>, JournalError> {
    match Folder::open(runs) {
        Ok(runs) => Ok(Some(runs)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The names of all runs, child runs included, oldest first.
pub(super) fn run_ids(runs: &Folder) -> Result<Vec<RunId>, JournalError> {
    let names = runs.names()?;
    let mut run_ids: Vec<RunId> =
        names.iter().filter_map(|name| name.to_str()?.parse().ok()).collect();
    run_ids.sort_unstable();
    Ok(run_ids)
}

/// A run in short: what it says itself, or what its events say if it was cut off or still goes on.
pub(super) fn summarize(runs: &Folder, run_id: &str) -> Result<RunSummary, String> {
    match runs.read(format!("{run_id}/{SUMMARY}"), limits::SUMMARY) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| format!("`{SUMMARY}`: {error}"))
        }
        Err(error) if error.is_missing() => from_events(runs, run_id),
        Err(error) => Err(in_words(SUMMARY, &error)),
    }
}

/// Why a file of a run cannot be read; what should not be there is named in full.
pub(super) fn in_words(name: &str, error: &StateError) -> String {
    match error.is_unsafe() {
        true => format!("`{}`: {}", error.path.display(), error.cause),
        false => format!("`{name}`: {}", error.cause),
    }
}

fn from_events(runs: &Folder, run_id: &str) -> Result<RunSummary, String> {
    let words = |error: StateError| in_words(EVENTS, &error);
    let run = runs.folder(run_id).map_err(words)?;
    let file = run.open_file(EVENTS).map_err(words)?;
    let bytes = ends(file).map_err(|error| format!("`{EVENTS}`: {error}"))?;
    let (lines, _) = split(&bytes);
    let mut events = Vec::new();
    for line in lines {
        let line = parse(line).map_err(|error| format!("`{EVENTS}`: {error}"))?;
        // The first tells what was asked for; texts that others refer to are not in a summary.
        let event = match events.is_empty() {
            true => Texts::new(&run).attach(line),
            false => without_texts(line),
        };
        events.push(event.map_err(|error| error.to_string())?);
    }
    match events.is_empty() {
        true => Err("the run stopped before anything was recorded".to_owned()),
        false => Ok(summary(&events)),
    }
}

/// The whole of a short record; the first line and the last ones of a long one.
fn ends(file: File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut bytes = Vec::new();
    reader.by_ref().take(limits::FIRST_LINE).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 == limits::FIRST_LINE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "its first line has no end"));
    }
    if length > bytes.len() as u64 + TAIL {
        reader.seek(SeekFrom::Start(length - TAIL))?;
        // Most likely in the middle of a line.
        reader.skip_until(b'\n')?;
    }
    // Whatever is being written meanwhile is for the next time.
    reader.take(TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
