//! What any Unix has in place of it. `NOSYS` says that there is no such call; the callers then do it in
//! several steps.

use std::fs::File;
use std::path::Path;

use rustix::io::Errno;

/// No call swaps two folders.
pub(crate) fn exchange(_one: &Path, _other: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// No call waits for a file system.
pub(crate) fn sync_file_system(_folder: &File) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// The system begins to write when it likes.
pub(crate) fn write_soon(_file: &File) {}
