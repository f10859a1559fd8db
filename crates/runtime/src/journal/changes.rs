//! `changes/`: what is needed to take the changes of files back, one file for each, oldest first.
//!
//! Invariants: it is on disk before the change is made; the result of the action has its hash, so that only an
//! interruption leaves one that the events do not vouch for, as the last.

use std::collections::HashSet;
use std::path::{Component, Path};

use agent::event::{Event, EventData};
use agent::observation::{Facts, Stored};
use basics::sha256::Sha256;
use serde::{Deserialize, Serialize};
use serde_json::json;
use state::{Access, Folder, StateError};
use tools::undo::{Previous, Undo};

use super::child::children;
use super::error::JournalError;
use super::lines::read_at;
use super::owner::{Origin, Owner};
use super::record_folder::RecordFolder;
use super::verify::{Problem, verify};
use super::{Durability, Journal, content, limits};

/// The folder of a run's changes.
const FOLDER: &str = "changes";
/// The bits of a file's mode that say who may use it; the others would make programs of root's from files.
const PERMISSIONS: u32 = 0o777;

/// One change; the content that was replaced has a file of its own.
#[derive(Serialize, Deserialize)]
struct Change {
    path: String,
    previous: Option<Replaced>,
    sha256_after: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Replaced {
    #[serde(rename = "ref")]
    name: String,
    sha256: Sha256,
    mode: u32,
}

impl Journal {
    /// Keeps what is needed to take a change of a file back, on disk before the change.
    pub fn record_change(&mut self, change: &Undo) -> Result<(), JournalError> {
        let previous = match &change.previous {
            None => None,
            Some(Previous { bytes, mode }) => {
                let kept = self.contents.put(bytes)?;
                Some(Replaced { name: kept.name, sha256: kept.sha256, mode: *mode })
            }
        };
        self.contents.settle(self.durability)?;
        let change = Change {
            path: change.path.clone(),
            previous,
            sha256_after: change.sha256_after.clone(),
        };
        let run = self.place.own();
        let folder = run.create_folder(FOLDER, Access::Private)?;
        let name = name(names(run)?.len() as u32 + 1);
        let json = json!(change).to_string();
        run.replace(&name, json.as_bytes(), self.durability)?;
        if self.durability == Durability::Sync {
            folder.sync()?;
            run.sync()?;
        }
        self.unvouched.push(stored(&name, json.as_bytes()));
        Ok(())
    }

