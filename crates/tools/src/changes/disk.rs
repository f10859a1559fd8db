//! Everything that this module does to a workspace and to what is kept of it, one operation at a time.
//!
//! Invariant: nothing else here changes them. Each operation asks the hook first, so that a test can stop the program
//! before any of them.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, Mode, OFlags, RawMode, Timespec, Timestamps, UTIME_OMIT, fchmod, fsync, futimens,
    linkat, mkdirat, openat, renameat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::node::Moment;
use super::path::LinkTarget;
use super::tree::{entry, names};
use crate::platform::files::{self, Place};

/// What is about to be done, for a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Makes a folder.
    CreateFolder(&'a OsStr),
    /// Makes a file or a link.
    Create(&'a OsStr),
    /// Adds bytes to a file that was made.
    Write(&'a OsStr),
    /// Gives a file another place.
    Rename(&'a OsStr),
    /// Swaps two files.
    Exchange(&'a OsStr),
    /// Changes who may use a folder.
    Mode(&'a OsStr),
    /// Removes a file or an empty folder.
    Remove(&'a OsStr),
    /// Waits until what was written is on the device.
    Sync,
}

type Hook = Arc<dyn Fn(Operation<'_>) -> io::Result<()> + Send + Sync>;

/// The file system, as this module may change it.
#[derive(Clone, Default)]
pub struct Disk {
    hook: Option<Hook>,
    /// Whether it does without what only some file systems can do at once.
    is_plain: bool,
}

impl fmt::Debug for Disk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Disk").field("hooked", &self.hook.is_some()).finish()
    }
}

/// A new file's mode and time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dress {
    pub(super) mode: u32,
    pub(super) modified: Option<Moment>,
}

impl Disk {
    /// A file system where `hook` is asked before every operation.
    pub fn with_hook(
        hook: impl Fn(Operation<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { hook: Some(Arc::new(hook)), is_plain: false }
    }

    /// The same, as on a file system that cannot swap files.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { is_plain: true, ..self }
    }

    fn ask(&self, operation: Operation<'_>) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook(operation))
    }

    /// Makes a folder for the user alone.
    pub(super) fn create_folder(&self, (above, name): Place<'_>) -> io::Result<()> {
        self.ask(Operation::CreateFolder(name))?;
        Ok(mkdirat(above, name, Mode::RWXU)?)
    }

    pub(super) fn create_file(&self, (folder, name): Place<'_>) -> io::Result<File> {
        self.ask(Operation::Create(name))?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    pub(super) fn create_link(
        &self,
        (folder, name): Place<'_>,
        target: &LinkTarget,
    ) -> io::Result<()> {
        self.ask(Operation::Create(name))?;
        Ok(symlinkat(target.as_bytes(), folder, name)?)
    }

    pub(super) fn write(&self, name: &OsStr, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        self.ask(Operation::Write(name))?;
        file.write_all(bytes)
    }

    /// Lets a new file share the content of another one; answers whether that can be done here.
    pub(super) fn clone_content(&self, name: &OsStr, from: &File, to: &File) -> io::Result<bool> {
        self.ask(Operation::Write(name))?;
        Ok(files::clone_content(from, to).is_ok())
    }

    /// Gives a new file its mode and time.
    pub(super) fn dress(&self, file: &File, dress: Dress) -> io::Result<()> {
        fchmod(file, Mode::from_raw_mode(dress.mode as RawMode))?;
        let Some((seconds, nanoseconds)) = dress.modified else { return Ok(()) };
        let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let modified = Timespec { tv_sec: seconds, tv_nsec: nanoseconds.into() };
        Ok(futimens(file, &Timestamps { last_access: omit, last_modification: modified })?)
    }

    /// Replaces a file of this program's own, on the device at once.
    pub(super) fn replace(&self, (folder, name): Place<'_>, content: &[u8]) -> io::Result<()> {
        let mut temporary = name.to_owned();
        temporary.push(".tmp");
        match unlinkat(folder, &*temporary, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let file = self.create_file((folder, &temporary))?;
        self.write(&temporary, &file, content)?;
        self.sync(file.as_fd())?;
        self.rename((folder, &temporary), (folder, name))?;
        self.sync(folder)
    }

    pub(super) fn rename(&self, from: Place<'_>, to: Place<'_>) -> io::Result<()> {
        self.ask(Operation::Rename(to.1))?;
        Ok(renameat(from.0, from.1, to.0, to.1)?)
    }

    /// Gives a file another place, unless something is there already.
    pub(super) fn rename_new(&self, from: Place<'_>, to: Place<'_>) -> io::Result<()> {
        self.ask(Operation::Rename(to.1))?;
        let renamed = || files::rename_new(from, to);
        match if self.is_plain { Err(Errno::NOSYS) } else { renamed() } {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return Ok(renamed?),
        }
        // A link takes no other file's place either. Where there are none, look first.
        self.ask(Operation::Create(to.1))?;
        match linkat(from.0, from.1, to.0, to.1, AtFlags::empty()) {
            Ok(()) => return self.remove(from),
            Err(Errno::EXIST) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => {}
        }
        match entry(to.0, to.1)? {
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            None => self.rename(from, to),
        }
    }

    /// Swaps two files; where that cannot be done at once, through a third name beside the first.
    pub(super) fn exchange(&self, one: Place<'_>, other: Place<'_>) -> io::Result<()> {
        self.ask(Operation::Exchange(other.1))?;
        let exchanged = || files::exchange(one, other);
        match if self.is_plain { Err(Errno::NOSYS) } else { exchanged() } {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            exchanged => return Ok(exchanged?),
        }
        let mut third = one.1.to_owned();
        third.push(".old");
        let third: Place<'_> = (one.0, &third);
        self.ask(Operation::Create(third.1))?;
        let linked = linkat(other.0, other.1, third.0, third.1, AtFlags::empty());
        if linked.is_err() {
            self.rename(other, third)?;
        }
        self.rename(one, other)?;
        self.rename(third, one)
    }

    pub(super) fn set_mode(&self, folder: Place<'_>, mode: u32) -> io::Result<()> {
        self.ask(Operation::Mode(folder.1))?;
        Ok(files::set_folder_mode(folder, Mode::from_raw_mode(mode as RawMode))?)
    }

    pub(super) fn remove(&self, (folder, name): Place<'_>) -> io::Result<()> {
        self.ask(Operation::Remove(name))?;
        Ok(unlinkat(folder, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(&self, (folder, name): Place<'_>) -> io::Result<()> {
        self.ask(Operation::Remove(name))?;
        Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
    }

    /// Removes a folder of this program's own with the files and folders of files in it.
    pub(super) fn remove_all(&self, place: Place<'_>) -> io::Result<()> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(place.0, place.1, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for name in names(&folder)? {
            match self.remove((folder.as_fd(), &name)) {
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                    self.remove_all((folder.as_fd(), &name))?;
                }
                removed => removed?,
            }
        }
        self.remove_folder(place)
    }

    pub(super) fn sync(&self, file: BorrowedFd<'_>) -> io::Result<()> {
        self.ask(Operation::Sync)?;
        Ok(fsync(file)?)
    }

    /// Waits for everything on a file system: one wait for a thousand files. Answers whether that can be done here.
    pub(super) fn sync_everything(&self, folder: &OwnedFd) -> io::Result<bool> {
        self.ask(Operation::Sync)?;
        match files::sync_file_system(folder.as_fd()) {
            Ok(()) => Ok(true),
            Err(Errno::NOSYS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
