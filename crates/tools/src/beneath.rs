//! Opening files beneath a directory.
//!
//! Invariant: no link is followed, neither at the end of a path nor on the way, and no `..` is
//! accepted. Whatever is renamed or swapped meanwhile, what is opened lies beneath the directory.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, statat};
use rustix::io::Errno;

use crate::platform::open_in_one_call;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens the directory that everything else is beneath.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, FOLDER, Mode::empty())?)
}

/// Opens a directory.
pub(crate) fn open_folder(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    open(root, path, FOLDER)
}

/// A folder that must not be entered, or a file that must not be touched.
#[derive(Debug, thiserror::Error)]
#[error("it is closed to changes")]
pub(crate) struct IsClosed;

impl From<IsClosed> for io::Error {
    fn from(error: IsClosed) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, error)
    }
}

/// What happens where a directory is missing.
#[derive(Clone, Copy)]
pub(crate) enum Missing {
    /// It is an error.
    Fails,
    /// It is made.
    IsMade,
}

/// Opens the directory a file is in, one name after the other; each directory must be let pass first.
pub(crate) fn open_parent<'p>(
    root: BorrowedFd<'_>,
    path: &'p Path,
    missing: Missing,
    pass: impl Fn(&OwnedFd, &OsStr) -> io::Result<()>,
) -> io::Result<(OwnedFd, &'p OsStr)> {
    let (parent, name) = split(path)?;
    let start = openat(root, ".", FOLDER, Mode::empty())?;
    let folder = names(parent)?.try_fold(start, |folder, name| {
        pass(&folder, name)?;
        if let Missing::IsMade = missing {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(io::Error::from(error)),
            }
        }
        Ok(open_in(&folder, name, FOLDER)?)
    })?;
    pass(&folder, name)?;
    Ok((folder, name))
}

/// Opens a regular file for reading; anything else is an error, and nothing blocks.
pub(crate) fn open_file(root: BorrowedFd<'_>, path: &Path) -> io::Result<File> {
    // Without NONBLOCK opening a pipe that nobody writes to would wait for ever.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = open(root, path, flags)?;
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
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

/// Opens something beneath `root`, in one system call where there is one for it.
fn open(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let _ = names(path)?;
    let here = if path == Path::new("") { Path::new(".") } else { path };
    match open_in_one_call(root, here, flags) {
        // Another system, an old kernel, or a container whose filter does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => walk(root, path, flags),
        result => Ok(result?),
    }
}

/// Opens name by name, which any Unix can do.
fn walk(root: BorrowedFd<'_>, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let Ok((parent, name)) = split(path) else {
        return Ok(openat(root, ".", flags, Mode::empty())?);
    };
    let start = openat(root, ".", FOLDER, Mode::empty())?;
    let folder = names(parent)?.try_fold(start, |folder, name| open_in(&folder, name, FOLDER))?;
    Ok(open_in(&folder, name, flags)?)
}

/// Opens what has this name, unless it is a link.
fn open_in(folder: &OwnedFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened = openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty());
    opened.map_err(|error| link_or(error, folder, name))
}

/// Systems have several names for a link in the way.
fn link_or(error: Errno, folder: &OwnedFd, name: &OsStr) -> Errno {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let is_link =
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink);
    if is_link { Errno::LOOP } else { error }
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

#[cfg(test)]
mod tests;
