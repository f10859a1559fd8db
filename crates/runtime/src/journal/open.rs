//! Beginning a record, and taking one up again after an interruption.
//!
//! Invariant: a record has one writer, which holds the lock on its events.

use std::fs::{File, TryLockError};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use agent::event::Event;
use basics::run_id::RunId;
use state::{Access, Folder, StateError};

use super::chain::{Checked, check};
use super::content::Contents;
use super::error::JournalError;
use super::lines::{EVENTS, Files, SEALS, Texts};
use super::record_folder::RecordFolder;
use super::summary::{ANSWER, SUMMARY, Summing};
use super::verify::ProblemKind;
use super::{Durability, Journal, Origin, Owner, limits, sealed};

impl Journal {
    /// Begins a record in a folder of its own under `runs`; a name that is taken is followed by the next.
    pub fn create(
        runs: &Path,
        mut run_id: RunId,
        durability: Durability,
        owner: Option<&Owner>,
    ) -> Result<Self, JournalError> {
        let runs = Arc::new(Folder::create(runs)?);
        hide_from_git(&runs)?;
        loop {
            match Self::create_at(&runs, &run_id, durability, owner) {
                Err(JournalError::Exists { .. }) => run_id = run_id.next(),
                created => return created,
            }
        }
    }

    /// Begins the record of a child run.
    pub fn sibling(&self, run_id: &str) -> Result<Self, JournalError> {
        Self::create_at(self.place.runs(), &run_id.parse()?, self.durability, self.owner.as_ref())
    }

    fn create_at(
        runs: &Arc<Folder>,
        run_id: &RunId,
        durability: Durability,
        owner: Option<&Owner>,
    ) -> Result<Self, JournalError> {
        let own = match runs.new_folder(run_id.as_str(), Access::Private) {
            Err(error) if error.is_taken() => {
                // A child's folder without events was left by an interruption, for its parent is ours.
                let is_left =
                    run_id.parent().is_some() && runs.find(format!("{run_id}/{EVENTS}"))?.is_none();
                if !is_left {
                    return Err(JournalError::Exists { run_id: run_id.to_string() });
                }
                runs.folder(run_id.as_str())?.private()
            }
            made => made?,
        };
        for name in ["inputs", "observations", "artifacts", "sandbox"] {
            own.create_folder(name, Access::Private)?;
        }
        let events = own.create_file(EVENTS)?;
        let place = RecordFolder::new(Arc::clone(runs), own);
        let events = locked(events, &place)?;
        let signing = (owner.cloned(), Origin::Here);
        let journal = Self::new(place, run_id.clone(), events, durability, signing)?;
        if durability == Durability::Sync {
            journal.place.own().sync()?;
            runs.sync()?;
        }
        Ok(journal)
    }

    /// Takes up a record of this owner where it ended, with its events; what was cut off at its end is removed.
    pub fn open(
        folder: &Path,
        durability: Durability,
        owner: &Owner,
    ) -> Result<(Self, Vec<Event>), JournalError> {
        let place = RecordFolder::open(folder)?;
        let run_id: RunId = place.name().parse()?;
        let events = place.own().open_to_append(EVENTS).map_err(|error| missing(error, &place))?;
        let events = locked(events, &place)?;
        let files = Files::read(&place)?;
        let checked = check(&files);
        let origin = checked.origin(&files, Some(owner), run_id.as_str());
        let Checked { lines, problems, hashes, torn_bytes, .. } = checked;
        let damaged =
            |seq, message| JournalError::Damaged { folder: folder.to_owned(), seq, message };
        // What follows the last newline goes, whatever it is: nobody was told that it is there.
        let wrong = problems.into_iter().find(|problem| problem.kind != ProblemKind::Tail);
        if let Some(problem) = wrong {
            return Err(damaged(problem.seq.unwrap_or(1), problem.message));
        }
        // Of a record in which nothing is yet, nobody can say anything, and nothing can come of it.
        if !origin.is_own() && !hashes.is_empty() {
            return Err(JournalError::Foreign { run_id: run_id.to_string() });
        }
        let origin = if hashes.is_empty() { Origin::Here } else { origin };
        let mut texts = Texts::new(place.own());
        let mut whole = Vec::with_capacity(lines.len());
        for line in lines {
            let seq = line.seq;
            whole.push(texts.attach(line).map_err(|error| damaged(seq, error.to_string()))?);
        }
        let signing = (Some(owner.clone()), origin);
        let mut journal = Self::new(place, run_id, events, durability, signing)?;
        journal.repair(&files, &hashes, torn_bytes)?;
        journal.next_seq = hashes.len() as u64 + 1;
        journal.last = hashes.last().cloned().unwrap_or_default();
        whole.iter().for_each(|event| journal.summing.add(event));
        if !has_ended(&whole) {
            journal.remove_summary()?;
        }
        Ok((journal, whole))
    }

