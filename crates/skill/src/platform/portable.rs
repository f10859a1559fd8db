//! What any Unix has in place of it.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// How a folder is opened only to go on from it.
pub(crate) const PASSING: OFlags = OFlags::RDONLY;

/// No call opens a path and follows no link on the way.
pub(crate) fn open_in_one_call(_path: &Path, _flags: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}
