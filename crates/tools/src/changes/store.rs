//! Where applied changes are kept, so that they can be finished after a kill and taken back later.
//!
//! One folder for each time: `NNNN/plan.json` is the list of steps, `NNNN/slots/I` what is to come or what was replaced,
//! `NNNN/phase` one word. Invariant: without a phase nothing in the workspace was touched, so the folder can go.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use basics::sha256::Sha256;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, openat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use state::Folder;

use super::disk::Disk;
use super::error::{ChangesError, Doing};
use super::path::LayerPath;
use super::plan::Step;
use super::tree::names;
use crate::beneath;

const PLAN: &str = "plan.json";
/// What whoever wrote the plan says about it.
const SEAL: &str = "seal";
const LONGEST_SEAL: u64 = 1_000;
const PHASE: &str = "phase";
const SLOTS: &str = "slots";
/// A plan beyond this is none: 100,000 files take about 50 MB.
const LARGEST: u64 = 1 << 30;

/// Says that a plan is this user's own, so that nobody else's is ever carried out.
pub trait Seal: fmt::Debug + Send + Sync {
    /// What is written beside the plan with this hash.
    fn sign(&self, number: u32, plan: &Sha256) -> String;

    /// Whether that was found there.
    fn is_signed(&self, number: u32, plan: &Sha256, found: &str) -> bool;
}

/// The folder in which applied changes are kept; it must be on the file system of the workspace.
#[derive(Debug)]
pub struct Store {
    handle: OwnedFd,
    path: PathBuf,
    /// Who stands behind what is kept here; without it, nobody is asked.
    seal: Option<Arc<dyn Seal>>,
}

/// How far an application of changes has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// The steps are being done.
    Apply,
    /// They are being taken back, because one of them was not possible.
    Rollback,
    /// All are done.
    Applied,
    /// They are being taken back, because somebody wants that.
    Undo,
    /// They are being done again, because one could not be taken back.
    Redo,
    /// All are taken back.
    Undone,
    /// Some are done and some are not, because somebody changed files at the same time; what is missing is kept.
    HalfWay,
}

/// One application of changes that is kept.
#[derive(Debug)]
pub(super) struct Kept {
    store: OwnedFd,
    name: OsString,
    folder: OwnedFd,
    slots: OwnedFd,
    seal: Option<Arc<dyn Seal>>,
    pub(super) path: PathBuf,
}

/// What is in `plan.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// The set of changes that was shown.
    pub(super) set: Sha256,
    pub(super) steps: Vec<Step>,
}

