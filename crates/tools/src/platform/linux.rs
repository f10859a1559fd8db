//! What the kernel of Linux does in one call, and the walls that it builds.

pub(crate) mod files;
pub(crate) mod sandbox;

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, ResolveFlags, ioctl_ficlone, linkat, openat, openat2,
};
use rustix::io::Errno;

/// How a folder is opened only to go on from it: it need not be readable.
pub(crate) const PASSING: OFlags = OFlags::PATH;

/// Opens a path beneath `root` without following a link on the way.
pub(crate) fn open_in_one_call(
    root: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    // It forbids links itself, and then says so where NOFOLLOW would say `not a directory`.
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(root, path, flags - OFlags::NOFOLLOW, Mode::empty(), resolve)
}

/// Makes a file without a name.
pub(crate) fn open_unnamed(folder: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    openat(folder, ".", flags, Mode::from_raw_mode(0o666))
}

/// Makes a file share the blocks of another one, where the file system can.
pub(crate) fn clone_content(from: &File, to: &File) -> Result<(), Errno> {
    ioctl_ficlone(to, from)
}

/// Gives such a file a name.
pub(crate) fn link_unnamed(file: &File, folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let through = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, &*through, folder, name, AtFlags::SYMLINK_FOLLOW)
}
