//! What the kernel of Linux does in one call.

use std::ffi::OsStr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, RenameFlags, ResolveFlags, chmod, openat, openat2, renameat_with};
use rustix::io::Errno;

/// How often the kernel is asked again when others rename folders on the way.
const TRIES: u32 = 8;

/// Opens a path beneath `root` without following a link on the way.
pub(crate) fn open_in_one_call(
    root: BorrowedFd<'_>,
    inner: &Path,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut result = Err(Errno::AGAIN);
    for _ in 0..TRIES {
        result = openat2(root, inner, flags, Mode::empty(), resolve);
        if !matches!(result, Err(Errno::AGAIN)) {
            break;
        }
    }
    result
}

/// Gives a file another name in its folder, unless something has it already.
pub(crate) fn rename_new(folder: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE)
}

/// Swaps two files of a folder.
pub(crate) fn exchange(folder: BorrowedFd<'_>, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

/// Lets its owner into a folder that cannot be opened.
pub(crate) fn make_enterable(above: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    // The handle is of this very folder, so nothing else can get the new mode.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let closed = openat(above, name, flags, Mode::empty())?;
    chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), Mode::RWXU)
}
