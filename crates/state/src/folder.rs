//! A folder of state, open.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, fsync, linkat, mkdirat, openat,
    renameat, statat,
};
use rustix::io::Errno;

use crate::beneath::{self, FOLDER, Wanted, blame};
use crate::error::{Cause, StateError};
use crate::inner::{chosen, names, split};

/// A folder of state: everything in it is reached through this handle.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    /// For words; nothing is opened by it.
    path: PathBuf,
    access: Access,
}

/// For whom new files and folders are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// For whom the user's mask says.
    Mask,
    /// For the user alone.
    Private,
}

impl Access {
    fn folder(self) -> Mode {
        Mode::from_raw_mode(if self == Self::Private { 0o700 } else { 0o777 })
    }

    pub(crate) fn file(self) -> Mode {
        Mode::from_raw_mode(if self == Self::Private { 0o600 } else { 0o666 })
    }
}

/// What has a name in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// A plain file.
    File {
        /// How many names it has.
        names: u64,
    },
    /// A folder.
    Folder,
    /// A link, a pipe, a device, a socket.
    Other,
}

impl Folder {
    /// A folder that the user chose, such as a home: links on the way to it are theirs.
    pub fn at(path: &Path) -> Result<Self, StateError> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let path = if path == Path::new("") { Path::new(".") } else { path };
        match openat(CWD, path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle, path: path.to_owned(), access: Access::Mask }),
            Err(error) => {
                let cause = match error {
                    Errno::NOTDIR => Cause::NotAFolder,
                    error => error.into(),
                };
                Err(StateError { doing: "open", path: path.to_owned(), cause })
            }
        }
    }

    /// The same, made where it is missing.
    pub fn at_or_new(path: &Path) -> Result<Self, StateError> {
        match Self::at(path) {
            Err(error) if error.is_missing() => {}
            opened => return opened,
        }
        std::fs::create_dir_all(path).map_err(|error| StateError {
            doing: "create",
            path: path.to_owned(),
            cause: error.into(),
        })?;
        Self::at(path)
    }

    /// The folder that a file is in which the user chose, and the file's name there.
    pub fn around(file: &Path) -> Result<(Self, &OsStr), StateError> {
        let outside = || StateError { doing: "open", path: file.to_owned(), cause: Cause::Outside };
        let name = file.file_name().ok_or_else(outside)?;
        Ok((Self::at(file.parent().unwrap_or(Path::new(".")))?, name))
    }

    /// A folder of state by its path. What comes before the last `.agent` is the user's choice; from there
    /// on nothing may be a link.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let (base, inner) = chosen(path);
        let base = Self::at(base)?;
        match inner {
            None => Ok(base),
            Some(inner) => base.folder(inner),
        }
    }

    /// The same, made where it is missing.
    pub fn create(path: &Path) -> Result<Self, StateError> {
        let (base, inner) = chosen(path);
        let base = Self::at_or_new(base)?;
        match inner {
            None => Ok(base),
            Some(inner) => base.create_folder(inner, Access::Mask),
        }
    }

    /// The same folder, where whatever is made is for the user alone.
    pub fn private(self) -> Self {
        Self { access: Access::Private, ..self }
    }

    /// Where it is, for words.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is without any link on the way, for those who can only work with paths.
    pub fn real_path(&self) -> Result<PathBuf, StateError> {
        let find = || -> Result<PathBuf, Cause> {
            let real = self.path.canonicalize()?;
            let found = openat(CWD, &real, FOLDER, Mode::empty())?;
            match identity(&fstat(&found)?) == identity(&fstat(&self.handle)?) {
                true => Ok(real),
                false => Err(Cause::Moved),
            }
        };
        find().map_err(|cause| self.error("find", Path::new(""), cause))
    }

    /// A folder in it.
    pub fn folder(&self, inner: impl AsRef<Path>) -> Result<Self, StateError> {
        let inner = inner.as_ref();
        let _ = names(inner).map_err(|cause| self.error("open", inner, cause))?;
        let opened = beneath::open(self.as_fd(), inner, FOLDER);
        let handle = opened.map_err(|error| self.blame("open", inner, Wanted::Folder, error))?;
        Ok(Self { handle, path: self.path.join(inner), access: self.access })
    }

    /// A folder in it, made with those on the way where they are missing.
    pub fn create_folder(
        &self,
        inner: impl AsRef<Path>,
        access: Access,
    ) -> Result<Self, StateError> {
        let inner = inner.as_ref();
        match self.folder(inner) {
            Err(error) if error.is_missing() => {}
            opened => return opened.map(|folder| Self { access, ..folder }),
        }
        let names = names(inner).map_err(|cause| self.error("create", inner, cause))?;
        let mut made: Option<Self> = None;
        for name in names {
            let above = made.as_ref().unwrap_or(self);
            let next = match above.new_folder(name, access) {
                Err(error) if error.is_taken() => above.folder(name)?,
                other => other?,
            };
            made = Some(Self { access, ..next });
        }
        made.ok_or_else(|| self.error("create", inner, Cause::Outside))
    }

    /// A folder in it; nothing may be in its place.
    pub fn new_folder(&self, name: impl AsRef<Path>, access: Access) -> Result<Self, StateError> {
        let inner = name.as_ref();
        let (parent, name) = self.parent("create", inner)?;
        mkdirat(&parent, name, access.folder())
            .map_err(|error| self.error("create", inner, error.into()))?;
        let opened = openat(&parent, name, FOLDER, Mode::empty());
        let handle = opened.map_err(|error| self.blame("open", inner, Wanted::Folder, error))?;
        Ok(Self { handle, path: self.path.join(inner), access })
    }

    /// The names of everything in it, in no order.
    pub fn names(&self) -> Result<Vec<OsString>, StateError> {
        let list = || -> Result<Vec<OsString>, Errno> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.handle)? {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name != b"." && name != b".." {
                    names.push(OsStr::from_bytes(name).to_owned());
                }
            }
            Ok(names)
        };
        list().map_err(|error| self.error("list", Path::new(""), error.into()))
    }

    /// What has this name; nothing if nothing has.
    pub fn find(&self, inner: impl AsRef<Path>) -> Result<Option<Found>, StateError> {
        let inner = inner.as_ref();
        let (parent, name) = match self.parent("find", inner) {
            Err(error) if error.is_missing() => return Ok(None),
            other => other?,
        };
        match statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.error("find", inner, error.into())),
            Ok(found) => Ok(Some(match FileType::from_raw_mode(found.st_mode) {
                #[allow(clippy::useless_conversion, reason = "its type depends on the system")]
                FileType::RegularFile => Found::File { names: found.st_nlink.into() },
                FileType::Directory => Found::Folder,
                _ => Found::Other,
            })),
        }
    }

    /// Gives something in this folder another name in it; a file that has the name already is replaced.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<(), StateError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let (old, name) = self.parent("rename", from)?;
        let (new, new_name) = self.parent("rename", to)?;
        renameat(&old, name, &new, new_name)
            .map_err(|error| self.error("rename", from, error.into()))
    }

    /// Gives a file a second name in another folder; the caller sees to it that both may be read shared.
    pub fn link(
        &self,
        from: impl AsRef<Path>,
        folder: &Self,
        to: impl AsRef<Path>,
    ) -> Result<(), StateError> {
        let (old, name) = self.parent("link", from.as_ref())?;
        let (new, new_name) = folder.parent("link", to.as_ref())?;
        linkat(&old, name, &new, new_name, AtFlags::empty())
            .map_err(|error| self.error("link", from.as_ref(), error.into()))
    }

    /// Waits until what it lists is on disk.
    pub fn sync(&self) -> Result<(), StateError> {
        fsync(&self.handle).map_err(|error| self.error("write", Path::new(""), error.into()))
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    /// The folder that something is in, and its name there.
    pub(crate) fn parent<'a>(
        &'a self,
        doing: &'static str,
        inner: &'a Path,
    ) -> Result<(Parent<'a>, &'a OsStr), StateError> {
        let (parent, name) = split(inner).map_err(|cause| self.error(doing, inner, cause))?;
        let Some(parent) = parent else { return Ok((Parent::Own(self.as_fd()), name)) };
        let opened = beneath::open(self.as_fd(), parent, FOLDER);
        let handle = opened.map_err(|error| self.blame(doing, parent, Wanted::Folder, error))?;
        Ok((Parent::Opened(handle), name))
    }

    pub(crate) fn error(&self, doing: &'static str, inner: &Path, cause: Cause) -> StateError {
        let path = if inner == Path::new("") { self.path.clone() } else { self.path.join(inner) };
        StateError { doing, path, cause }
    }

    pub(crate) fn io(
        &self,
        doing: &'static str,
        inner: &Path,
    ) -> impl Fn(io::Error) -> StateError + use<'_> {
        let path = self.path.join(inner);
        move |error| StateError { doing, path: path.clone(), cause: error.into() }
    }

    pub(crate) fn blame(
        &self,
        doing: &'static str,
        inner: &Path,
        wanted: Wanted,
        error: Errno,
    ) -> StateError {
        blame((self.as_fd(), &self.path), inner, (doing, wanted), error)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// The folder that something is in.
pub(crate) enum Parent<'a> {
    Own(BorrowedFd<'a>),
    Opened(OwnedFd),
}

impl AsFd for Parent<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Own(handle) => *handle,
            Self::Opened(handle) => handle.as_fd(),
        }
    }
}

/// What tells one folder from another, whatever its name.
#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_cast,
    reason = "types depend on the system"
)]
pub(crate) fn identity(found: &Stat) -> (u64, u64) {
    (found.st_dev as u64, found.st_ino as u64)
}

#[cfg(test)]
mod tests;
