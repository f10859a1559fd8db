//! Files of a folder: read whole, added to, replaced whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, OFlags, fstat, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::beneath::{self, FILE, Wanted};
use crate::error::{Cause, StateError};
use crate::folder::Folder;
use crate::inner::names;
use crate::platform::{exchange, rename_new};

/// Whether a write waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It does: nothing that was written is lost, whatever happens.
    Sync,
    /// It does not: nothing is lost when the process is killed, but a power failure can take some.
    NoSync,
}

/// Whether a file may have names elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    One,
    Many,
}

impl Folder {
    /// Opens a file to read it.
    pub fn open_file(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        self.open_plain(inner.as_ref(), "read", OFlags::RDONLY, Names::One)
    }

    /// The content of a file, if it has no more bytes than `limit`.
    pub fn read(&self, inner: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, StateError> {
        let file = self.open_file(&inner)?;
        self.read_whole(inner.as_ref(), &file, limit)
    }

    /// The same for a file that this program itself gives several names.
    pub fn read_shared(&self, inner: impl AsRef<Path>, limit: u64) -> Result<Vec<u8>, StateError> {
        let file = self.open_plain(inner.as_ref(), "read", OFlags::RDONLY, Names::Many)?;
        self.read_whole(inner.as_ref(), &file, limit)
    }

    /// Opens a file to add to its end; it must be ours, with no name elsewhere.
    pub fn open_to_append(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        let inner = inner.as_ref();
        let flags = OFlags::RDWR | OFlags::APPEND;
        let file = self.open_plain(inner, "write", flags, Names::One)?;
        self.check_ours(inner, &file)?;
        Ok(file)
    }

    /// Opens a file to take a lock on it and nothing else.
    pub fn open_to_lock(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        // Some network disks want a lock to be able to write.
        match self.open_plain(inner.as_ref(), "lock", OFlags::RDWR, Names::Many) {
            Err(StateError { cause: Cause::Io(error), .. }) if is_denied(&error) => {
                self.open_plain(inner.as_ref(), "lock", OFlags::RDONLY, Names::Many)
            }
            opened => opened,
        }
    }

    /// Makes a file to add to; nothing may be in its place.
    pub fn create_file(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("create", inner)?;
        self.create_at(parent.as_fd(), name)
            .map_err(|error| self.error("create", inner, error.into()))
    }

    /// Makes a file to add to; what an interruption left in its place is removed.
    pub fn create_anew(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("create", inner)?;
        self.create_anew_at(parent.as_fd(), name)
            .map_err(|error| self.blame("create", inner, Wanted::File, error))
    }

    /// Opens a file to add to it, made where it is missing.
    pub fn append_or_create(&self, inner: impl AsRef<Path>) -> Result<File, StateError> {
        match self.open_to_append(&inner) {
            Err(error) if error.is_missing() => {}
            opened => return opened,
        }
        match self.create_file(&inner) {
            // Another process made it just now.
            Err(error) if error.is_taken() => self.open_to_append(&inner),
            made => made,
        }
    }

    /// Replaces a file; whoever reads it sees the old or the new one. For the one writer of a folder.
    pub fn replace(
        &self,
        inner: impl AsRef<Path>,
        content: &[u8],
        durability: Durability,
    ) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("write", inner)?;
        let temporary = added(name, ".tmp");
        let file = self
            .create_anew_at(parent.as_fd(), &temporary)
            .map_err(|error| self.error("write", inner, error.into()))?;
        self.put(parent.as_fd(), (&temporary, name), (file, content), durability)
            .map_err(|error| self.error("write", inner, error.into()))
    }