impl Store {
    /// Takes a folder of the run for it. As long as it lives, no other program applies changes there.
    pub fn open(folder: &Folder) -> Result<Self, ChangesError> {
        let open = || -> io::Result<OwnedFd> {
            let handle = beneath::open_folder(folder.as_fd(), Path::new(""))?;
            // Not every file system has locks; a run has one program at a time anyway.
            match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another program is using it"))
                }
                _ => Ok(handle),
            }
        };
        let (handle, path) = (open().doing("open", folder.path())?, folder.path().to_owned());
        Ok(Self { handle, path, seal: None })
    }

    /// The same; only what has this seal is carried out or taken back.
    #[must_use]
    pub fn sealed(mut self, seal: Arc<dyn Seal>) -> Self {
        self.seal = Some(seal);
        self
    }

    /// The applications that are kept, the oldest one first.
    pub fn list(&self) -> Result<Vec<(u32, Phase)>, ChangesError> {
        let mut found = Vec::new();
        for number in self.numbers()? {
            if self.has_phase(number)?
                && let Some(phase) = self.kept(number)?.phase()?
            {
                found.push((number, phase));
            }
        }
        Ok(found)
    }

    /// The paths that one application changed.
    pub fn paths(&self, number: u32) -> Result<Vec<LayerPath>, ChangesError> {
        let (_, Record { steps, .. }) = self.kept(number)?.record()?;
        let mut paths: Vec<LayerPath> = steps.into_iter().map(|step| step.path).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Forgets one application: it cannot be taken back any more.
    pub fn forget(&self, number: u32, disk: &Disk) -> Result<(), ChangesError> {
        self.kept(number)?.discard(disk)
    }

    pub(super) fn numbers(&self) -> Result<Vec<u32>, ChangesError> {
        let names = names(&self.handle).doing("read", &self.path)?;
        let number = |name: &OsStr| name.to_str()?.parse().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Makes the next folder.
    pub(super) fn begin(&self, disk: &Disk) -> Result<Kept, ChangesError> {
        let number = self.numbers()?.last().map_or(1, |last| last + 1);
        let (name, path) = self.place(number);
        disk.create_folder((self.handle.as_fd(), &name)).doing("create", &path)?;
        let folder = open_in(self.handle.as_fd(), &name).doing("open", &path)?;
        disk.create_folder((folder.as_fd(), OsStr::new(SLOTS))).doing("create", &path)?;
        self.kept(number)
    }

    pub(super) fn kept(&self, number: u32) -> Result<Kept, ChangesError> {
        let (name, path) = self.place(number);
        let open = || -> io::Result<Kept> {
            let folder = open_in(self.handle.as_fd(), &name)?;
            let slots = open_in(folder.as_fd(), OsStr::new(SLOTS))?;
            let store = self.handle.try_clone()?;
            let seal = self.seal.clone();
            Ok(Kept { store, name: name.clone(), folder, slots, seal, path: path.clone() })
        };
        match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ChangesError::NotApplied { number })
            }
            opened => opened.doing("open", &path),
        }
    }

    /// Removes what never came to anything.
    pub(super) fn sweep(&self, number: u32, disk: &Disk) -> Result<(), ChangesError> {
        let (name, path) = self.place(number);
        disk.remove_all((self.handle.as_fd(), &name)).doing("remove", path)
    }

    pub(super) fn has_phase(&self, number: u32) -> Result<bool, ChangesError> {
        let (name, path) = self.place(number);
        let inner = Path::new(&name).join(PHASE);
        match beneath::open_file(self.handle.as_fd(), &inner) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            opened => opened.map(|_| true).doing("read", path),
        }
    }

    /// Whether there is more than a list.
    pub(super) fn has_slots(&self, number: u32) -> Result<bool, ChangesError> {
        match self.kept(number) {
            Err(ChangesError::NotApplied { .. }) => Ok(false),
            kept => kept.map(|_| true),
        }
    }

    fn place(&self, number: u32) -> (OsString, PathBuf) {
        let name = OsString::from(format!("{number:04}"));
        let path = self.path.join(&name);
        (name, path)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // A process that is just being started may still have the handle; it must not keep the lock.
        let _ = flock(&self.handle, FlockOperation::Unlock);
    }
}

impl Kept {
    /// The number that it is known by.
    pub(super) fn number(&self) -> u32 {
        self.name.to_str().and_then(|name| name.parse().ok()).unwrap_or_default()
    }

    pub(super) fn slots(&self) -> &OwnedFd {
        &self.slots
    }

    /// The file system that it is on.
    #[allow(clippy::unnecessary_cast, reason = "the type differs from system to system")]
    pub(super) fn device(&self) -> Result<u64, ChangesError> {
        Ok(fstat(&self.slots).doing("read", &self.path)?.st_dev as u64)
    }

    pub(super) fn phase(&self) -> Result<Option<Phase>, ChangesError> {
        let read = || -> io::Result<Option<Vec<u8>>> {
            match beneath::open_file(self.folder.as_fd(), Path::new(PHASE)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                opened => Ok(beneath::read_whole(&mut opened?, 100)?.ok()),
            }
        };
        let Some(word) = read().doing("read", &self.path)? else { return Ok(None) };
        let phase = serde_json::from_slice(&word).map_err(|error| self.damaged(PHASE, &error))?;
        Ok(Some(phase))
    }

