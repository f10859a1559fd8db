//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::Durability;
use super::error::JournalError;

/// Replaces a file; whoever reads it sees the old or the new one. Only the one writer of a run may call it.
pub(super) fn replace(
    path: &Path,
    content: &[u8],
    durability: Durability,
) -> Result<(), JournalError> {
    let temporary = path.with_added_extension("tmp");
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(content)?;
        if durability == Durability::Sync {
            file.sync_data()?;
        }
        fs::rename(&temporary, path)
    };
    write().map_err(JournalError::io("write", path))
}

/// Replaces a file again and again: the old one becomes the place for the next.
///
/// A new file each time would cost more and more, for disks do not like to reuse what was just deleted.
pub(super) fn exchange(path: &Path, content: &[u8]) -> Result<(), JournalError> {
    let spare = path.with_added_extension("tmp");
    let write = || {
        let mut file = File::options().write(true).create(true).truncate(false).open(&spare)?;
        file.write_all(content)?;
        file.set_len(content.len() as u64)?;
        // The first time there is nothing to exchange, and some disks cannot.
        match renameat_with(CWD, &spare, CWD, path, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            Err(_) => fs::rename(&spare, path),
        }
    };
    write().map_err(JournalError::io("write", path))
}

/// Waits until what a folder lists is on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(JournalError::io("write", folder))
}
