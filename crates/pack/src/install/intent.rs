//! What was decided to be moved: written before the first move, gone after the last.
//!
//! Invariant: an intent names skills, times and inodes, never paths. One that came with a cloned
//! repository knows no inode of this device, and so moves nothing.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::Doing;
use super::{InstallError, Opened};
use crate::check::check_name;
use crate::disk::read_plain;
use crate::material::Mode;

pub(super) const FILE: &str = "intent.json";

/// An intent beyond this is none: 10,000 skills take about 1 MB.
const LARGEST: u64 = 16 << 20;

/// Moves that belong together.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Intent {
    pub(super) moves: Vec<Move>,
}

/// One skill gets another folder, or none.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Move {
    pub(super) name: String,
    /// What takes the skill's place.
    pub(super) comes: Option<Coming>,
    /// What becomes of the one that is there.
    pub(super) goes: Option<Going>,
}

/// A folder that takes a skill's place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Coming {
    pub(super) from: Aside,
    /// By which it is known wherever it is.
    pub(super) inode: u64,
}

/// A folder that leaves a skill's place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Going {
    pub(super) to: Aside,
    pub(super) inode: u64,
}

/// Where a skill's folder can be besides its own place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Aside {
    /// In the staging area, to come.
    New,
    /// In the staging area, to be removed.
    Old,
    /// Uninstalled at that time.
    Trash(String),
    /// Replaced at that time.
    Backup(String),
}

impl Intent {
    /// Reads an intent that was written before; it may be a stranger's.
    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let intent: Self = serde_json::from_slice(&read_plain(path, LARGEST)?)?;
        let fits = |place: &Aside| match place {
            Aside::New | Aside::Old => true,
            Aside::Trash(time) | Aside::Backup(time) => is_time(time),
        };
        let sound = intent.moves.iter().all(|one| {
            let from = one.comes.iter().map(|coming| &coming.from);
            let places = from.chain(one.goes.iter().map(|going| &going.to));
            check_name(&one.name).is_ok() && places.into_iter().all(fits)
        });
        if sound {
            Ok(intent)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "it names a path that is not allowed"))
        }
    }
}

/// As in `20261115T083000Z`, perhaps with a number behind it.
pub(super) fn is_time(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (time, number) = text.split_once('-').unwrap_or((text, "1"));
    let parts = time.strip_suffix('Z').and_then(|time| time.split_once('T'));
    parts.is_some_and(|(day, clock)| {
        day.len() == 8 && clock.len() == 6 && digits(day) && digits(clock)
    }) && digits(number)
}

impl Opened<'_> {
    pub(super) fn place(
        &self,
        staging: &Path,
        name: &str,
        place: &Aside,
    ) -> Result<PathBuf, InstallError> {
        let path = match place {
            Aside::New => staging.join("new").join(name),
            Aside::Old => staging.join("old").join(name),
            Aside::Trash(time) => self.root.trash().join(name).join(time),
            Aside::Backup(time) => self.root.backup().join(name).join(time),
        };
        self.root.reached(&path)?;
        Ok(path)
    }

    /// Decides, then moves. Everything that needs room on the device was written before.
    pub(super) fn carry_out(&self, intent: &Intent) -> Result<(), InstallError> {
        let staging = self.staging();
        for one in &intent.moves {
            self.make_room(&staging, one)?;
        }
        let (draft, path) = (staging.join("intent.tmp"), staging.join(FILE));
        let write = || {
            let mut file = self.disk.create_file(&draft, Mode::Plain)?;
            file.write_all(&serde_json::to_vec(intent)?)?;
            file.sync()?;
            self.disk.rename(&draft, &path)?;
            self.disk.sync_path(&staging)
        };
        write().doing("write", &path)?;
        self.finish(&staging, &self.id, intent)
    }

    /// Makes the folder that the old one goes to, and sees to it that nothing is on another device.
    fn make_room(&self, staging: &Path, one: &Move) -> Result<(), InstallError> {
        if let Some(going) = &one.goes {
            let goes = self.place(staging, &one.name, &going.to)?;
            let folder = goes.parent().unwrap_or(staging);
            self.disk.create_folder(folder).doing("make", folder)?;
            self.on_same_device(folder)?;
        }
        let target = self.root.target(&one.name)?;
        let existing = target.ancestors().skip(1).find(|folder| folder.exists());
        self.on_same_device(existing.unwrap_or(&self.root.path))?;
        // Something may be mounted on the skill itself.
        match fs::symlink_metadata(&target) {
            Ok(found) if found.is_dir() => self.on_same_device(&target),
            _ => Ok(()),
        }
    }

    fn on_same_device(&self, path: &Path) -> Result<(), InstallError> {
        let device =
            |path: &Path| fs::metadata(path).map(|found| found.dev()).doing("look at", path);
        match device(path)? == device(&self.root.path)? {
            true => Ok(()),
            false => Err(InstallError::OtherDevice { path: path.to_owned() }),
        }
    }

    /// Does what an intent says, whatever of it was done before.
    pub(super) fn finish(
        &self,
        staging: &Path,
        id: &str,
        intent: &Intent,
    ) -> Result<(), InstallError> {
        for one in &intent.moves {
            self.carry_out_one(staging, one)?;
            // Of a namespace without skills nothing is left.
            if let Some(namespace) = self.root.skill(&one.name).parent() {
                self.remove_empty(namespace, &self.root.path)?;
            }
        }
        self.disk.sync_path(&self.root.path).doing("write", &self.root.path)?;
        let (new, path) = (self.root.new_lockfile(id), self.root.lockfile_path());
        if new.exists() {
            self.disk.rename(&new, &path).doing("write", &path)?;
            let folder = path.parent().unwrap_or(Path::new("."));
            self.disk.sync_path(folder).doing("write", folder)?;
        }
        let intent = staging.join(FILE);
        self.disk.remove(&intent).doing("remove", &intent)?;
        self.discard(id)?;
        self.prune()
    }

    fn carry_out_one(&self, staging: &Path, one: &Move) -> Result<(), InstallError> {
        let target = self.root.target(&one.name)?;
        let Some(coming) = &one.comes else { return self.put_away(staging, one, &target) };
        let from = self.place(staging, &one.name, &coming.from)?;
        if inode(&target) != Some(coming.inode) {
            if inode(&from) != Some(coming.inode) {
                let reason =
                    format!("`{}` is neither in the staging area nor in its place", one.name);
                return Err(InstallError::Interrupted { path: staging.to_owned(), reason });
            }
            let above = target.parent().unwrap_or(&self.root.path);
            self.disk.create_folder(above).doing("make", above)?;
            let swapped = inode(&target).is_some()
                && self.disk.exchange(&from, &target).doing("replace", &target)?;
            if !swapped {
                self.put_away(staging, one, &target)?;
                return self.disk.rename(&from, &target).doing("place", &target);
            }
        }
        // After a swap the old one is where the new one was.
        self.put_away(staging, one, &from)
    }

    /// Moves the folder that leaves from where it is to where it goes, unless it is not there any more.
    fn put_away(&self, staging: &Path, one: &Move, path: &Path) -> Result<(), InstallError> {
        match &one.goes {
            Some(going) if inode(path) == Some(going.inode) => {
                let goes = self.place(staging, &one.name, &going.to)?;
                self.disk.rename(path, &goes).doing("move", path)
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn inode(path: &Path) -> Option<u64> {
    fs::symlink_metadata(path).ok().map(|found| found.ino())
}
