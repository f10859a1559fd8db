//! What any Unix has in place of it. `NOSYS` says that there is no such call; the callers then do it in
//! several steps, as they do on an old kernel.

pub(crate) mod files;
pub(crate) mod sandbox;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// How a folder is opened only to go on from it.
pub(crate) const PASSING: OFlags = OFlags::RDONLY;

/// No call opens a path and follows no link on the way.
pub(crate) fn open_in_one_call(
    _root: BorrowedFd<'_>,
    _path: &Path,
    _flags: OFlags,
) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Every file has a name.
pub(crate) fn open_unnamed(_folder: &OwnedFd) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// No file shares its blocks.
pub(crate) fn clone_content(_from: &File, _to: &File) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// So none needs one.
pub(crate) fn link_unnamed(_file: &File, _folder: &OwnedFd, _name: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
