//! Where a run's changes are.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::Stat;

use super::node::{Kind, Stamp};
use crate::platform::files::{is_marked_deletion, overlay_mark};

/// Where a run's changes are. Nothing is mounted and nobody writes while it is looked at.
#[derive(Clone, Copy, Debug)]
pub enum Layer<'a> {
    /// The upper folder of an overlay.
    Overlay {
        /// The folder.
        upper: &'a Path,
    },
    /// A copy of the workspace. What was not copied is not in the run's [`Base`](super::Base), and so never counts as
    /// deleted.
    Copy {
        /// The folder.
        copy: &'a Path,
    },
}

impl Layer<'_> {
    /// The folder that the run wrote to.
    pub fn folder(&self) -> &Path {
        match self {
            Self::Overlay { upper } => upper,
            Self::Copy { copy } => copy,
        }
    }
}

/// What the overlay says about a folder of its upper layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Plain,
    /// What is below in the workspace is hidden.
    Opaque,
    /// Files in it may be marked as deletions.
    HasDeletions,
}

impl Mark {
    pub(super) fn of(folder: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(match overlay_mark(folder)? {
            Some(b'y') => Self::Opaque,
            Some(b'x') => Self::HasDeletions,
            _ => Self::Plain,
        })
    }

    /// Whether an entry of such a folder is a deletion. Inside an overlay nobody can make one by hand.
    pub(super) fn is_deletion(
        self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        stat: &Stat,
    ) -> io::Result<bool> {
        let stamp = Stamp::of(stat);
        let is_device = rustix::fs::FileType::from_raw_mode(stat.st_mode)
            == rustix::fs::FileType::CharacterDevice;
        if is_device {
            return Ok(stat.st_rdev == 0);
        }
        let may_be = self == Self::HasDeletions && stamp.kind == Kind::File && stamp.size == 0;
        Ok(may_be && is_marked_deletion(folder.as_fd(), name)?)
    }
}
