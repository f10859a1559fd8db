//! Opening files beneath a directory.
//!
//! Invariant: no link is followed, neither at the end of a path nor on the way, and no `..` is
//! accepted. Whatever is renamed or swapped meanwhile, what is opened lies beneath the directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{FileType, Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the directory that everything else is beneath.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(rustix::fs::CWD, path, FOLDER, Mode::empty())?)
}

/// Opens a directory.
pub(crate) fn open_folder(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    names(path)?.try_fold(openat(root, ".", FOLDER, Mode::empty())?, |folder, name| {
        Ok(openat(&folder, name, FOLDER, Mode::empty())?)
    })
}

/// Opens the directory a file is in, creating the directories that are missing.
pub(crate) fn create_parent<'p>(
    root: BorrowedFd<'_>,
    path: &'p Path,
) -> io::Result<(OwnedFd, &'p OsStr)> {
    let (parent, name) = split(path)?;
    let start = openat(root, ".", FOLDER, Mode::empty())?;
    let folder = names(parent)?.try_fold(start, |folder, name| {
        match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(openat(&folder, name, FOLDER, Mode::empty())?),
            Err(error) => Err(io::Error::from(error)),
        }
    })?;
    Ok((folder, name))
}

/// Opens the directory a file is in.
pub(crate) fn open_parent<'p>(
    root: BorrowedFd<'_>,
    path: &'p Path,
) -> io::Result<(OwnedFd, &'p OsStr)> {
    let (parent, name) = split(path)?;
    Ok((open_folder(root, parent)?, name))
}

/// Opens a regular file for reading; anything else is an error, and nothing blocks.
pub(crate) fn open_file(root: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    let (folder, name) = open_parent(root, path)?;
    open_file_in(folder.as_fd(), name)
}

/// Opens a regular file of a directory for reading.
pub(crate) fn open_file_in(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    // Without NONBLOCK opening a pipe that nobody writes to would wait for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    match FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Reads a file if it has at most so many bytes; if it has more, their number is the error.
pub(crate) fn read_whole(file: &mut File, limit: u64) -> io::Result<Result<Vec<u8>, u64>> {
    let size = file.metadata()?.len();
    if size > limit {
        return Ok(Err(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // It may have grown since it was measured.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > limit { Err(bytes.len() as u64) } else { Ok(bytes) })
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(io::ErrorKind::IsADirectory.into()),
    }
}

/// The names on a path that has nothing but names.
fn names(path: &Path) -> io::Result<impl Iterator<Item = &OsStr>> {
    if path.components().any(|component| !matches!(component, Component::Normal(_))) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not a plain one"));
    }
    Ok(path.components().map(Component::as_os_str))
}
