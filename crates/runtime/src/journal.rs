//! The record of a run on disk.
//!
//! Invariant: what was committed is never lost or changed. Each line holds the hash of the one before, so
//! an edit, a deletion or a reordering shows; and each commit is signed by its [`Owner`], so that a record that
//! somebody else made shows too.

mod adopt;
mod chain;
mod child;
mod content;
mod detach;
mod error;
mod index;
mod key;
mod limits;
mod line;
mod lines;
mod listing;
mod name;
mod open;
mod owner;
mod prune;
mod record;
mod record_folder;
mod redact;
mod scanned;
mod seal;
mod skill_usage;
mod summary;
mod verify;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use agent::event::{Event, EventData, Happening, VERSION};
use agent::run::{Run, RunState};
use basics::run_id::RunId;
use basics::sha256::Sha256;
use state::Folder;

use content::Contents;
use detach::detach;
use line::Line;
use lines::EVENTS;
use record_folder::RecordFolder;
use summary::{ANSWER, SUMMARY, Summing};

pub use adopt::adopt;
pub use error::JournalError;
pub use index::IndexSnapshot;
pub use key::{KeyError, read_key, read_or_make_key};
pub use lines::{read, read_until};
pub use listing::{ListedRun, Unlisted, beginning_with, list, newest};
pub use name::name_run;
pub use open::{has_ended, is_in_use};
pub use owner::{Origin, Owner, RecordKey};
pub use prune::{Prunable, Pruning, prunable, prune};
pub use record::{Difference, NoSetup, input_of, replay, restore, setup_of};
pub(crate) use redact::{Filtered, Passed, is_redacted};
pub use redact::{InvalidPattern, Redactor, Streamed};
pub use scanned::summarise_scan;
pub use skill_usage::{Endings, SkillUsage, UsageReport, skill_usage};
pub use state::Durability;
pub use summary::{ResourceUse, RunSummary, Seal, SkillUse, ToolUse, summary};
pub use verify::{Problem, ProblemKind, Verification, verify};

/// The list of skills the model was shown, relative to the run's folder: a replay needs it, and the first
/// event has the rest of a run's beginning.
const CATALOG: &str = "inputs/catalog.txt";

/// The snapshot after each turn.
const STATE: &str = "state.json";

/// The list of skills that the model was shown; a child run has none.
pub fn catalog(folder: &Path) -> Result<String, JournalError> {
    match RecordFolder::open(folder)?.own().read(CATALOG, limits::CATALOG) {
        Ok(bytes) => Ok(String::from_utf8(bytes).unwrap_or_default()),
        Err(error) if error.is_missing() => Ok(String::new()),
        Err(error) => Err(error.into()),
    }
}

/// Content that is kept beside the events of a run, by its reference, if it still is what was kept.
pub fn stored(folder: &Path, name: &str, sha256: Option<Sha256>) -> Result<Vec<u8>, JournalError> {
    stored_at(&RecordFolder::open(folder)?, name, sha256)
}

fn stored_at(
    place: &RecordFolder,
    name: &str,
    sha256: Option<Sha256>,
) -> Result<Vec<u8>, JournalError> {
    let bytes = content::read(place.own(), name)?;
    match verify::is_content(name, sha256, Sha256::of(&bytes)) {
        true => Ok(bytes),
        false => Err(JournalError::Changed { name: name.to_owned() }),
    }
}

/// A run's folder, open for writing by this process alone.
#[derive(Debug)]
pub struct Journal {
    place: RecordFolder,
    run_id: RunId,
    /// Whether [`Journal::commit`] waits for the disk.
    durability: Durability,
    /// Who signs it; nobody where there is no home to keep a key in.
    owner: Option<Owner>,
    /// What is signed: a record that was adopted stays one.
    origin: Origin,
    /// Locked as long as this lives.
    events: open::Locked,
    seals: File,
    contents: Contents,
    summing: Summing,
    next_seq: u64,
    /// The hash of the last line.
    last: String,
    /// Lines that are not written yet, and their hashes.
    lines: Vec<u8>,
    hashes: String,
    /// Whether a write failed midway, so that nothing may follow.
    incomplete: bool,
}

impl Journal {
    /// Adds an event; it is on disk for certain only after [`Journal::commit`].
    pub fn append(
        &mut self,
        happening: Happening,
        now: jiff::Timestamp,
    ) -> Result<Event, JournalError> {
        self.check_complete()?;
        let Happening { turn, data } = happening;
        let event = Event {
            v: VERSION,
            seq: self.next_seq,
            ts: format!("{now:.3}"),
            run_id: self.run_id.to_string(),
            turn,
            data,
            prev: self.last.clone(),
        };
        self.summing.add(&event);
        let contents = &mut self.contents;
        let start = self.lines.len();
        let mut line = Line::from(&event);
        if let Some(short) = detach(&line.data, &mut |text| contents.put(text.as_bytes()))? {
            line.data = short;
        }
        self.write_line(&line)?;
        self.last = Sha256::of(&self.lines[start..]).to_string();
        self.lines.push(b'\n');
        if !self.hashes.is_empty() {
            self.hashes.push(' ');
        }
        self.hashes.push_str(&self.last);
        self.next_seq += 1;
        Ok(event)
    }

