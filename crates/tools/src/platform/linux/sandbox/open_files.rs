//! What a tree of processes has open: files without a name, and what has a buffer in the kernel.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use super::disk::BLOCK;
use super::memory::has_memory;
use super::tree::Process;

/// The open files of a tree, each counted once, whoever has it open.
pub(super) struct OpenFiles {
    pub(super) sockets: u64,
    /// Named ones as well.
    pub(super) pipes: u64,
    /// Bytes of files that are in no folder any more.
    pub(super) unlinked: u64,
    /// Whether all could be looked at.
    pub(super) complete: bool,
}

impl OpenFiles {
    pub(super) fn of(processes: &[Process]) -> Self {
        let (mut sockets, mut pipes) = (HashSet::new(), HashSet::new());
        let mut unlinked = HashMap::new();
        let mut complete = true;
        for process in processes {
            let Ok(files) = files_of(process) else {
                complete = false;
                continue;
            };
            for file in files {
                let (identity, kind) = ((file.dev(), file.ino()), file.file_type());
                if kind.is_socket() {
                    sockets.insert(identity);
                } else if kind.is_fifo() {
                    pipes.insert(identity);
                } else if kind.is_file() && file.nlink() == 0 {
                    unlinked.insert(identity, file.blocks() * BLOCK);
                }
            }
        }
        Self {
            sockets: sockets.len() as u64,
            pipes: pipes.len() as u64,
            unlinked: unlinked.into_values().sum(),
            complete,
        }
    }
}

/// The open files of a process; none if it is gone, an error if they cannot be looked at.
///
/// Threads share them: those of one that lives are those of all.
fn files_of(process: &Process) -> io::Result<Vec<fs::Metadata>> {
    for place in process.places() {
        let entries = match fs::read_dir(format!("{place}/fd")) {
            Ok(entries) => entries,
            // One that ends belongs to nobody any more, and holds nothing or is about to.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && has_memory(&place) => {
                return Err(error);
            }
            Err(_) => continue,
        };
        let files: Vec<_> =
            entries.flatten().filter_map(|entry| fs::metadata(entry.path()).ok()).collect();
        if !files.is_empty() {
            return Ok(files);
        }
    }
    Ok(Vec::new())
}

/// Whether a process maps a file that is in no folder any more, or may do so.
///
/// Such a file needs not be open, and nobody but root can learn how large it is.
pub(super) fn map_unlinked(processes: &[Process]) -> bool {
    processes.iter().any(|process| {
        let maps = process.places().find_map(|place| match fs::read(format!("{place}/maps")) {
            Ok(maps) if maps.is_empty() => None,
            maps => Some(maps),
        });
        match maps {
            Some(Ok(maps)) => maps.split(|byte| *byte == b'\n').any(is_unlinked_file),
            Some(Err(error)) => error.kind() == io::ErrorKind::PermissionDenied,
            None => false,
        }
    })
}

/// Shared memory looks like a removed file, but takes no room on a disk.
fn is_unlinked_file(line: &[u8]) -> bool {
    let contains = |text: &[u8]| line.windows(text.len()).any(|part| part == text);
    line.ends_with(b" (deleted)") && !contains(b" /dev/zero (deleted)")
}
