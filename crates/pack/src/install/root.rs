//! A folder of skills as a place to install into, and the lock that lets one at a time.
//!
//! Invariant: what lies beside the skills may have come with a clone, so nothing is read, moved or
//! removed through a link in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use skill::lock::{LockError, Lockfile};

use super::InstallError;
use super::error::Doing;
use crate::check::check_name;
use crate::disk::Disk;

/// A folder of skills that can be installed into.
#[derive(Debug, Clone)]
pub struct Root {
    pub(super) path: PathBuf,
    /// The project that it must not leave.
    project: Option<PathBuf>,
}

impl Root {
    /// The folder of skills at `path`, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), project: None }
    }

    /// The folder of skills of a project, which may be a stranger's.
    pub fn of_project(project: &Path) -> Self {
        Self { path: project.join(".agent/skills"), project: Some(project.to_owned()) }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was installed here. A lockfile may have come with a clone, so its names are checked, too.
    pub fn lockfile(&self) -> Result<Lockfile, InstallError> {
        let path = self.lockfile_path();
        let lockfile = Lockfile::read(&path)?;
        match lockfile.skills().iter().find_map(|skill| check_name(&skill.name).err()) {
            Some(refusal) => Err(LockError::Damaged { path, reason: refusal.to_string() }.into()),
            None => Ok(lockfile),
        }
    }

    /// Where that is written down.
    pub fn lockfile_path(&self) -> PathBuf {
        Lockfile::path_for(&self.path)
    }

    /// The folder of a skill.
    pub fn skill(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether there is a skill of that name. What cannot be a skill's name is none: it may be a path.
    pub fn has(&self, name: &str) -> bool {
        check_name(name).is_ok() && fs::symlink_metadata(self.skill(name)).is_ok()
    }

    /// The folder of a skill that is to be changed.
    pub(super) fn target(&self, name: &str) -> Result<PathBuf, InstallError> {
        let path = self.skill(name);
        self.reached(&path)?;
        Ok(path)
    }

    /// Sees to it that there are only folders on the way from the root to `path`: a link would lead
    /// elsewhere.
    pub(super) fn reached(&self, path: &Path) -> Result<(), InstallError> {
        let above = path.ancestors().skip(1).take_while(|folder| *folder != self.path);
        above.into_iter().try_for_each(is_folder_or_missing)
    }

    /// The same for the folders beside the skills.
    fn check_areas(&self) -> Result<(), InstallError> {
        let areas = [self.staging(), self.trash(), self.backup(), self.packs()];
        areas.iter().try_for_each(|area| is_folder_or_missing(area))
    }

    /// Sees to it that a project has its skills in a folder of its own: that may be a link, but not out of the
    /// project. The lockfile lies in `.agent`, which is no link.
    pub fn check_project(&self) -> Result<(), InstallError> {
        let Some(project) = &self.project else { return Ok(()) };
        let existing = self.path.ancestors().find(|folder| fs::symlink_metadata(folder).is_ok());
        let real = existing.and_then(|folder| folder.canonicalize().ok());
        match real.zip(project.canonicalize().ok()) {
            Some((real, canonical)) if real.starts_with(&canonical) => {
                is_folder_or_missing(&project.join(".agent"))
            }
            _ => Err(InstallError::OutsideProject { path: self.path.clone() }),
        }
    }

    pub(super) fn packs(&self) -> PathBuf {
        self.path.join(".packs")
    }

    pub(super) fn staging(&self) -> PathBuf {
        self.path.join(".staging")
    }

    pub(super) fn trash(&self) -> PathBuf {
        self.path.join(".trash")
    }

    pub(super) fn backup(&self) -> PathBuf {
        self.path.join(".backup")
    }

    pub(super) fn new_lockfile(&self, id: &str) -> PathBuf {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        folder.join(format!(".skills.lock.{id}"))
    }

    /// Takes the lock, waiting for whoever has it; finishes or undoes what was interrupted.
    pub fn open<'a>(&'a self, disk: &'a Disk, id: &str) -> Result<Opened<'a>, InstallError> {
        self.check_project()?;
        let made = missing(&self.path);
        disk.create_folder(&self.path).doing("make", &self.path)?;
        let handle = File::open(&self.path).doing("open", &self.path)?;
        flock(&handle, FlockOperation::LockExclusive)
            .map_err(io::Error::from)
            .doing("lock", &self.path)?;
        self.check_areas()?;
        let opened = Opened {
            root: self,
            disk,
            id: id.to_owned(),
            lockfile: Lockfile::default(),
            made,
            _lock: handle,
        };
        opened.recover()?;
        let lockfile = match self.lockfile() {
            Ok(lockfile) => lockfile,
            Err(error) => {
                opened.give_up();
                return Err(error);
            }
        };
        Ok(Opened { lockfile, ..opened })
    }

    /// Finishes or undoes what was interrupted, unless somebody is at work right now. Nobody asked for
    /// it, so a project's folder is left alone where it is a link.
    pub fn tidy(&self, disk: &Disk) -> Result<(), InstallError> {
        if fs::symlink_metadata(self.staging()).is_err() {
            return Ok(());
        }
        if let Some(project) = &self.project {
            let own = self.path.ancestors().take_while(|folder| folder != project);
            own.into_iter().try_for_each(is_folder_or_missing)?;
        }
        self.check_areas()?;
        let handle = File::open(&self.path).doing("open", &self.path)?;
        if flock(&handle, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(());
        }
        let id = String::new();
        Opened {
            root: self,
            disk,
            id,
            lockfile: Lockfile::default(),
            made: Vec::new(),
            _lock: handle,
        }
        .recover()
    }
}

fn is_folder_or_missing(path: &Path) -> Result<(), InstallError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(InstallError::NotAFolder { path: path.to_owned() }),
        Err(source) => Err(source).doing("look at", path),
    }
}

/// Folders that have to be made for `path`, the innermost first.
fn missing(path: &Path) -> Vec<PathBuf> {
    path.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// A root that nobody else can change.
#[derive(Debug)]
pub struct Opened<'a> {
    pub(super) root: &'a Root,
    pub(super) disk: &'a Disk,
    pub(super) id: String,
    /// What is installed.
    pub lockfile: Lockfile,
    /// Folders that were made for this.
    made: Vec<PathBuf>,
    _lock: File,
}

impl Opened<'_> {
    /// The staging area of this change.
    pub(super) fn staging(&self) -> PathBuf {
        self.root.staging().join(&self.id)
    }

    /// Leaves the root as it was found. Whatever cannot be removed now is removed by whoever comes next.
    pub fn give_up(&self) {
        let decided = self.staging().join(super::intent::FILE).exists();
        let _ = if decided {
            self.recover()
        } else {
            self.discard(&self.id).and_then(|()| self.prune())
        };
        for folder in &self.made {
            let _ = self.disk.remove_if_empty(folder);
        }
    }
}
