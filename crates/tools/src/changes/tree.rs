//! A folder with all that is in it, read through its handle.
//!
//! Invariant: no link is followed beneath the root, and nothing that is opened can make the program wait.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Stat, readlinkat, statat};
use rustix::io::Errno;

use super::error::{ChangesError, Doing};
use super::node::Stamp;
use super::path::{LayerPath, LinkTarget};
use crate::beneath;

/// The root of a workspace or of a layer, open.
#[derive(Debug)]
pub(super) struct Tree {
    handle: OwnedFd,
    path: PathBuf,
}

impl Tree {
    /// Opens a folder that the user or the program chose: links on the way to it are theirs.
    pub(super) fn open(path: &Path) -> Result<Self, ChangesError> {
        let open = || -> io::Result<Self> {
            let path = fs::canonicalize(path)?;
            Ok(Self { handle: beneath::open_root(&path)?, path })
        };
        open().doing("open", path)
    }

    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    pub(super) fn root_path(&self) -> &Path {
        &self.path
    }

    /// A path in it, for words.
    pub(super) fn full(&self, path: &LayerPath) -> PathBuf {
        self.path.join(path.as_path())
    }

    /// Opens a folder in it, or itself.
    pub(super) fn folder(&self, path: Option<&LayerPath>) -> io::Result<OwnedFd> {
        beneath::open_folder(self.root(), path.map_or(Path::new(""), LayerPath::as_path))
    }

    /// The same; none where nothing is, or no folder.
    pub(super) fn folder_if_any(&self, path: Option<&LayerPath>) -> io::Result<Option<OwnedFd>> {
        match self.folder(path) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if is_missing(&error) || is_link(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What is at a path; nothing where a folder on the way is missing, an error where one is a link.
    pub(super) fn stat(&self, path: &LayerPath) -> io::Result<Option<Stat>> {
        match self.folder(path.parent().as_ref()) {
            Ok(folder) => entry(folder.as_fd(), path.name()),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn stamp(&self, path: &LayerPath) -> io::Result<Option<Stamp>> {
        Ok(self.stat(path)?.as_ref().map(Stamp::of))
    }

    /// Opens a regular file.
    pub(super) fn file(&self, path: &LayerPath) -> io::Result<File> {
        beneath::open_file(self.root(), path.as_path())
    }

    /// Reads a file, unless it has more bytes than `limit`.
    pub(super) fn read(&self, path: &LayerPath, limit: u64) -> io::Result<Option<Vec<u8>>> {
        Ok(beneath::read_whole(&mut self.file(path)?, limit)?.ok())
    }

    /// What a link points to.
    pub(super) fn link(&self, path: &LayerPath) -> io::Result<LinkTarget> {
        let folder = self.folder(path.parent().as_ref())?;
        link_target(folder.as_fd(), path.name())
    }
}

/// What a link in a folder points to.
pub(super) fn link_target(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<LinkTarget> {
    Ok(LinkTarget::new(readlinkat(folder, name, Vec::new())?.into_bytes()))
}

/// What has a name in a folder.
pub(super) fn entry(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<Stat>> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The names in a folder.
pub(super) fn names(folder: &OwnedFd) -> io::Result<Vec<Box<OsStr>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(OsStr::from_bytes(name).into());
        }
    }
    Ok(names)
}

pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(super) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}
