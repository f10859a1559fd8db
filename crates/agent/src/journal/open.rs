//! Beginning a record, and taking one up again after an interruption.
//!
//! Invariant: a record has one writer, which holds the lock on its events.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::chain::{Checked, check};
use super::changes::unvouched;
use super::content::Contents;
use super::error::JournalError;
use super::file::sync_folder;
use super::lines::{EVENTS, Files, SEALS, attached};
use super::summary::{ANSWER, SUMMARY, Summing};
use super::verify::ProblemKind;
use super::{Durability, Journal, RunId};
use crate::event::{Event, EventKind};

impl Journal {
    /// Begins a record in a folder of its own under `runs`; a name that is taken is followed by the next.
    pub fn create(
        runs: &Path,
        mut run_id: RunId,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        fs::create_dir_all(runs).map_err(JournalError::io("create", runs))?;
        loop {
            match Self::create_at(runs, &run_id, durability) {
                Err(JournalError::Exists { .. }) => run_id = run_id.next(),
                created => return created,
            }
        }
    }

    /// Begins the record of a child run.
    pub fn sibling(&self, run_id: &str) -> Result<Self, JournalError> {
        let runs = self.folder.parent().unwrap_or(Path::new("."));
        Self::create_at(runs, &run_id.parse()?, self.durability)
    }

    fn create_at(
        runs: &Path,
        run_id: &RunId,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        let folder = runs.join(run_id.as_str());
        let path = folder.join(EVENTS);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A child's folder without events was left by an interruption, for its parent is ours.
                if run_id.parent().is_none() || path.exists() {
                    return Err(JournalError::Exists { run_id: run_id.to_string() });
                }
            }
            Err(error) => return Err(JournalError::io("create", &folder)(error)),
        }
        for name in ["inputs", "observations", "artifacts", "sandbox"] {
            let inner = folder.join(name);
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&inner)
                .map_err(JournalError::io("create", &inner))?;
        }
        File::create_new(&path).map_err(JournalError::io("create", &path))?;
        let events = lock(&folder)?;
        let journal = Self::new(&folder, run_id.clone(), events, durability)?;
        if durability == Durability::Sync {
            sync_folder(&folder)?;
            sync_folder(runs)?;
        }
        Ok(journal)
    }

    /// Takes up a record where it ended, with its events; what was cut off at its end is removed.
    pub fn open(folder: &Path, durability: Durability) -> Result<(Self, Vec<Event>), JournalError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let run_id = name.parse()?;
        let events = lock(folder)?;
        let files = Files::read(folder)?;
        let Checked { events: recorded, problems, hashes, torn_bytes, .. } = check(&files);
        let damaged =
            |seq, message| JournalError::Damaged { folder: folder.to_owned(), seq, message };
        // What follows the last newline goes, whatever it is: nobody was told that it is there.
        let wrong = problems.into_iter().find(|problem| problem.kind != ProblemKind::Tail);
        if let Some(problem) = wrong {
            return Err(damaged(problem.seq.unwrap_or(1), problem.message));
        }
        let mut whole = Vec::with_capacity(recorded.len());
        for event in recorded {
            let seq = event.seq;
            whole.push(attached(event, folder).map_err(|error| damaged(seq, error.to_string()))?);
        }
        let mut journal = Self::new(folder, run_id, events, durability)?;
        journal.repair(&files, &hashes, torn_bytes)?;
        journal.next_seq = hashes.len() as u64 + 1;
        journal.last = hashes.last().cloned().unwrap_or_default();
        whole.iter().for_each(|event| journal.summing.add(event));
        journal.unvouched = unvouched(folder, &whole)?;
        if whole.last().is_none_or(|event| event.kind != EventKind::RunFinished) {
            journal.remove_summary()?;
        }
        Ok((journal, whole))
    }

    fn new(
        folder: &Path,
        run_id: RunId,
        events: File,
        durability: Durability,
    ) -> Result<Self, JournalError> {
        let path = folder.join(SEALS);
        let seals = File::options().append(true).create(true).open(&path);
        Ok(Self {
            folder: folder.to_owned(),
            run_id,
            durability,
            events,
            seals: seals.map_err(JournalError::io("open", &path))?,
            contents: Contents::new(folder),
            summing: Summing::default(),
            next_seq: 1,
            last: String::new(),
            lines: Vec::new(),
            hashes: String::new(),
            unvouched: Vec::new(),
            incomplete: false,
        })
    }

    /// Removes what an interruption left, so that both files end where the last complete event does.
    fn repair(
        &mut self,
        files: &Files,
        hashes: &[String],
        torn_bytes: usize,
    ) -> Result<(), JournalError> {
        let sealed = files.seals.as_ref();
        let (committed, finished) =
            sealed.map_or((0, 0), |seals| (seals.committed, seals.finished_bytes));
        let repair = || {
            if torn_bytes > 0 {
                self.events.set_len((files.events.len() - torn_bytes) as u64)?;
            }
            self.seals.set_len(finished as u64)?;
            match hashes.get(committed..).unwrap_or_default() {
                [] => Ok(()),
                // One write: a kill before its newline leaves what a kill during a commit leaves.
                unsealed => (&self.seals).write_all((unsealed.join(" ") + "\n").as_bytes()),
            }
        };
        repair().map_err(JournalError::io("repair", &self.folder))
    }

    /// A run that goes on has no summary, so that nobody takes an old one for the current.
    fn remove_summary(&self) -> Result<(), JournalError> {
        for path in [SUMMARY, ANSWER].map(|name| self.folder.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(JournalError::io("remove", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The file of events, for this process alone as long as it is open.
pub(super) fn lock(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(EVENTS);
    let events = File::options().append(true).open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => JournalError::NotFound { folder: folder.to_owned() },
        _ => JournalError::io("open", &path)(error),
    })?;
    events.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::Locked {
            run_id: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        },
        TryLockError::Error(error) => JournalError::io("lock", &path)(error),
    })?;
    Ok(events)
}

/// Whether a process is working on the run.
///
/// To find out, it holds the lock for a moment; whoever opens the run just then is told to wait.
pub fn is_in_use(folder: &Path) -> Result<bool, JournalError> {
    match lock(folder) {
        Ok(_) => Ok(false),
        Err(JournalError::Locked { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}
