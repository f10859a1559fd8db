//! What the kernel of Linux shows of a process.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// The file of this path in this very folder, whatever becomes of the path; short, as the path of a socket must be.
pub(crate) fn reach(folder: &OwnedFd, path: &Path) -> PathBuf {
    let folder = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
    folder.join(path.file_name().unwrap_or_default())
}