    /// The same where other processes may be replacing it, too: the last one counts.
    pub fn replace_among_many(
        &self,
        inner: impl AsRef<Path>,
        content: &[u8],
        durability: Durability,
    ) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("write", inner)?;
        let write = || -> io::Result<()> {
            let (file, temporary) = self.create_temporary(parent.as_fd(), name)?;
            self.put(parent.as_fd(), (&temporary, name), (file, content), durability)
        };
        write().map_err(|error| self.error("write", inner, error.into()))
    }

    /// Puts a whole file where nothing is; of several processes the first one wins.
    pub fn put_new(
        &self,
        inner: impl AsRef<Path>,
        content: &[u8],
        durability: Durability,
    ) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("create", inner)?;
        let (mut file, temporary) = self
            .create_temporary(parent.as_fd(), name)
            .map_err(|error| self.error("create", inner, error.into()))?;
        let mut write = || -> io::Result<()> {
            file.write_all(content)?;
            if durability == Durability::Sync {
                file.sync_all()?;
            }
            match rename_new(parent.as_fd(), &temporary, name) {
                // Some disks and systems cannot. A link takes no other file's place either, but for a moment the file has two
                // names, and nobody reads it.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    linkat(&parent, &*temporary, &parent, name, AtFlags::empty())?;
                    Ok(unlinkat(&parent, &*temporary, AtFlags::empty())?)
                }
                renamed => Ok(renamed?),
            }
        };
        let made = write().inspect_err(|_| {
            // Only here it is still there: after a rename, the name may be somebody else's already.
            let _ = unlinkat(&parent, &*temporary, AtFlags::empty());
        });
        made.map_err(|error| self.error("create", inner, error.into()))?;
        if durability == Durability::Sync { self.sync() } else { Ok(()) }
    }

    /// Replaces a file again and again: the old one becomes the place for the next.
    ///
    /// A new file each time would cost more and more, for disks do not like to reuse what was just deleted.
    pub fn exchange(&self, inner: impl AsRef<Path>, content: &[u8]) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = self.parent("write", inner)?;
        let spare = added(name, ".tmp");
        let write = || -> io::Result<()> {
            let mut file = self.spare(parent.as_fd(), &spare)?;
            file.write_all(content)?;
            file.set_len(content.len() as u64)?;
            // The first time there is nothing to exchange, and some disks and systems cannot.
            match exchange(parent.as_fd(), &spare, name) {
                Ok(()) => Ok(()),
                Err(_) => Ok(renameat(&parent, &*spare, &parent, name)?),
            }
        };
        write().map_err(self.io("write", inner))
    }

    /// Removes what [`Folder::exchange`] keeps beside a file.
    pub fn remove_spare(&self, inner: impl AsRef<Path>) -> Result<(), StateError> {
        self.remove_file(added(inner.as_ref().as_os_str(), ".tmp"))
    }

    /// Removes a file or a link; nothing there is as good.
    pub fn remove_file(&self, inner: impl AsRef<Path>) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = match self.parent("remove", inner) {
            Err(error) if error.is_missing() => return Ok(()),
            other => other?,
        };
        match unlinkat(&parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.blame("remove", inner, Wanted::File, error)),
        }
    }

    /// The file that was replaced last, if it is still what it was.
    fn spare(&self, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | FILE;
        let opened = openat(folder, name, flags, self.access().file());
        let is_sound = |file: &OwnedFd| {
            fstat(file).is_ok_and(|found| {
                FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
                    && found.st_nlink == 1
                    && found.st_uid == geteuid().as_raw()
            })
        };
        match opened {
            Ok(file) if is_sound(&file) => Ok(File::from(file)),
            _ => Ok(self.create_anew_at(folder, name)?),
        }
    }

    fn put(
        &self,
        folder: BorrowedFd<'_>,
        (temporary, name): (&OsStr, &OsStr),
        (mut file, content): (File, &[u8]),
        durability: Durability,
    ) -> io::Result<()> {
        let mut write = || -> io::Result<()> {
            file.write_all(content)?;
            if durability == Durability::Sync {
                file.sync_data()?;
            }
            Ok(renameat(folder, temporary, folder, name)?)
        };
        write().inspect_err(|_| {
            // What went wrong matters more than a leftover.
            let _ = unlinkat(folder, temporary, AtFlags::empty());
        })
    }

    /// A new file beside another one, with a name that nobody else has.
    fn create_temporary(
        &self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
    ) -> Result<(File, OsString), Errno> {
        let mut attempt = 0_u32;
        loop {
            let temporary = added(name, format!(".{}-{attempt}.tmp", std::process::id()));
            match self.create_at(folder, &temporary) {
                Err(Errno::EXIST) if attempt < u32::MAX => attempt += 1,
                made => return made.map(|file| (file, temporary)),
            }
        }
    }

    fn create_at(&self, folder: BorrowedFd<'_>, name: &OsStr) -> Result<File, Errno> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL | FILE;
        openat(folder, name, flags, self.access().file()).map(File::from)
    }

    fn create_anew_at(&self, folder: BorrowedFd<'_>, name: &OsStr) -> Result<File, Errno> {
        match self.create_at(folder, name) {
            Err(Errno::EXIST) => {
                unlinkat(folder, name, AtFlags::empty())?;
                self.create_at(folder, name)
            }
            other => other,
        }
    }

    fn open_plain(
        &self,
        inner: &Path,
        doing: &'static str,
        flags: OFlags,
        allowed: Names,
    ) -> Result<File, StateError> {
        let _ = names(inner).map_err(|cause| self.error(doing, inner, cause))?;
        let file = beneath::open(self.as_fd(), inner, flags | FILE)
            .map_err(|error| self.blame(doing, inner, Wanted::File, error))?;
        let found = fstat(&file).map_err(|error| self.error(doing, inner, error.into()))?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(self.error(doing, inner, Cause::NotAFile));
        }
        // None at all: it was replaced just now, and what was opened is still whole.
        if allowed == Names::One && found.st_nlink > 1 {
            return Err(self.error(doing, inner, Cause::ManyNames));
        }
        Ok(File::from(file))
    }

    fn check_ours(&self, inner: &Path, file: &File) -> Result<(), StateError> {
        let found = fstat(file).map_err(|error| self.error("write", inner, error.into()))?;
        match found.st_uid == geteuid().as_raw() {
            true => Ok(()),
            false => Err(self.error("write", inner, Cause::NotOurs)),
        }
    }

    fn read_whole(&self, inner: &Path, file: &File, limit: u64) -> Result<Vec<u8>, StateError> {
        let read = || -> io::Result<Option<Vec<u8>>> {
            let size = file.metadata()?.len();
            if size > limit {
                return Ok(None);
            }
            let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
            // It may have grown since it was measured.
            file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
            Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= limit))
        };
        match read().map_err(self.io("read", inner))? {
            Some(bytes) => Ok(bytes),
            None => Err(self.error("read", inner, Cause::TooLarge { limit })),
        }
    }
}

fn added(name: &OsStr, ending: impl AsRef<OsStr>) -> OsString {
    let mut name = name.to_owned();
    name.push(ending);
    name
}

fn is_denied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

#[cfg(test)]
mod tests;
