//! Doing the steps of a plan, and taking them back.
//!
//! Invariants: a step that was done is not done again, so a list of steps can be gone through any number of times. A
//! step never loses what it finds: what is not what it expects is put back where it was.

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::disk::Disk;
use super::error::{ChangesError, Doing};
use super::node::{Kind, Node, Stamp};
use super::path::LayerPath;
use super::plan::{Act, Step};
use super::stage::{MANY, slot_name};
use super::store::Kept;
use super::tree::{Tree, entry, is_link, is_missing};
use super::verify::is_node;
use crate::platform::files::Place;

/// Why a step was not done.
#[derive(Debug)]
pub(super) enum Stop {
    /// Somebody changed the path.
    Foreign(LayerPath),
    Error(ChangesError),
}

impl From<ChangesError> for Stop {
    fn from(error: ChangesError) -> Self {
        Self::Error(error)
    }
}

/// What is known of the state that a step finds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Trust {
    /// It was not done, and this was in its place a moment ago.
    Fresh(Option<Stamp>),
    /// It may have been done, by a program that was stopped.
    Unknown,
}

/// What carries out steps.
pub(super) struct Carrier<'a> {
    workspace: &'a Tree,
    kept: &'a Kept,
    disk: &'a Disk,
    /// The folder of the last step.
    folder: Option<(Option<LayerPath>, OwnedFd)>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(workspace: &'a Tree, kept: &'a Kept, disk: &'a Disk) -> Self {
        Self { workspace, kept, disk, folder: None }
    }

    /// Does all steps; `states` are what was verified.
    pub(super) fn all(&mut self, steps: &[Step], states: &[Option<Stamp>]) -> Result<(), Stop> {
        for (step, state) in steps.iter().zip(states) {
            self.step(step, Trust::Fresh(*state))?;
        }
        Ok(self.sync(steps)?)
    }

    /// Does those that were not done.
    pub(super) fn rest(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            self.step(step, Trust::Unknown)?;
        }
        Ok(self.sync(steps)?)
    }

    /// Does those that can be done, and says which cannot.
    pub(super) fn what_can_be(&mut self, steps: &[Step]) -> Result<Vec<LayerPath>, ChangesError> {
        let mut left = Vec::new();
        for step in steps {
            match self.step(step, Trust::Unknown) {
                Ok(()) => {}
                Err(Stop::Foreign(path)) => left.push(path),
                Err(Stop::Error(error)) => return Err(error),
            }
        }
        self.sync(steps)?;
        left.sort();
        left.dedup();
        Ok(left)
    }

    fn sync(&mut self, steps: &[Step]) -> Result<(), ChangesError> {
        self.folder = None;
        let folders: HashSet<Option<LayerPath>> =
            steps.iter().map(|step| step.path.parent()).collect();
        let sync = || -> io::Result<()> {
            if folders.len() > MANY && self.disk.sync_everything(self.kept.slots())? {
                return Ok(());
            }
            for folder in &folders {
                // One that is gone needs nothing.
                if let Some(folder) = self.workspace.folder_if_any(folder.as_ref())? {
                    self.disk.sync(folder.as_fd())?;
                }
            }
            self.disk.sync(self.kept.slots().as_fd())
        };
        sync().doing("write", self.workspace.root_path())
    }

    fn step(&mut self, step: &Step, trust: Trust) -> Result<(), Stop> {
        let full = self.workspace.full(&step.path);
        match self.try_step(step, trust) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Stop::Foreign(step.path.clone())),
            Err(error) if is_link(&error) => Err(Stop::Foreign(step.path.clone())),
            Err(error) => {
                Err(Stop::Error(ChangesError::Io { doing: "change", path: full, source: error }))
            }
        }
    }

    /// Answers whether it is done: it is not where somebody changed the path.
    fn try_step(&mut self, step: &Step, trust: Trust) -> io::Result<bool> {
        match &step.act {
            Act::Take { slot, was } => self.take(step, *slot, was, trust),
            Act::Put { slot, .. } => self.put(step, *slot),
            Act::Swap { slot, was, becomes } => self.swap(step, *slot, (was, becomes), trust),
            Act::MakeFolder { mode } => self.make_folder(step, *mode, trust),
            Act::RemoveFolder { .. } => self.remove_folder(step, trust),
            Act::Mode { was, becomes } => self.set_mode(step, *was, *becomes, trust),
        }
    }

    fn take(&mut self, step: &Step, slot: u32, was: &Node, trust: Trust) -> io::Result<bool> {
        let (kept, disk, slot) = (self.kept, self.disk, slot_name(slot));
        let slot: Place<'_> = (kept.slots().as_fd(), &slot);
        let taken = entry(slot.0, slot.1)?;
        let Some(folder) = self.folder(step)? else { return Ok(taken.is_some()) };
        let place = (folder.as_fd(), step.path.name());
        if let Some(taken) = taken {
            // A file with both names was on its way from one to the other.
            let found = entry(place.0, place.1)?;
            if found.is_some_and(|found| found.st_ino == taken.st_ino) {
                disk.remove(place)?;
            }
            return Ok(true);
        }
        let Some(found) = expected(place, was, trust)? else { return Ok(false) };
        disk.rename(place, slot)?;
        if is_there(slot, &found)? {
            return Ok(true);
        }
        disk.rename_new(slot, place)?;
        Ok(false)
    }

    fn put(&mut self, step: &Step, slot: u32) -> io::Result<bool> {
        let (kept, disk, slot) = (self.kept, self.disk, slot_name(slot));
        let slot: Place<'_> = (kept.slots().as_fd(), &slot);
        let Some(staged) = entry(slot.0, slot.1)? else { return Ok(true) };
        let Some(folder) = self.folder(step)? else { return Ok(false) };
        let place = (folder.as_fd(), step.path.name());
        match disk.rename_new(slot, place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A file with both names was on its way from one to the other.
                let found = entry(place.0, place.1)?;
                let is_same = found.is_some_and(|found| found.st_ino == staged.st_ino);
                if is_same {
                    disk.remove(slot)?;
                }
                Ok(is_same)
            }
            renamed => renamed.map(|()| true),
        }
    }

    fn swap(
        &mut self,
        step: &Step,
        slot: u32,
        (was, becomes): (&Node, &Node),
        trust: Trust,
    ) -> io::Result<bool> {
        let (kept, disk, slot) = (self.kept, self.disk, slot_name(slot));
        let slot: Place<'_> = (kept.slots().as_fd(), &slot);
        if let Trust::Unknown = trust {
            self.mend(step, slot)?;
            if is_node(slot, was)?.is_some() {
                return Ok(true);
            }
            if is_node(slot, becomes)?.is_none() {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "what was kept for it is not what it was",
                ));
            }
        }
        let Some(folder) = self.folder(step)? else { return Ok(false) };
        let place = (folder.as_fd(), step.path.name());
        let Some(found) = expected(place, was, trust)? else { return Ok(false) };
        disk.exchange(slot, place)?;
        if is_there(slot, &found)? {
            return Ok(true);
        }
        disk.exchange(slot, place)?;
        Ok(false)
    }

    /// Finishes an exchange that was not done at once.
    fn mend(&mut self, step: &Step, slot: Place<'_>) -> io::Result<()> {
        let mut third = slot.1.to_owned();
        third.push(".old");
        let third: Place<'_> = (slot.0, &third);
        if entry(third.0, third.1)?.is_none() {
            return Ok(());
        }
        let disk = self.disk;
        if entry(slot.0, slot.1)?.is_none() {
            return disk.rename(third, slot);
        }
        let Some(folder) = self.folder(step)? else { return Ok(()) };
        let place = (folder.as_fd(), step.path.name());
        match entry(place.0, place.1)? {
            Some(_) => disk.remove(third),
            None => disk.rename_new(third, place),
        }
    }

    fn make_folder(&mut self, step: &Step, mode: u32, trust: Trust) -> io::Result<bool> {
        let disk = self.disk;
        let Some(folder) = self.folder(step)? else { return Ok(false) };
        let place = (folder.as_fd(), step.path.name());
        match (entry(place.0, place.1)?.as_ref().map(Stamp::of), trust) {
            (None, _) => disk.create_folder(place)?,
            (Some(Stamp { kind: Kind::Folder, mode: found, .. }), Trust::Unknown) => {
                if found == mode {
                    return Ok(true);
                }
            }
            (Some(_), _) => return Ok(false),
        }
        disk.set_mode(place, mode)?;
        Ok(true)
    }

    fn remove_folder(&mut self, step: &Step, trust: Trust) -> io::Result<bool> {
        let disk = self.disk;
        let Some(folder) = self.folder(step)? else { return Ok(matches!(trust, Trust::Unknown)) };
        let place = (folder.as_fd(), step.path.name());
        let found = entry(place.0, place.1)?.as_ref().map(Stamp::of);
        if found.is_none_or(|found| found.kind != Kind::Folder) {
            return Ok(matches!(trust, Trust::Unknown));
        }
        match disk.remove_folder(place) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    fn set_mode(&mut self, step: &Step, was: u32, becomes: u32, trust: Trust) -> io::Result<bool> {
        let disk = self.disk;
        let is_unknown = matches!(trust, Trust::Unknown);
        let Some(folder) = self.folder(step)? else { return Ok(is_unknown) };
        let place = (folder.as_fd(), step.path.name());
        match entry(place.0, place.1)?.as_ref().map(Stamp::of) {
            // A later step removed it already, or an earlier one has not made it.
            None => Ok(is_unknown),
            Some(found) if found.kind != Kind::Folder => Ok(is_unknown),
            Some(found) if found.mode == becomes => Ok(true),
            Some(found) if found.mode == was => disk.set_mode(place, becomes).map(|()| true),
            Some(_) => Ok(false),
        }
    }

    /// The folder that a step is in; none where it is missing.
    fn folder(&mut self, step: &Step) -> io::Result<Option<&OwnedFd>> {
        let parent = step.path.parent();
        if self.folder.as_ref().is_none_or(|(path, _)| *path != parent) {
            match self.workspace.folder(parent.as_ref()) {
                Ok(folder) => self.folder = Some((parent, folder)),
                Err(error) if is_missing(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(self.folder.as_ref().map(|(_, folder)| folder))
    }
}

/// What is at a place, if it is what a step expects.
fn expected(place: Place<'_>, was: &Node, trust: Trust) -> io::Result<Option<Stamp>> {
    match trust {
        Trust::Fresh(Some(seen)) => {
            let found = entry(place.0, place.1)?.as_ref().map(Stamp::of);
            Ok(found.filter(|found| *found == seen))
        }
        Trust::Fresh(None) => Ok(None),
        Trust::Unknown => is_node(place, was),
    }
}

/// Whether a file that was moved is the one that was looked at.
fn is_there(place: Place<'_>, seen: &Stamp) -> io::Result<bool> {
    let found = entry(place.0, place.1)?.as_ref().map(Stamp::of);
    Ok(found.is_some_and(|found| found.is_same_file(seen)))
}