    fn new(
        place: RecordFolder,
        run_id: RunId,
        events: Locked,
        durability: Durability,
        (owner, origin): (Option<Owner>, Origin),
    ) -> Result<Self, JournalError> {
        Ok(Self {
            run_id,
            durability,
            owner,
            origin,
            events,
            seals: place.own().append_or_create(SEALS)?,
            contents: Contents::new(place.own())?,
            place,
            summing: Summing::default(),
            next_seq: 1,
            last: String::new(),
            lines: Vec::new(),
            hashes: String::new(),
            incomplete: false,
        })
    }

    /// Removes what an interruption left, so that both files end where the last complete event does.
    ///
    /// The seals are replaced as a whole, for another interruption must not leave an event that nobody signed.
    fn repair(
        &mut self,
        files: &Files,
        hashes: &[String],
        torn_bytes: usize,
    ) -> Result<(), JournalError> {
        if torn_bytes > 0 {
            let complete = (files.events.len() - torn_bytes) as u64;
            let cut = self.events.set_len(complete);
            cut.map_err(JournalError::io("repair", self.folder()))?;
        }
        let seals = files.seals.as_ref();
        let (committed, finished) =
            seals.map_or((0, 0), |seals| (seals.committed, seals.finished_bytes));
        let own = self.place.own();
        let mut whole = own.read(SEALS, limits::SEALS)?;
        let unfinished = hashes.get(committed..).unwrap_or_default();
        if unfinished.is_empty() && finished == whole.len() {
            return Ok(());
        }
        whole.truncate(finished);
        if !unfinished.is_empty() {
            let (owner, end) = (self.owner.as_ref(), hashes.len() as u64);
            let commit = sealed(owner, self.origin, &self.run_id, end, &unfinished.join(" "));
            whole.extend_from_slice((commit + "\n").as_bytes());
        }
        own.replace(SEALS, &whole, self.durability)?;
        self.seals = own.open_to_append(SEALS)?;
        Ok(())
    }

    /// A run that goes on has no summary, so that nobody takes an old one for the current.
    fn remove_summary(&self) -> Result<(), JournalError> {
        for name in [SUMMARY, ANSWER] {
            self.place.own().remove_file(name)?;
        }
        Ok(())
    }
}

/// Whether a run has ended, whatever became of its changes since.
pub fn has_ended(events: &[Event]) -> bool {
    events.iter().rfind(|event| !event.data.is_epilogue()).is_some_and(|event| event.data.is_end())
}

/// Runs hold what was said and read, so they do not belong in a repository; whoever wants them there changes
/// the file.
fn hide_from_git(runs: &Folder) -> Result<(), JournalError> {
    match runs.find(IGNORED)? {
        Some(_) => Ok(()),
        None => Ok(runs.replace_among_many(IGNORED, b"*\n", Durability::NoSync)?),
    }
}

/// What keeps a folder out of git.
const IGNORED: &str = ".gitignore";

/// The file of events, for this process alone as long as it is open.
///
/// It is unlocked rather than left to being closed: a process that was started just then has it open, too.
#[derive(Debug)]
pub(super) struct Locked(pub(super) File);

impl Deref for Locked {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Where that fails, closing it does the same.
        let _ = self.0.unlock();
    }
}

pub(super) fn lock(place: &RecordFolder) -> Result<Locked, JournalError> {
    let events = place.own().open_to_lock(EVENTS).map_err(|error| missing(error, place))?;
    locked(events, place)
}

fn locked(events: File, place: &RecordFolder) -> Result<Locked, JournalError> {
    match events.try_lock() {
        Ok(()) => Ok(Locked(events)),
        Err(TryLockError::WouldBlock) => {
            Err(JournalError::Locked { run_id: place.name().into_owned() })
        }
        Err(TryLockError::Error(error)) => {
            Err(JournalError::io("lock", &place.path().join(EVENTS))(error))
        }
    }
}

/// A folder without events is no run.
fn missing(error: StateError, place: &RecordFolder) -> JournalError {
    match error.is_missing() {
        true => JournalError::NotFound { folder: place.path().to_owned() },
        false => error.into(),
    }
}

/// Whether a process is working on the run.
///
/// To find out, it holds the lock for a moment; whoever opens the run just then is told to wait.
pub fn is_in_use(folder: &Path) -> Result<bool, JournalError> {
    match lock(&RecordFolder::open(folder)?) {
        Ok(_) => Ok(false),
        Err(JournalError::Locked { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