    /// What was announced since this was last asked, for the result of the action that announced it: so that the
    /// chain of events vouches for it.
    pub(crate) fn take_changes(&mut self) -> Vec<Stored> {
        std::mem::take(&mut self.unvouched)
    }
}

/// Relative to the run's folder.
fn name(number: u32) -> String {
    format!("{FOLDER}/{number:06}.json")
}

/// The names of the changes that are there, oldest first.
fn names(run: &Folder) -> Result<Vec<String>, StateError> {
    let mut names = Vec::new();
    for name in (1..).map(name) {
        if run.find(&name)?.is_none() {
            break;
        }
        names.push(name);
    }
    Ok(names)
}

/// A change by its name and its hash, as the result of an action has it.
fn stored(name: &str, content: &[u8]) -> Stored {
    Stored { name: name.to_owned(), sha256: Sha256::of(content) }
}

/// The changes that the result of an action vouches for.
pub(super) fn vouched(event: &Event) -> &[Stored] {
    facts(event).map_or(&[], |facts| &facts.changes)
}

/// Facts about what was done; nothing where nothing was.
pub(super) fn facts(event: &Event) -> Option<&Facts> {
    match &event.data {
        EventData::ActionExecuted(executed) => Some(&executed.observation.facts),
        _ => None,
    }
}

/// What an interruption kept from being vouched for.
pub(super) fn unvouched(run: &Folder, events: &[Event]) -> Result<Vec<Stored>, JournalError> {
    let known: HashSet<&str> =
        events.iter().flat_map(vouched).map(|change| change.name.as_str()).collect();
    let names = names(run)?.into_iter().filter(|name| !known.contains(name.as_str()));
    let changes = names.map(|name| Ok(stored(&name, &run.read(&name, limits::CHANGE)?)));
    changes.collect()
}

/// The changes that a run of this owner and its child runs announced, oldest first; the last one may not have been
/// made; and who made the run. Only what is as it was written can be taken back.
pub fn changes(folder: &Path, owner: &Owner) -> Result<(Vec<Undo>, Origin), JournalError> {
    let found = verify(folder, Some(owner))?;
    if let Some(problem) = found.problems.into_iter().next() {
        let Problem { seq, message, .. } = problem;
        let seq = seq.unwrap_or(found.events);
        return Err(JournalError::Damaged { folder: folder.to_owned(), seq, message });
    }
    if !found.origin.is_own() {
        let run_id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(JournalError::Foreign { run_id });
    }
    Ok((recorded_changes(folder)?, found.origin))
}

/// The same of anybody's run, to be looked at.
pub fn recorded_changes(folder: &Path) -> Result<Vec<Undo>, JournalError> {
    let mut left = limits::TOGETHER;
    changes_at(&RecordFolder::open(folder)?, &mut left)
}

/// What an event says about changes.
enum Told {
    Change { seq: u64, change: Stored },
    Child(String),
}

impl Told {
    fn of(event: &Event) -> Vec<Self> {
        let change = |change: &Stored| Self::Change { seq: event.seq, change: change.clone() };
        let child = facts(event).and_then(|facts| facts.child_run.clone()).map(Self::Child);
        vouched(event).iter().map(change).chain(child).collect()
    }
}

/// The same of a run whose folder is open; `left` is how many bytes there may still be.
pub(super) fn changes_at(place: &RecordFolder, left: &mut u64) -> Result<Vec<Undo>, JournalError> {
    let events = read_at(place)?;
    let told: Vec<Told> = events.iter().flat_map(Told::of).collect();
    let is_finished = events.last().is_some_and(|event| event.data.is_end());
    let (seq, unvouched) = (events.len() as u64, unvouched(place.own(), &events)?);
    // The records of a family would not fit into memory.
    drop(events);
    let mut all = Vec::new();
    let mut children = children(place)?;
    for told in told {
        match told {
            Told::Change { seq, change: Stored { name, sha256 } } => {
                let undo = undo(place.own(), &name, Some(sha256), left);
                all.push(undo.map_err(|error| damaged(place, seq, error.to_string()))?);
            }
            Told::Child(id) => {
                if let Some(index) = children.iter().position(|own| own.as_str() == id) {
                    all.extend(changes_at(&place.beside(&children.remove(index))?, left)?);
                }
            }
        }
    }
    for child in children {
        all.extend(changes_at(&place.beside(&child)?, left)?);
    }
    for Stored { name, .. } in unvouched {
        if is_finished {
            return Err(damaged(place, seq, format!("`{name}` is in no event")));
        }
        let undo = undo(place.own(), &name, None, left);
        all.push(undo.map_err(|error| damaged(place, seq, error.to_string()))?);
    }
    Ok(all)
}

fn damaged(place: &RecordFolder, seq: u64, message: String) -> JournalError {
    JournalError::Damaged { folder: place.path().to_owned(), seq, message }
}

/// Why a change cannot be taken back.
#[derive(Debug, thiserror::Error)]
enum NoUndo {
    #[error("{0}: {why}", why = .0.cause)]
    State(#[from] StateError),
    #[error("`{0}` changed after it was saved")]
    Changed(String),
    #[error("Skillful does not write this: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("`{0}` leads outside the workspace")]
    Outside(String),
    #[error("the saved files have more than {0} bytes together")]
    TooMuch(u64),
}

/// One change; `left` is how many bytes there may still be.
fn undo(
    run: &Folder,
    name: &str,
    expected: Option<Sha256>,
    left: &mut u64,
) -> Result<Undo, NoUndo> {
    let bytes = run.read(name, limits::CHANGE)?;
    if expected.is_some_and(|expected| Sha256::of(&bytes) != expected) {
        return Err(NoUndo::Changed(name.to_owned()));
    }
    let Change { path, previous, sha256_after } = serde_json::from_slice(&bytes)?;
    if !Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(NoUndo::Outside(path));
    }
    let previous = match previous {
        None => None,
        Some(Replaced { name, sha256, mode }) => {
            let bytes = content::read(run, &name)?;
            if Sha256::of(&bytes) != sha256 {
                return Err(NoUndo::Changed(name));
            }
            let rest = left.checked_sub(bytes.len() as u64);
            *left = rest.ok_or(NoUndo::TooMuch(limits::TOGETHER))?;
            Some(Previous { bytes, mode: mode & PERMISSIONS })
        }
    };
    Ok(Undo { path, previous, sha256_after })
}

#[cfg(test)]
mod tests;
