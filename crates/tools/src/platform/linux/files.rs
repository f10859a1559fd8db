//! Operations on files that the kernel of Linux does in one call.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use rustix::fs::{
    Mode, OFlags, RenameFlags, chmod, fgetxattr, ioctl_ficlone, openat, renameat_with, syncfs,
};
use rustix::io::Errno;

/// A name in a folder.
pub(crate) type Place<'a> = (BorrowedFd<'a>, &'a OsStr);

/// Swaps two files, so that there is no moment without either of them.
pub(crate) fn exchange(one: Place<'_>, other: Place<'_>) -> Result<(), Errno> {
    renameat_with(one.0, one.1, other.0, other.1, RenameFlags::EXCHANGE)
}

/// Gives a file another place, unless something is there already.
pub(crate) fn rename_new(from: Place<'_>, to: Place<'_>) -> Result<(), Errno> {
    renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)
}

/// Waits until everything on the file system of `folder` is on the device.
pub(crate) fn sync_file_system(folder: BorrowedFd<'_>) -> Result<(), Errno> {
    syncfs(folder)
}

/// Lets a new file share the content of another one.
pub(crate) fn clone_content(from: &File, to: &File) -> Result<(), Errno> {
    ioctl_ficlone(to, from)
}

/// Changes who may use a folder, also one that its owner cannot open.
pub(crate) fn set_folder_mode(folder: Place<'_>, mode: Mode) -> Result<(), Errno> {
    // The handle is of this very folder, so nothing else can get the new mode.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let closed = openat(folder.0, folder.1, flags, Mode::empty())?;
    chmod(format!("/proc/self/fd/{}", closed.as_raw_fd()), mode)
}

/// The mark of an overlay on a folder of its upper layer: `y` hides all that is below, `x` says that files in it may be
/// marked as deletions.
pub(crate) fn overlay_mark(folder: BorrowedFd<'_>) -> Result<Option<u8>, Errno> {
    let mut value = [0; 8];
    match fgetxattr(folder, "user.overlay.opaque", &mut value[..]) {
        Ok(0) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Ok(_) => Ok(Some(value[0])),
        Err(error) => Err(error),
    }
}

/// Whether a file of an upper layer is marked as a deletion.
pub(crate) fn is_marked_deletion(folder: BorrowedFd<'_>, name: &OsStr) -> Result<bool, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(folder, name, flags, Mode::empty())?;
    match fgetxattr(file.as_fd(), "user.overlay.whiteout", &mut [0_u8; 8][..]) {
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(false),
        // Whatever it says: it is there.
        Ok(_) | Err(Errno::RANGE) => Ok(true),
        Err(error) => Err(error),
    }
}
