//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

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

/// Waits until what a folder lists is on disk.
pub(super) fn sync_folder(folder: &Path) -> Result<(), JournalError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(JournalError::io("write", folder))
}
