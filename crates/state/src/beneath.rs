//! Opening something beneath a folder without following a link.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::error::{Cause, StateError};
use crate::inner::{names, split};
use crate::platform::open_in_one_call;

/// How folders are opened: to list, to wait for, to go on from.
pub(crate) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How files are opened: without NONBLOCK a pipe would be waited for, without NOCTTY a terminal taken.
pub(crate) const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens what exists; an error says nothing about which name on the way is to blame, see [`blame`].
pub(crate) fn open(root: BorrowedFd<'_>, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // A single name needs no help: there is nothing on the way.
    if inner.parent() != Some(Path::new("")) {
        return match open_in_one_call(root, inner, flags) {
            // A system or an old kernel without such a call, a container whose filter does not know it, or
            // others who never rest.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => name_by_name(root, inner, flags),
            result => result,
        };
    }
    openat(root, inner, flags, Mode::empty())
}

/// What any Unix can do.
fn name_by_name(root: BorrowedFd<'_>, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (parent, name) = split(inner).map_err(|_| Errno::XDEV)?;
    let Some(parent) = parent else { return openat(root, name, flags, Mode::empty()) };
    let mut above: Option<OwnedFd> = None;
    for name in names(parent).map_err(|_| Errno::XDEV)? {
        above = Some(match &above {
            None => openat(root, name, FOLDER, Mode::empty())?,
            Some(folder) => openat(folder, name, FOLDER, Mode::empty())?,
        });
    }
    match above {
        None => openat(root, name, flags, Mode::empty()),
        Some(folder) => openat(&folder, name, flags, Mode::empty()),
    }
}

/// What was wanted of the last name on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    File,
    Folder,
}

/// An error with the name on the way that is to blame for it.
pub(crate) fn blame(
    (root, place): (BorrowedFd<'_>, &Path),
    inner: &Path,
    (doing, wanted): (&'static str, Wanted),
    error: Errno,
) -> StateError {
    let at = |path: PathBuf, cause| StateError { doing, path: place.join(path), cause };
    if !matches!(error, Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::ISDIR | Errno::MLINK) {
        return at(inner.to_owned(), error.into());
    }
    let Ok(names) = names(inner) else { return at(inner.to_owned(), Cause::Outside) };
    let mut path = PathBuf::new();
    for name in names {
        path.push(name);
        let found = statat(root, &path, AtFlags::SYMLINK_NOFOLLOW);
        let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
        match kind {
            Ok(FileType::Symlink) => return at(path, Cause::Link),
            Ok(FileType::Directory) => {}
            Ok(_) if path != inner => return at(path, Cause::NotAFolder),
            Ok(_) | Err(_) => {}
        }
    }
    let cause = match wanted {
        Wanted::File => Cause::NotAFile,
        Wanted::Folder => Cause::NotAFolder,
    };
    at(path, cause)
}

#[cfg(test)]
mod tests;