    fn write_line(&mut self, line: &Line) -> Result<(), JournalError> {
        serde_json::to_writer(&mut self.lines, line).map_err(|error| {
            JournalError::io("write", &self.place.path().join(EVENTS))(error.into())
        })
    }

    /// Waits until everything added is on disk.
    pub fn commit(&mut self) -> Result<(), JournalError> {
        self.check_complete()?;
        if self.lines.is_empty() {
            return Ok(());
        }
        self.incomplete = true;
        self.contents.settle(self.durability)?;
        self.write().map_err(JournalError::io("write", &self.place.path().join(EVENTS)))?;
        self.lines.clear();
        self.hashes.clear();
        self.incomplete = false;
        Ok(())
    }

    /// In this order, so that a kill at any moment leaves what [`seal`] promises.
    fn write(&mut self) -> io::Result<()> {
        let end = self.next_seq - 1;
        let signed = sealed(self.owner.as_ref(), self.origin, &self.run_id, end, &self.hashes);
        self.seals.write_all(signed.as_bytes())?;
        (&*self.events).write_all(&self.lines)?;
        if self.durability == Durability::Sync {
            self.events.sync_data()?;
        }
        self.seals.write_all(b"\n")
    }

    fn check_complete(&self) -> Result<(), JournalError> {
        match self.incomplete {
            false => Ok(()),
            true => Err(JournalError::Incomplete { folder: self.folder().to_owned() }),
        }
    }

    /// The number that the next event will have.
    pub fn next_sequence(&self) -> u64 {
        self.next_seq
    }

    /// Replaces `state.json`.
    pub fn write_state(&mut self, state: &RunState<'_>) -> Result<(), JournalError> {
        // It can be made again from the events, so nobody waits for the disk.
        let mut json = serde_json::to_vec(state).unwrap_or_default();
        json.push(b'\n');
        Ok(self.place.own().exchange(STATE, &json)?)
    }

    /// Keeps the list of skills that the model is shown, for a replay.
    pub fn write_catalog(&mut self, catalog: &str) -> Result<(), JournalError> {
        Ok(self.place.own().replace(CATALOG, catalog.as_bytes(), Durability::NoSync)?)
    }

    /// Keeps content that is too large for an event; answers with its reference.
    pub fn keep(&mut self, content: &[u8]) -> Result<String, JournalError> {
        self.contents.put(content).map(|kept| kept.name)
    }

    /// What was recorded so far, and is on disk.
    pub fn events(&self) -> Result<Vec<Event>, JournalError> {
        lines::read_at(&self.place)
    }

    /// Content that is kept beside the events, by its reference, if it still is what was kept.
    pub fn stored(&self, name: &str, sha256: Option<Sha256>) -> Result<Vec<u8>, JournalError> {
        stored_at(&self.place, name, sha256)
    }

    /// Writes `run.json` and `final.md` from where the run is now.
    pub fn finish(&mut self, run: &Run) -> Result<(), JournalError> {
        self.commit()?;
        // The summary last: where it says that the run has ended, the answer is there.
        if let Some(outcome) = run.outcome() {
            self.place.own().replace(ANSWER, outcome.answer.as_bytes(), self.durability)?;
        }
        self.write_summary()?;
        self.place.own().remove_spare(STATE)?;
        match self.durability {
            Durability::Sync => Ok(self.place.own().sync()?),
            Durability::NoSync => Ok(()),
        }
    }

    /// Notes what became of the changes of a run that has ended, and says so in its summary.
    pub fn add_epilogue(
        &mut self,
        data: EventData,
        now: jiff::Timestamp,
    ) -> Result<(), JournalError> {
        let turn = self.summing.summary.turns;
        self.append(Happening { turn, data }, now)?;
        self.commit()?;
        self.write_summary()
    }

    fn write_summary(&self) -> Result<(), JournalError> {
        let summary = self.summing.summary.clone().sealed(self.next_seq - 1, &self.last);
        Ok(self.place.own().replace(SUMMARY, &summary.to_json(), self.durability)?)
    }

    /// The SHA-256 of the last line.
    pub(crate) fn last_hash(&self) -> &str {
        &self.last
    }

    /// The run's folder, for words: what is in it is reached through [`Journal::state`].
    pub fn folder(&self) -> &Path {
        self.place.path()
    }

    /// The run's folder, open.
    pub fn state(&self) -> &Folder {
        self.place.own()
    }

    /// Who signs it; nobody where there is no home to keep a key in.
    pub(crate) fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    /// Who made it.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// The run's name.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }
}

/// A commit of hashes, with its signature if it has an owner; `events` is how many there are with it.
fn sealed(
    owner: Option<&Owner>,
    origin: Origin,
    run_id: &RunId,
    events: u64,
    hashes: &str,
) -> String {
    match owner {
        Some(owner) => {
            format!("{hashes} {}", owner.sign(origin, run_id.as_str(), events, hashes))
        }
        None => hashes.to_owned(),
    }
}
