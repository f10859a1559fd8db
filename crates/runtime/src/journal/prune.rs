//! Removing old runs, on request.
//!
//! Invariants: only a run that has ended and that nobody works on is removed, the oldest first, with its
//! child runs; a kill meanwhile leaves each folder where it was or out of sight.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agent::outcome::Status;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use state::{Folder, Found, StateError};

use super::error::JournalError;
use super::index::INDEXES;
use super::listing::{Unlisted, open_runs, run_ids, summarize};
use super::open::lock;
use super::record_folder::RecordFolder;

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
    match open_runs(runs)? {
        Some(runs) => choose(&Arc::new(runs), pruning, now),
        None => Ok((Vec::new(), Vec::new())),
    }
}

fn choose(
    runs: &Arc<Folder>,
    pruning: &Pruning,
    now: Timestamp,
) -> Result<(Vec<Prunable>, Vec<Unlisted>), JournalError> {
    let families = families(runs)?;
    let continuing: Vec<(String, String)> = families
        .iter()
        .filter_map(|family| {
            let summary = summarize(runs, &family.run_id).ok()?;
            Some((summary.continues?, family.run_id.clone()))
        })
        .collect();
    let mut total = families.iter().fold(0, |sum: u64, family| sum.saturating_add(family.bytes));
    let (mut chosen, mut problems) = (Vec::new(), Vec::new());
    for family in families {
        let is_too_much = pruning.max_total_bytes.is_some_and(|max| total > max);
        match is_due(runs, &family.run_id, pruning.older_than, is_too_much, now) {
            Ok(false) => {}
            Ok(true) => {
                total = total.saturating_sub(family.bytes);
                chosen.push(family);
            }
            Err(message) => problems.push(Unlisted { run_id: family.run_id, message }),
        }
    }
    // The newest first: a run that is kept keeps the one before it, and so on.
    for place in (0..chosen.len()).rev() {
        let run_id = &chosen[place].run_id;
        let is_gone = |later: &String| chosen.iter().any(|family| family.run_id == *later);
        let later = continuing
            .iter()
            .find(|(earlier, later)| earlier == run_id && !is_gone(later))
            .map(|(_, later)| later);
        if let Some(later) = later {
            let message = format!("kept, because run `{later}` continues it");
            problems.push(Unlisted { run_id: run_id.clone(), message });
            chosen.remove(place);
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
    let Some(runs) = open_runs(runs)? else { return Ok((Vec::new(), Vec::new())) };
    let runs = Arc::new(runs);
    // Before anything is removed: whoever made a link of it has other things in mind.
    let indexes = match runs.folder(INDEXES) {
        Err(error) if error.is_missing() => None,
        opened => Some(opened?),
    };
    let (chosen, mut problems) = choose(&runs, pruning, now)?;
    let mut gone = Vec::new();
    for family in chosen {
        match remove(&runs, &family) {
            Ok(()) => gone.push(family),
            Err(error) => {
                problems.push(Unlisted { run_id: family.run_id, message: in_words(&error) });
            }
        }
    }
    sweep(&runs, indexes.as_ref())?;
    Ok((gone, problems))
}

/// Each run with its child runs, oldest first.
fn families(runs: &Folder) -> Result<Vec<Prunable>, JournalError> {
    let mut families: BTreeMap<String, Prunable> = BTreeMap::new();
    for run_id in run_ids(runs)? {
        let eldest = run_id.as_str().split('.').next().unwrap_or_default().to_owned();
        let family = families.entry(eldest.clone()).or_insert_with(|| Prunable {
            run_id: eldest,
            children: Vec::new(),
            bytes: 0,
        });
        family.bytes = family.bytes.saturating_add(runs.size(run_id.as_str()));
        if run_id.parent().is_some() {
            family.children.push(run_id.to_string());
        }
    }
    Ok(families.into_values().collect())
}

fn is_due(
    runs: &Arc<Folder>,
    run_id: &str,
    older_than: Option<SignedDuration>,
    is_too_much: bool,
    now: Timestamp,
) -> Result<bool, String> {
    let summary = summarize(runs, run_id)?;
    // One that waits for an approval, or was cut off, can still be taken up.
    let has_ended = summary.status.is_some_and(|status| status != Status::Blocked);
    let ended = summary.ended.filter(|_| has_ended).and_then(|ended| ended.parse().ok());
    let Some(ended) = ended else { return Ok(false) };
    let is_old = older_than.is_some_and(|limit| now.duration_since(ended) > limit);
    if !is_old && !is_too_much {
        return Ok(false);
    }
    match place(runs, run_id).and_then(|place| lock(&place)) {
        Ok(_) => Ok(true),
        Err(JournalError::Locked { .. }) => Ok(false),
        Err(error) => Err(in_words(&error)),
    }
}

fn place(runs: &Arc<Folder>, run_id: &str) -> Result<RecordFolder, JournalError> {
    Ok(RecordFolder::new(Arc::clone(runs), runs.folder(run_id)?))
}

fn in_words(error: &JournalError) -> String {
    match error {
        JournalError::State(error) => format!("{error}: {}", error.cause),
        error => error.to_string(),
    }
}

fn remove(runs: &Arc<Folder>, family: &Prunable) -> Result<(), JournalError> {
    // Held until everything is gone.
    let _lock = lock(&place(runs, &family.run_id)?)?;
    for run_id in family.children.iter().chain([&family.run_id]) {
        let hidden = format!("{REMOVED}{run_id}");
        runs.rename(run_id, &hidden)?;
        runs.remove_tree(&hidden)?;
    }
    Ok(())
}

/// Removes what an interrupted removal left, and every index that no run has any more.
fn sweep(runs: &Folder, indexes: Option<&Folder>) -> Result<(), StateError> {
    for name in runs.names()? {
        if name.to_string_lossy().starts_with(REMOVED) {
            runs.remove_tree(&name)?;
        }
    }
    let Some(indexes) = indexes else { return Ok(()) };
    for name in indexes.names()? {
        // What is no file was never put there by this program, and leads nowhere.
        if matches!(indexes.find(&name)?, Some(Found::File { names: 1 } | Found::Other)) {
            indexes.remove_file(&name)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
