//! A file that may be changed.
//!
//! Invariant: only [`Target::new`] makes one, after it has seen that nothing on the way is closed; and it
//! looks again at the very folders in which something is changed.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{AtFlags, Stat, statat, unlinkat};
use rustix::io::Errno;

use super::staged::{Staged, sweep};
use super::{Guard, Twins, Workspace, WorkspacePath, has_twin};
use crate::beneath::{self, Missing};
use crate::error::ToolError;

/// A file as it is.
#[derive(Debug)]
pub(crate) struct Previous {
    /// Its content.
    pub(crate) bytes: Vec<u8>,
    /// Its permission bits.
    pub(crate) mode: u32,
}

/// A file that may be changed, by its one name.
#[derive(Debug)]
pub(crate) struct Target<'w> {
    place: WorkspacePath<'w>,
    guard: Guard,
}

impl<'w> Target<'w> {
    /// Takes a place, unless it or a folder on the way is closed.
    pub(crate) fn new(
        place: WorkspacePath<'w>,
        guard: Guard,
        workspace: &Workspace,
    ) -> Result<Self, ToolError> {
        let target = Self { place, guard };
        let found = target.found().map_err(|source| ToolError::at(place.name, source))?;
        if let Some(stat) = found.filter(has_twin) {
            Twins::find(workspace).check(&stat, place.name)?;
        }
        Ok(target)
    }

    /// What is there, if anything is.
    fn found(&self) -> io::Result<Option<Stat>> {
        match self.parent(Missing::Fails).and_then(|(folder, name)| self.entry(&folder, name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found,
        }
    }

    fn entry(&self, folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.guard.pass(&stat).map(|()| Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn parent(&self, missing: Missing) -> io::Result<(OwnedFd, &OsStr)> {
        let pass = |folder: &OwnedFd, next: &OsStr| self.guard.pass_folder(folder, next);
        let (folder, name) =
            beneath::open_parent(self.place.folder(), self.place.path(), missing, pass)?;
        self.guard.pass_file(&folder, name)?;
        Ok((folder, name))
    }

    /// Its content, if it is there.
    pub(crate) fn read(&self, limit: u64) -> Result<Option<Previous>, ToolError> {
        let name = self.place.name;
        let read = || -> io::Result<_> {
            let mut file = beneath::open_file(self.place.folder(), self.place.path())?;
            let mode = file.metadata()?.permissions().mode() & 0o777;
            let bytes = beneath::read_whole(&mut file, limit)?;
            Ok(bytes.map(|bytes| Previous { bytes, mode }))
        };
        match read() {
            Ok(Ok(previous)) => Ok(Some(previous)),
            Ok(Err(size)) => Err(ToolError::TooLarge { path: name.to_owned(), size, limit }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ToolError::at(name, error)),
        }
    }

    /// Puts a file in place, whole or not at all, with these permissions or those of any new file.
    pub(crate) fn replace(&self, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
        let (folder, name) = self.parent(Missing::IsMade)?;
        let is_new = self.entry(&folder, name)?.is_none();
        sweep(&folder);
        let put = |staged: Staged| match is_new {
            true => staged.put(&folder, name),
            false => staged.named(&folder)?.put_over(&folder, name),
        };
        match Staged::unnamed(&folder, bytes, mode).and_then(put) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) => put(Staged::beside(&folder, bytes, mode)?)?,
            Ok(()) => {}
        }
        Ok(rustix::fs::fsync(&folder)?)
    }

    /// Removes the file.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let (folder, name) = self.parent(Missing::Fails)?;
        self.entry(&folder, name)?;
        unlinkat(&folder, name, AtFlags::empty())?;
        Ok(rustix::fs::fsync(&folder)?)
    }
}
