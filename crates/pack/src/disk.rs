//! Everything that this crate does to the file system, one operation at a time.
//!
//! Invariant: nothing else in the crate changes a file of an installation. Each operation asks the
//! hook first, so that a test can stop the program before any of them.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;
use rustix::io::Errno;

use crate::material::Mode;
use crate::platform;

/// What is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Makes a folder.
    CreateFolder(&'a Path),
    /// Makes an empty file.
    CreateFile(&'a Path),
    /// Adds bytes to a file that was made.
    Write(&'a Path),
    /// Gives a file or folder another place.
    Rename(&'a Path),
    /// Swaps two folders.
    Exchange(&'a Path),
    /// Removes a file or an empty folder.
    Remove(&'a Path),
    /// Waits until what was written is on the device.
    Sync(&'a Path),
}

type Hook = Arc<dyn Fn(Operation<'_>) -> io::Result<()> + Send + Sync>;

/// The file system, as this crate may change it.
#[derive(Clone, Default)]
pub struct Disk {
    hook: Option<Hook>,
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("hooked", &self.hook.is_some()).finish()
    }
}

impl Disk {
    /// A file system where `hook` is asked before every operation.
    pub fn with_hook(
        hook: impl Fn(Operation<'_>) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { hook: Some(Arc::new(hook)) }
    }

    fn ask(&self, operation: Operation<'_>) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook(operation))
    }

    /// Makes a folder and those above it; links on the way are followed, as the user set them up.
    pub(crate) fn create_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.create_folder(parent)?;
        }
        self.ask(Operation::CreateFolder(path))?;
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            other => other,
        }
    }

    /// Makes a new file; nothing may be in its place.
    pub(crate) fn create_file(&self, path: &Path, mode: Mode) -> io::Result<NewFile<'_>> {
        self.ask(Operation::CreateFile(path))?;
        let file = OpenOptions::new().write(true).create_new(true).mode(mode.bits()).open(path)?;
        // Whatever the user's mask takes away.
        if file.metadata()?.permissions().mode() & 0o777 != mode.bits() {
            file.set_permissions(Permissions::from_mode(mode.bits()))?;
        }
        Ok(NewFile { disk: self, path: path.to_owned(), file })
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.ask(Operation::Rename(to))?;
        fs::rename(from, to)
    }

    /// Swaps two folders at once, so that there is no moment without either of them. Answers whether
    /// that can be done here.
    pub(crate) fn exchange(&self, one: &Path, other: &Path) -> io::Result<bool> {
        self.ask(Operation::Exchange(other))?;
        match platform::exchange(one, other) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes whatever is at `path`, with everything below it; links are removed, never followed.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if !found.is_dir() {
            self.ask(Operation::Remove(path))?;
            return fs::remove_file(path);
        }
        let read = fs::read_dir(path);
        // A folder that cannot be listed can be made so by its owner.
        let read = match read {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                fs::set_permissions(path, Permissions::from_mode(0o755))?;
                fs::read_dir(path)
            }
            other => other,
        };
        for entry in read? {
            self.remove(&entry?.path())?;
        }
        self.ask(Operation::Remove(path))?;
        fs::remove_dir(path)
    }

    /// Removes a folder if nothing is in it; a link is none.
    pub(crate) fn remove_if_empty(&self, path: &Path) -> io::Result<()> {
        let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
        let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if !is_folder || !is_empty() {
            return Ok(());
        }
        self.ask(Operation::Remove(path))?;
        fs::remove_dir(path)
    }

    pub(crate) fn sync_path(&self, path: &Path) -> io::Result<()> {
        self.ask(Operation::Sync(path))?;
        File::open(path)?.sync_all()
    }

    /// Waits for everything on the file system of `path`: one wait for a thousand files. Answers whether
    /// that can be done here.
    pub(crate) fn sync_everything(&self, path: &Path) -> io::Result<bool> {
        self.ask(Operation::Sync(path))?;
        match platform::sync_file_system(&File::open(path)?) {
            Ok(()) => Ok(true),
            Err(Errno::NOSYS) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Opens a file that may be a stranger's: nothing is followed or waited for, and what is no file is none.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let careful = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(careful).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file")),
    }
}

/// Reads such a file, unless it is larger than `limit`.
pub(crate) fn read_plain(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_plain(path)?.take(limit + 1).read_to_end(&mut content)?;
    match content.len() as u64 > limit {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large")),
        false => Ok(content),
    }
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct NewFile<'a> {
    disk: &'a Disk,
    path: std::path::PathBuf,
    file: File,
}

impl NewFile<'_> {
    /// Lets the system begin to write, so that there is less to wait for in the end.
    pub(crate) fn write_soon(&self) {
        platform::write_soon(&self.file);
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.ask(Operation::Sync(&self.path))?;
        self.file.sync_all()
    }
}

impl Write for NewFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.ask(Operation::Write(&self.path))?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
