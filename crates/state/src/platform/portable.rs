//! What any Unix has in place of it. `NOSYS` says that there is no such call; the callers then do it in
//! several steps, as they do on an old kernel.

use std::ffi::OsStr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, chmodat, statat};
use rustix::io::Errno;

/// No call opens a path and follows no link on the way.
pub(crate) fn open_in_one_call(
    _root: BorrowedFd<'_>,
    _inner: &Path,
    _flags: OFlags,
) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// No call renames a file and replaces none.
pub(crate) fn rename_new(_folder: BorrowedFd<'_>, _from: &OsStr, _to: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// No call swaps two files.
pub(crate) fn exchange(_folder: BorrowedFd<'_>, _one: &OsStr, _other: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// Lets its owner into a folder that cannot be opened.
pub(crate) fn make_enterable(above: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    match chmodat(above, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW) {
        // Some systems can only follow a link: there it was none a moment ago.
        Err(Errno::OPNOTSUPP) => {
            let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => chmodat(above, name, Mode::RWXU, AtFlags::empty()),
                _ => Err(Errno::NOTDIR),
            }
        }
        changed => changed,
    }
}
