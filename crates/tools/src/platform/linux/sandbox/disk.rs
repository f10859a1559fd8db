//! How much of the disk lies beneath folders that somebody else changes meanwhile.
//!
//! Folders are opened by handle, one below the other, so no path is too long and no link is followed.

use std::collections::HashSet;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat, statvfs};
use rustix::io::Errno;

/// The unit in which a file's blocks are counted.
pub(super) const BLOCK: u64 = 512;

/// What the smallest file counts as.
const ENTRY: u64 = 4096;

/// How many folders may lie one in the other; each costs an open file while it is looked through.
const DEEPEST: usize = 128;

/// Why the rest of a tree need not be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enough {
    /// It is too large, or nobody can say how large it is.
    Bytes,
    /// It has too many files.
    Files,
}

/// What lies beneath folders.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Beneath {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// A folder that is being looked through.
struct Level {
    folder: OwnedFd,
    /// The folders in it that still have to be.
    inner: Vec<CString>,
}

struct Sum {
    used: Beneath,
    enough: Beneath,
    /// Files that have more than one name.
    linked: HashSet<(u64, u64)>,
}

/// Whether there is `enough` beneath some folders, or else how much.
///
/// A file without content counts as something. A tree that cannot be looked through whole, because a
/// folder cannot be listed or lies too deep, counts as enough.
pub(super) fn beneath(folders: &[PathBuf], enough: Beneath) -> Result<Beneath, Enough> {
    let mut sum = Sum { used: Beneath::default(), enough, linked: HashSet::new() };
    folders.iter().try_for_each(|folder| sum.walk(folder))?;
    Ok(sum.used)
}

/// The bytes that are free where a folder lies.
pub(super) fn free_space(folder: &Path) -> u64 {
    statvfs(folder).map_or(0, |disk| disk.f_bfree.saturating_mul(disk.f_frsize))
}

impl Sum {
    fn walk(&mut self, folder: &Path) -> Result<(), Enough> {
        let Some(top) = entered(openat(CWD, folder, FOLDER, Mode::empty()))? else { return Ok(()) };
        let inner = self.add(top.as_fd())?;
        let mut levels = vec![Level { folder: top, inner }];
        while let Some(level) = levels.last_mut() {
            let Some(name) = level.inner.pop() else {
                levels.pop();
                continue;
            };
            let next = openat(&level.folder, name.as_c_str(), FOLDER, Mode::empty());
            let Some(folder) = entered(next)? else { continue };
            if levels.len() == DEEPEST {
                return Err(Enough::Bytes);
            }
            let inner = self.add(folder.as_fd())?;
            levels.push(Level { folder, inner });
        }
        Ok(())
    }

    /// Adds what lies in one folder, and returns the folders in it.
    fn add(&mut self, folder: BorrowedFd<'_>) -> Result<Vec<CString>, Enough> {
        let mut inner = Vec::new();
        let Some(entries) = entered(Dir::read_from(folder))? else { return Ok(inner) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if [c".", c".."].contains(&name) {
                continue;
            }
            let status = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
            let Some(status) = entered(status)? else { continue };
            let is_folder = FileType::from_raw_mode(status.st_mode) == FileType::Directory;
            let again = status.st_nlink > 1 && !self.linked.insert((status.st_dev, status.st_ino));
            if is_folder {
                inner.push(name.to_owned());
            } else if again {
                continue;
            }
            let bytes = u64::try_from(status.st_blocks).unwrap_or_default().saturating_mul(BLOCK);
            self.used.bytes = self.used.bytes.saturating_add(bytes.max(ENTRY));
            self.used.files += 1;
            if self.used.bytes >= self.enough.bytes {
                return Err(Enough::Bytes);
            }
            if self.used.files >= self.enough.files {
                return Err(Enough::Files);
            }
        }
        Ok(inner)
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// What was opened; none if it vanished or changed meanwhile.
fn entered<T>(result: Result<T, Errno>) -> Result<Option<T>, Enough> {
    match result {
        Ok(found) => Ok(Some(found)),
        // Nobody can say how much is in there.
        Err(Errno::ACCESS | Errno::PERM) => Err(Enough::Bytes),
        Err(_) => Ok(None),
    }
}
