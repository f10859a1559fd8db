//! Removing old runs, on request.
//!
//! Invariants: only a run that has ended and that nobody works on is removed, the oldest first, with its
//! child runs; a kill meanwhile leaves each folder where it was or out of sight.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::error::JournalError;
use super::index::INDEXES;
use super::listing::{Unlisted, run_ids, summarize};
use super::open::{is_in_use, lock};
use crate::outcome::Status;

/// What folders are called from the moment they begin to be removed.
const REMOVED: &str = ".removed-";

/// Which runs to remove.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pruning {
    /// Those that ended longer ago than this.
    pub older_than: Option<SignedDuration>,
    /// The oldest, until all runs together have no more bytes than this.
    pub max_total_bytes: Option<u64>,
}

/// A run that can be removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Prunable {
    /// The run.
    pub run_id: String,
    /// Its child runs.
    pub children: Vec<String>,
    /// How much room they take.
    pub bytes: u64,
}

/// The runs that [`prune`] would remove, oldest first, and what could not be looked at.
pub fn prunable(
    runs: &Path,
    pruning: &Pruning,
    now: Timestamp,
) -> Result<(Vec<Prunable>, Vec<Unlisted>), JournalError> {
    let families = families(runs)?;
    let mut total: u64 = families.iter().map(|family| family.bytes).sum();
    let (mut chosen, mut problems) = (Vec::new(), Vec::new());
    for family in families {
        let is_too_much = pruning.max_total_bytes.is_some_and(|max| total > max);
        match is_due(&runs.join(&family.run_id), pruning.older_than, is_too_much, now) {
            Ok(false) => {}
            Ok(true) => {
                total -= family.bytes;
                chosen.push(family);
            }
            Err(message) => problems.push(Unlisted { run_id: family.run_id, message }),
        }
    }
    Ok((chosen, problems))
}

/// Removes old runs; answers with those that are gone, and with what could not be looked at or removed.
pub fn prune(
    runs: &Path,
    pruning: &Pruning,
    now: Timestamp,
) -> Result<(Vec<Prunable>, Vec<Unlisted>), JournalError> {
    let (chosen, mut problems) = prunable(runs, pruning, now)?;
    let mut gone = Vec::new();
    for family in chosen {
        match remove(runs, &family) {
            Ok(()) => gone.push(family),
            Err(error) => {
                problems.push(Unlisted { run_id: family.run_id, message: error.to_string() });
            }
        }
    }
    sweep(runs).map_err(JournalError::io("remove from", runs))?;
    Ok((gone, problems))
}

/// Each run with its child runs, oldest first.
fn families(runs: &Path) -> Result<Vec<Prunable>, JournalError> {
    let mut families: BTreeMap<String, Prunable> = BTreeMap::new();
    for run_id in run_ids(runs)? {
        let eldest = run_id.as_str().split('.').next().unwrap_or_default().to_owned();
        let family = families.entry(eldest.clone()).or_insert_with(|| Prunable {
            run_id: eldest,
            children: Vec::new(),
            bytes: 0,
        });
        family.bytes += size(&runs.join(run_id.as_str()));
        if run_id.parent().is_some() {
            family.children.push(run_id.to_string());
        }
    }
    Ok(families.into_values().collect())
}

fn is_due(
    folder: &Path,
    older_than: Option<SignedDuration>,
    is_too_much: bool,
    now: Timestamp,
) -> Result<bool, String> {
    let summary = summarize(folder)?;
    // One that waits for an approval, or was cut off, can still be taken up.
    let has_ended = summary.status.is_some_and(|status| status != Status::Blocked);
    let ended = summary.ended.filter(|_| has_ended).and_then(|ended| ended.parse().ok());
    let Some(ended) = ended else { return Ok(false) };
    let is_old = older_than.is_some_and(|limit| now.duration_since(ended) > limit);
    let is_wanted = is_old || is_too_much;
    Ok(is_wanted && !is_in_use(folder).map_err(|error| error.to_string())?)
}

fn remove(runs: &Path, family: &Prunable) -> Result<(), JournalError> {
    // Held until everything is gone.
    let _lock = lock(&runs.join(&family.run_id))?;
    for run_id in family.children.iter().chain([&family.run_id]) {
        let folder = runs.join(run_id);
        let hidden = runs.join(format!("{REMOVED}{run_id}"));
        fs::rename(&folder, &hidden)
            .and_then(|()| fs::remove_dir_all(&hidden))
            .map_err(JournalError::io("remove", &folder))?;
    }
    Ok(())
}

/// Removes what an interrupted removal left, and every index that no run has any more.
fn sweep(runs: &Path) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(runs) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(REMOVED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    let Ok(indexes) = fs::read_dir(runs.join(INDEXES)) else { return Ok(()) };
    for index in indexes {
        let index = index?;
        if index.metadata()?.nlink() == 1 {
            fs::remove_file(index.path())?;
        }
    }
    Ok(())
}

/// Bytes of a folder, as far as they can be seen; what other runs share does not count.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) if metadata.nlink() == 1 => metadata.len(),
        _ => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests;
