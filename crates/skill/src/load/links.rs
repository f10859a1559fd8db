//! Opening a skill's folder, and a `SKILL.md` that is a link.
//!
//! Invariant: what is opened lies within the skill's root as it was, or behind a link that the index
//! recorded; after that was checked, no link is followed any more.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::entry::Entry;
use crate::platform::{PASSING, open_in_one_call};

/// Folders and files within which a skill may really be.
#[derive(Debug)]
pub(super) struct Bounds(Vec<PathBuf>);

impl Bounds {
    pub(super) fn of(entry: &Entry) -> Self {
        let recorded = entry.links.iter().map(|link| link.target.clone());
        Self(std::iter::once(entry.root.to_path_buf()).chain(recorded).collect())
    }

    /// Opens what `path` leads to; `None` if that is out of bounds.
    pub(super) fn open(&self, path: &Path, flags: OFlags) -> io::Result<Option<File>> {
        let real = path.canonicalize()?;
        if !self.0.iter().any(|bound| real.starts_with(bound)) {
            return Ok(None);
        }
        match open_without_links(&real, flags | OFlags::CLOEXEC) {
            Ok(file) => Ok(Some(file.into())),
            // Since it was resolved, a part of it became a link.
            Err(Errno::LOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match open_in_one_call(path, flags) {
        // Old kernels and other systems do not have it, and some sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_name_by_name(path, flags),
        opened => opened,
    }
}

/// What any Unix can do.
fn open_name_by_name(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let passing = PASSING | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut opened: Option<OwnedFd> = None;
    let mut names = path.iter().peekable();
    while let Some(name) = names.next() {
        let above = opened.as_ref().map_or(CWD, AsFd::as_fd);
        let flags = if names.peek().is_some() { passing } else { flags };
        let next = openat(above, name, flags | OFlags::NOFOLLOW, Mode::empty());
        opened = Some(next.map_err(|error| link_or(error, above, name))?);
    }
    opened.ok_or(Errno::NOENT)
}

/// Systems have several names for a link in the way.
fn link_or(error: Errno, above: BorrowedFd<'_>, name: &OsStr) -> Errno {
    let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW);
    let is_link =
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink);
    if is_link { Errno::LOOP } else { error }
}

#[cfg(test)]
mod tests;
