//! Whole trees: how large they are, and removing them.
//!
//! A script can leave folders nested deeper than any path can say, and folders that nobody may list. So a
//! tree is walked with two handles: down by a name, up by `..`, where it must be the folder we came from.
//!
//! Invariants: no link is followed, no other file system is entered; neither the depth of a tree nor the
//! length of its paths costs more than memory for its names.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat, fchmod, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::beneath::FOLDER;
use crate::error::{Cause, StateError};
use crate::folder::{Folder, identity};
use crate::platform::make_enterable;

/// What tells a folder from others.
type Identity = (u64, u64);

impl Folder {
    /// Removes whatever has this name, with everything below it; nothing there is as good.
    ///
    /// Folders that their owner made unreadable are made readable first. Links are removed, never followed.
    pub fn remove_tree(&self, inner: impl AsRef<Path>) -> Result<(), StateError> {
        let inner = inner.as_ref();
        let (parent, name) = match self.parent("remove", inner) {
            Err(error) if error.is_missing() => return Ok(()),
            other => other?,
        };
        remove(parent.as_fd(), name).map_err(|cause| self.error("remove", inner, cause))
    }

    /// Bytes of the files of a tree, as far as it can be looked at; files with other names elsewhere do not
    /// count.
    pub fn size(&self, inner: impl AsRef<Path>) -> u64 {
        let inner = inner.as_ref();
        let Ok(top) = self.folder(inner) else { return 0 };
        let Ok(found) = fstat(&top) else { return 0 };
        let (mut total, waiting) = measure(top.as_fd(), found.st_dev);
        let mut levels: Vec<(Identity, Vec<OsString>)> = vec![(identity(&found), waiting)];
        let mut current: Option<OwnedFd> = None;
        while let Some((_, waiting)) = levels.last_mut() {
            let here = current.as_ref().map_or(top.as_fd(), AsFd::as_fd);
            if let Some(name) = waiting.pop() {
                let Ok(next) = openat(here, &*name, FOLDER, Mode::empty()) else { continue };
                let Ok(found) = fstat(&next) else { continue };
                let (bytes, waiting) = measure(next.as_fd(), found.st_dev);
                total = total.saturating_add(bytes);
                levels.push((identity(&found), waiting));
                current = Some(next);
                continue;
            }
            levels.pop();
            let Some((above, _)) = levels.last() else { break };
            match up(here, *above) {
                Ok(folder) => current = Some(folder),
                Err(_) => break,
            }
        }
        total
    }
}

/// Bytes of the files of one folder, and the folders in it that can be entered.
fn measure(folder: BorrowedFd<'_>, device: rustix::fs::Dev) -> (u64, Vec<OsString>) {
    let (mut total, mut folders) = (0_u64, Vec::new());
    for name in names(folder).unwrap_or_default() {
        let Ok(found) = statat(folder, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        match FileType::from_raw_mode(found.st_mode) {
            // Without the right to pass through it there would be no way back up.
            FileType::Directory if found.st_dev == device && found.st_mode & 0o100 != 0 => {
                folders.push(name);
            }
            FileType::RegularFile if found.st_nlink == 1 => {
                total = total.saturating_add(u64::try_from(found.st_size).unwrap_or_default());
            }
            _ => {}
        }
    }
    (total, folders)
}

/// One folder on the way down.
struct Level {
    identity: Identity,
    /// In the folder above.
    name: OsString,
    /// Folders in it that are not empty yet.
    waiting: Vec<OsString>,
}

fn remove(top: BorrowedFd<'_>, name: &OsStr) -> Result<(), Cause> {
    if matches!(unlink(top, name)?, Gone::Yes) {
        return Ok(());
    }
    let (mut current, found) = enter(top, name, None)?;
    let waiting = clear(current.as_fd())?;
    let mut levels = vec![Level { identity: identity(&found), name: name.to_owned(), waiting }];
    while let Some(level) = levels.last_mut() {
        if let Some(inner) = level.waiting.pop() {
            let (next, below) = enter(current.as_fd(), &inner, Some(found.st_dev))?;
            let waiting = clear(next.as_fd())?;
            levels.push(Level { identity: identity(&below), name: inner, waiting });
            current = next;
            continue;
        }
        let name = std::mem::take(&mut level.name);
        levels.pop();
        let Some(above) = levels.last() else { break };
        current = up(current.as_fd(), above.identity)?;
        remove_empty(current.as_fd(), &name)?;
    }
    remove_empty(top, name)
}

/// Whether something is gone, or is a folder with more in it.
enum Gone {
    Yes,
    HasMore,
}

/// Removes a file, a link or an empty folder.
fn unlink(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Gone, Cause> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(Gone::Yes),
        // What systems say of folders; the second one also of files that may not be removed.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(Gone::Yes),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(Gone::HasMore),
        Err(Errno::NOTDIR) => Err(Errno::PERM.into()),
        Err(error) => Err(error.into()),
    }
}

fn remove_empty(folder: BorrowedFd<'_>, name: &OsStr) -> Result<(), Cause> {
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Removes everything in a folder but folders that have more in them, which are answered.
fn clear(folder: BorrowedFd<'_>) -> Result<Vec<OsString>, Cause> {
    let mut waiting = Vec::new();
    for name in names(folder)? {
        if matches!(unlink(folder, &name)?, Gone::HasMore) {
            waiting.push(name);
        }
    }
    Ok(waiting)
}

fn names(folder: BorrowedFd<'_>) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}

/// Opens a folder so that what is in it can be removed.
fn enter(
    above: BorrowedFd<'_>,
    name: &OsStr,
    device: Option<rustix::fs::Dev>,
) -> Result<(OwnedFd, Stat), Cause> {
    let folder = match openat(above, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            make_enterable(above, name)?;
            openat(above, name, FOLDER, Mode::empty())?
        }
        opened => opened?,
    };
    let found = fstat(&folder)?;
    if device.is_some_and(|device| device != found.st_dev) {
        return Err(Cause::OtherDisk);
    }
    if Mode::from_raw_mode(found.st_mode) & Mode::RWXU != Mode::RWXU {
        fchmod(&folder, Mode::RWXU)?;
    }
    Ok((folder, found))
}

/// The folder above, if it is the one we came from.
fn up(folder: BorrowedFd<'_>, above: Identity) -> Result<OwnedFd, Cause> {
    let parent = openat(folder, "..", FOLDER, Mode::empty())?;
    match identity(&fstat(&parent)?) == above {
        true => Ok(parent),
        false => Err(Cause::Moved),
    }
}

#[cfg(test)]
mod tests;
