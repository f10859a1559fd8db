//! `changes/`: what is needed to take the changes of files back, one file for each, oldest first.
//!
//! Invariants: it is on disk before the change is made; the result of the action has its hash, so that only an
//! interruption leaves one that the events do not vouch for, as the last.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tools::undo::{Previous, Undo};

use super::child::children;
use super::error::JournalError;
use super::file::{replace, sync_folder};
use super::lines::read;
use super::{Durability, Journal, content};
use crate::event::{Event, EventKind};

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
    sha256: String,
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
        let folder = self.folder.join("changes");
        fs::create_dir_all(&folder).map_err(JournalError::io("create", &folder))?;
        let number = names(&self.folder).count() as u32 + 1;
        let json = json!(change).to_string();
        replace(&self.folder.join(name(number)), json.as_bytes(), self.durability)?;
        self.unvouched.push(fact(&name(number), json.as_bytes()));
        if self.durability == Durability::Sync {
            sync_folder(&folder)?;
            sync_folder(&self.folder)?;
        }
        Ok(())
    }

    /// What was announced since this was last asked, for the result of the action that announced it: so that the
    /// chain of events vouches for it.
    pub(crate) fn take_changes(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.unvouched)
    }
}

/// Relative to the run's folder.
fn name(number: u32) -> String {
    format!("changes/{number:06}.json")
}

/// The names of the changes that are there, oldest first.
fn names(folder: &Path) -> impl Iterator<Item = String> {
    (1..).map(name).take_while(|name| folder.join(name).exists())
}

/// A change by its name and its hash, as the result of an action has it.
fn fact(name: &str, content: &[u8]) -> Value {
    json!({"ref": name, "sha256": crate::sha256(content)})
}

/// The changes that the result of an action vouches for.
pub(super) fn vouched(event: &Event) -> impl Iterator<Item = (&str, &str)> {
    let changes = facts(event)["changes"].as_array().into_iter().flatten();
    changes.filter_map(|change| Some((change["ref"].as_str()?, change["sha256"].as_str()?)))
}

/// Facts about what was done; nothing where nothing was.
pub(super) fn facts(event: &Event) -> &Value {
    match event.kind {
        EventKind::ActionExecuted => &event.data["observation"]["facts"],
        _ => &Value::Null,
    }
}

/// What an interruption kept from being vouched for.
pub(super) fn unvouched(folder: &Path, events: &[Event]) -> Result<Vec<Value>, JournalError> {
    let known: HashSet<&str> = events.iter().flat_map(vouched).map(|(name, _)| name).collect();
    let names = names(folder).filter(|name| !known.contains(name.as_str()));
    let facts = names.map(|name| {
        let path = folder.join(&name);
        Ok(fact(&name, &fs::read(&path).map_err(JournalError::io("read", &path))?))
    });
    facts.collect()
}

/// The changes that a run and its child runs announced, oldest first; the last one may not have been made.
pub fn changes(folder: &Path) -> Result<Vec<Undo>, JournalError> {
    let events = read(folder)?;
    let mut all = Vec::new();
    let mut children = children(folder)?;
    for event in &events {
        let damaged = |message: String| damaged(folder, event.seq, message);
        for (name, sha256) in vouched(event) {
            all.push(undo(folder, name, Some(sha256)).map_err(|error| damaged(error.to_string()))?);
        }
        let child = facts(event)["child_run"].as_str();
        if let Some(place) = child.and_then(|id| children.iter().position(|own| own.as_str() == id))
        {
            all.extend(changes(&folder.with_file_name(children.remove(place).as_str()))?);
        }
    }
    for child in children {
        all.extend(changes(&folder.with_file_name(child.as_str()))?);
    }
    let is_finished = events.last().is_some_and(|event| event.kind == EventKind::RunFinished);
    for change in unvouched(folder, &events)? {
        let name = change["ref"].as_str().unwrap_or_default();
        let seq = events.len() as u64;
        if is_finished {
            return Err(damaged(folder, seq, format!("`{name}` is in no event")));
        }
        all.push(
            undo(folder, name, None).map_err(|error| damaged(folder, seq, error.to_string()))?,
        );
    }
    Ok(all)
}

fn damaged(folder: &Path, seq: u64, message: String) -> JournalError {
    JournalError::Damaged { folder: folder.to_owned(), seq, message }
}

fn undo(folder: &Path, name: &str, expected: Option<&str>) -> io::Result<Undo> {
    let changed = |name: &str| io::Error::other(format!("`{name}` is not what was kept"));
    let bytes = content::read(folder, name)?;
    if expected.is_some_and(|expected| crate::sha256(&bytes) != expected) {
        return Err(changed(name));
    }
    let Change { path, previous, sha256_after } = serde_json::from_slice(&bytes)?;
    if !Path::new(&path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::Error::other(format!("`{path}` leads out of the workspace")));
    }
    let previous = match previous {
        None => None,
        Some(Replaced { name, sha256, mode }) => {
            let bytes = content::read(folder, &name)?;
            if crate::sha256(&bytes) != sha256 {
                return Err(changed(&name));
            }
            Some(Previous { bytes, mode })
        }
    };
    Ok(Undo { path, previous, sha256_after })
}

#[cfg(test)]
mod tests;
