//! What the kernel of Linux does in one call.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// How a folder is opened only to go on from it: it need not be readable.
pub(crate) const PASSING: OFlags = OFlags::PATH;

/// Opens a path without following a link anywhere on it.
pub(crate) fn open_in_one_call(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}
