//! How a file was when it was read, precise enough to notice any later change.

use std::borrow::Cow;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, Stat, statat};
use serde::{Deserialize, Serialize};

use super::path_bytes;

/// A change this close before the discovery may share its time stamp with a change after it.
const GRANULARITY: Duration = Duration::from_secs(2);

/// Identity, size and times of a file. The change time cannot be set by hand, so a file of the same
/// size and modification time is told from the one that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Nanoseconds since 1970.
    pub(crate) modified: i64,
    changed: i64,
}

#[allow(clippy::unnecessary_cast, reason = "the fields' types differ between platforms")]
impl From<Stat> for Stamp {
    fn from(stat: Stat) -> Self {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

impl Stamp {
    /// How the file at `path` is now, links followed; `None` where it cannot be seen.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        look(CWD, path, AtFlags::empty())
    }

    /// Whether the file may have changed again without a new time stamp since a discovery at `scanned`.
    pub(crate) fn is_recent(&self, scanned: SystemTime) -> bool {
        let since =
            scanned.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(GRANULARITY);
        let since = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
        self.changed >= since || self.modified >= since
    }
}

/// Something a discovery depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamped<'a> {
    /// Relative to the root; empty for the root itself.
    #[serde(borrow, serialize_with = "path_bytes::serialize")]
    #[serde(deserialize_with = "path_bytes::borrowed")]
    pub(crate) path: Cow<'a, Path>,
    /// Whether the path itself was looked at, not what it links to.
    pub(crate) is_link: bool,
    /// `None` where nothing could be seen.
    pub(crate) stamp: Option<Stamp>,
}

impl Stamped<'_> {
    pub(super) fn new(path: PathBuf, stamp: Option<Stamp>) -> Self {
        Self { path: path.into(), is_link: false, stamp }
    }

    pub(super) fn at(handle: impl AsFd, path: PathBuf) -> Self {
        let stamp = look(handle, &path, AtFlags::empty());
        Self::new(path, stamp)
    }

    pub(super) fn link_at(handle: impl AsFd, path: PathBuf) -> Self {
        let stamp = look(handle, &path, AtFlags::SYMLINK_NOFOLLOW);
        Self { path: path.into(), is_link: true, stamp }
    }

    /// Whether it is still as it was, beyond doubt.
    pub(crate) fn holds(&self, handle: impl AsFd, scanned: SystemTime) -> bool {
        let flags = if self.is_link { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
        let now = look(handle, &self.path, flags);
        now == self.stamp && now.is_none_or(|stamp| !stamp.is_recent(scanned))
    }
}

pub(super) fn look(handle: impl AsFd, path: &Path, flags: AtFlags) -> Option<Stamp> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    statat(handle, path, flags).ok().map(Stamp::from)
}
