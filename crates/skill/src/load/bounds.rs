//! Opening a skill's folder, and a `SKILL.md` that is a link.
//!
//! Invariant: what is opened lies within the skill's root as it was, or behind a link that the index
//! recorded; after that was checked, no link is followed any more.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::index::Entry;

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

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Old kernels do not have it, and some sandboxes forbid it.
        Err(Errno::NOSYS | Errno::PERM) => open_last_without_link(path, flags),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_last_without_link(path, flags)
}

fn open_last_without_link(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())
}
