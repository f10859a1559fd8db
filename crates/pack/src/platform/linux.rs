//! What the kernel of Linux does in one call.

use std::fs::File;
use std::path::Path;

use rustix::fs::{Advice, CWD, RenameFlags, fadvise, renameat_with, syncfs};
use rustix::io::Errno;

/// Swaps two folders, so that there is no moment without either of them.
pub(crate) fn exchange(one: &Path, other: &Path) -> Result<(), Errno> {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// Waits until everything on the file system of `folder` is on the device.
pub(crate) fn sync_file_system(folder: &File) -> Result<(), Errno> {
    syncfs(folder)
}

/// Lets the system begin to write, so that there is less to wait for in the end.
pub(crate) fn write_soon(file: &File) {
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}
