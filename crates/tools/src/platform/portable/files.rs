//! What any Unix has in place of them. `NOSYS` says that there is no such call.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, FileType, Mode, chmodat, statat};
use rustix::io::Errno;

/// A name in a folder.
pub(crate) type Place<'a> = (BorrowedFd<'a>, &'a OsStr);

/// No call swaps two files.
pub(crate) fn exchange(_one: Place<'_>, _other: Place<'_>) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// No call renames a file and replaces none.
pub(crate) fn rename_new(_from: Place<'_>, _to: Place<'_>) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// No call waits for a whole file system.
pub(crate) fn sync_file_system(_folder: BorrowedFd<'_>) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// No call shares content.
pub(crate) fn clone_content(_from: &File, _to: &File) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// Changes who may use a folder.
pub(crate) fn set_folder_mode((above, name): Place<'_>, mode: Mode) -> Result<(), Errno> {
    match chmodat(above, name, mode, AtFlags::SYMLINK_NOFOLLOW) {
        // Some systems can only follow a link: there it was none a moment ago.
        Err(Errno::OPNOTSUPP) => {
            let found = statat(above, name, AtFlags::SYMLINK_NOFOLLOW)?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Directory => chmodat(above, name, mode, AtFlags::empty()),
                _ => Err(Errno::NOTDIR),
            }
        }
        changed => changed,
    }
}

/// There are no overlays, so nothing is marked.
pub(crate) fn overlay_mark(_folder: BorrowedFd<'_>) -> Result<Option<u8>, Errno> {
    Ok(None)
}

/// The same for files.
pub(crate) fn is_marked_deletion(_folder: BorrowedFd<'_>, _name: &OsStr) -> Result<bool, Errno> {
    Ok(false)
}
