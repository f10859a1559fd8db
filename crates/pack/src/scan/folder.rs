//! A skill's folder, file by file.
//!
//! Invariant: no link is followed, and neither the number nor the size of files can fill the memory.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use super::{File, LARGEST, Report, Scan, Scanner};

/// Folders inside one another.
const DEPTH: usize = 16;
/// Files and folders.
const ENTRIES: usize = 10_000;
/// A device or pipe must neither be waited for nor take over the terminal; a link is not followed.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW);

/// Why a folder was not looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the folder `{}`", path.display())]
pub struct FolderError {
    /// The folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl Scanner {
    /// Looks at every file below a skill's folder.
    pub fn scan_folder(&self, path: &Path) -> Result<Report, FolderError> {
        let failed = |source| FolderError { path: path.to_owned(), source };
        let folder = Dir::open_ambient_dir(path, ambient_authority()).map_err(failed)?;
        let mut walk = Walk { scan: self.begin(), left: ENTRIES };
        walk.folder(&folder, "", DEPTH).map_err(failed)?;
        Ok(walk.scan.finish())
    }
}

/// The skills at or below a folder, by path; what is inside a skill belongs to it.
pub fn skill_folders(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    find(path, DEPTH, &mut { ENTRIES }, &mut found);
    found
}

fn find(path: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    if path.join("SKILL.md").symlink_metadata().is_ok() {
        return found.push(path.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let entries = entries.flatten().take(ENTRIES).filter(is_folder);
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders.iter().filter(|folder| !folder.ends_with(".git")) {
        if depth > 0 && *left > 0 {
            *left -= 1;
            find(folder, depth - 1, left, found);
        }
    }
}

struct Walk<'s> {
    scan: Scan<'s>,
    left: usize,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Dir, prefix: &str, depth: usize) -> std::io::Result<()> {
        let mut entries: Vec<DirEntry> =
            folder.entries()?.take(self.left + 1).collect::<Result<_, _>>()?;
        entries.sort_by_key(DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let path = format!("{prefix}{}", name.to_string_lossy());
            if self.left == 0 {
                self.scan.skip(&path, "too many files; this and what follows it");
                return Ok(());
            }
            self.left -= 1;
            // No pack can have it, and it is no part of the skill.
            if name == ".git" {
                self.scan.note(&path, "the data of a repository");
                continue;
            }
            if let Err(reason) = self.entry(&entry, &path, depth) {
                self.scan.skip(&path, &reason);
            }
        }
        Ok(())
    }

    /// Looks at a file or folder, or says why not.
    fn entry(&mut self, entry: &DirEntry, path: &str, depth: usize) -> Result<(), String> {
        let said = |error: std::io::Error| format!("cannot be read: {error}");
        let kind = entry.file_type().map_err(said)?;
        if kind.is_dir() {
            if depth == 0 {
                return Err("too many folders inside one another".to_owned());
            }
            let inner = entry.open_dir().map_err(said)?;
            return self.folder(&inner, &format!("{path}/"), depth - 1).map_err(said);
        }
        if kind.is_symlink() {
            return Err("a symbolic link, which is not followed".to_owned());
        }
        let (bytes, executable) = read(entry).map_err(said)?.ok_or("not a regular file")?;
        self.scan.file(File { path, bytes: &bytes, executable });
        Ok(())
    }
}

/// What a regular file holds, and whether it can be executed.
fn read(entry: &DirEntry) -> std::io::Result<Option<(Vec<u8>, bool)>> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(CAREFUL.bits().cast_signed());
    let file = entry.open_with(&options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    // One byte more is enough to see that it is too large.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(Some((bytes, metadata.mode() & 0o111 != 0)))
}