    pub(super) fn set_phase(&self, phase: Phase, disk: &Disk) -> Result<(), ChangesError> {
        let word = serde_json::json!(phase).to_string();
        disk.replace((self.folder.as_fd(), OsStr::new(PHASE)), word.as_bytes())
            .doing("write", self.path.join(PHASE))
    }

    /// The plan and its hash.
    pub(super) fn record(&self) -> Result<(Sha256, Record), ChangesError> {
        let path = self.path.join(PLAN);
        let mut file =
            beneath::open_file(self.folder.as_fd(), Path::new(PLAN)).doing("read", &path)?;
        let bytes = beneath::read_whole(&mut file, LARGEST).doing("read", &path)?;
        let bytes = bytes.map_err(|_| self.damaged(PLAN, &"it is too large"))?;
        let sha256 = Sha256::of(&bytes);
        self.check_seal(&sha256)?;
        let record = serde_json::from_slice(&bytes).map_err(|error| self.damaged(PLAN, &error))?;
        Ok((sha256, record))
    }

    pub(super) fn write_record(
        &self,
        record: &Record,
        disk: &Disk,
    ) -> Result<Sha256, ChangesError> {
        let write = || -> io::Result<Sha256> {
            let plan = serde_json::to_vec(record)?;
            let sha256 = Sha256::of(&plan);
            if let Some(seal) = &self.seal {
                let word = seal.sign(self.number(), &sha256);
                disk.replace((self.folder.as_fd(), OsStr::new(SEAL)), word.as_bytes())?;
            }
            disk.replace((self.folder.as_fd(), OsStr::new(PLAN)), &plan)?;
            Ok(sha256)
        };
        write().doing("write", self.path.join(PLAN))
    }

    /// Stops at a plan that somebody else wrote.
    fn check_seal(&self, plan: &Sha256) -> Result<(), ChangesError> {
        let Some(seal) = &self.seal else { return Ok(()) };
        let read = || -> io::Result<Option<Vec<u8>>> {
            match beneath::open_file(self.folder.as_fd(), Path::new(SEAL)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                opened => Ok(beneath::read_whole(&mut opened?, LONGEST_SEAL)?.ok()),
            }
        };
        let word = read().doing("read", self.path.join(SEAL))?.unwrap_or_default();
        let word = String::from_utf8_lossy(&word);
        match seal.is_signed(self.number(), plan, &word) {
            true => Ok(()),
            false => Err(self.damaged(PLAN, &"it is not what this program wrote here")),
        }
    }

    /// Waits for all that was staged.
    pub(super) fn sync(&self, disk: &Disk, many: bool) -> Result<(), ChangesError> {
        let sync = || -> io::Result<()> {
            if many && disk.sync_everything(&self.slots)? {
                return Ok(());
            }
            if many {
                for name in names(&self.slots)? {
                    // A link has nothing that could be waited for.
                    if let Ok(file) = beneath::open_file(self.slots.as_fd(), Path::new(&name)) {
                        disk.sync(file.as_fd())?;
                    }
                }
            }
            disk.sync(self.slots.as_fd())?;
            disk.sync(self.folder.as_fd())?;
            disk.sync(self.store.as_fd())
        };
        sync().doing("write", &self.path)
    }

    /// Removes it. The phase goes first: without it, nobody takes the rest for more than leftovers.
    pub(super) fn discard(&self, disk: &Disk) -> Result<(), ChangesError> {
        let remove = || -> io::Result<()> {
            match disk.remove((self.folder.as_fd(), OsStr::new(PHASE))) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => {
                    removed?;
                    disk.sync(self.folder.as_fd())?;
                }
            }
            disk.remove_all((self.store.as_fd(), &self.name))
        };
        remove().doing("remove", &self.path)
    }

    pub(super) fn damaged(&self, file: &str, reason: &dyn fmt::Display) -> ChangesError {
        ChangesError::Damaged { path: self.path.join(file), reason: reason.to_string() }
    }
}

fn open_in(above: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(above, name, flags, Mode::empty())?)
}
