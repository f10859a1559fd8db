//! A skill's folder, file by file, and the skills below a folder.
//!
//! Invariant: no link is followed, and neither the number nor the size of files can fill the memory.
//! Invariant: what is not looked at is a finding.

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{
    Dir, DirEntry, File, FileType, FileTypeExt, MetadataExt, OpenOptions, OpenOptionsExt,
};
use rustix::fs::OFlags;

use super::{Report, Scan, Scanner, Severity};

/// Folders inside one another: each takes a handle, and no pack has a fourth of them.
const DEPTH: usize = 64;
/// A device or pipe must neither be waited for nor take over the terminal; a link is not followed.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW);
/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

const TOO_DEEP: &str = "more than 64 folders inside one another";
const INNER_LINK: &str = "a link to something that is scanned separately";
const OUTER_LINK: &str =
    "a link that leads outside the folder or nowhere; the scan does not follow it";

/// Why a folder was not looked at.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the folder `{}`", path.display())]
pub struct FolderError {
    /// The folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

/// The skills at or below a folder, and how far it was searched.
#[derive(Debug)]
pub struct Search {
    /// Their folders, by path; what is inside a skill belongs to it.
    pub skills: Vec<PathBuf>,
    /// Folders that were searched.
    pub folders: usize,
    /// Files that belong to no skill and were not looked at.
    pub other_files: usize,
    /// What could not be searched.
    pub report: Report,
}

impl Scanner {
    /// Looks at every file below a skill's folder.
    pub fn scan_folder(&self, path: &Path) -> Result<Report, FolderError> {
        let folder = open(path)?;
        let mut walk = Walk { scan: self.begin(), root: &folder };
        walk.folder(&folder, Path::new(""), DEPTH);
        Ok(walk.scan.finish())
    }

    /// The report of a skill that cannot be looked at.
    pub fn unreadable(&self, error: &FolderError) -> Report {
        let mut scan = self.begin();
        scan.skip(".", &unreadable(&error.source));
        scan.finish()
    }

    /// Finds the skills at or below a folder.
    pub fn find_skills(&self, path: &Path) -> Result<Search, FolderError> {
        let folder = open(path)?;
        let mut hunt = Hunt {
            scan: self.begin(),
            root: &folder,
            path,
            skills: Vec::new(),
            folders: 0,
            other_files: 0,
        };
        hunt.folder(&folder, Path::new(""), DEPTH);
        let Hunt { scan, mut skills, folders, other_files, .. } = hunt;
        skills.sort();
        Ok(Search { skills, folders, other_files, report: scan.finish() })
    }
}

fn open(path: &Path) -> Result<Dir, FolderError> {
    let failed = |source| FolderError { path: path.to_owned(), source };
    Dir::open_ambient_dir(path, ambient_authority()).map_err(failed)
}

/// A skill while its files are looked at.
struct Walk<'r, 's> {
    scan: Scan<'s>,
    root: &'r Dir,
}

impl Walk<'_, '_> {
    fn folder(&mut self, folder: &Dir, path: &Path, depth: usize) {
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => return self.scan.skip(&spell(path), &unreadable(&error)),
        };
        // In whatever order they come: a report is sorted, and to sort here would take memory.
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(&entry, &path.join(entry.file_name()), depth),
                Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            }
        }
    }

    /// Looks at a file or folder, or says why not.
    fn entry(&mut self, entry: &DirEntry, path: &Path, depth: usize) {
        match entry.file_type() {
            Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            Ok(kind) if kind.is_symlink() => link(&mut self.scan, self.root, path),
            Ok(kind) if kind.is_file() => self.file(entry, &spell(path)),
            Ok(kind) if !kind.is_dir() => self.scan.skip(&spell(path), special(kind)),
            Ok(_) if depth == 0 => self.scan.skip(&spell(path), TOO_DEEP),
            Ok(_) => match entry.open_dir() {
                Ok(inner) => self.folder(&inner, path, depth - 1),
                Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            },
        }
    }

    fn file(&mut self, entry: &DirEntry, path: &str) {
        let opened = open_file(entry).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, mut file) = match opened {
            Ok((metadata, file)) if metadata.is_file() => (metadata, file),
            Ok((metadata, _)) => return self.scan.skip(path, special(metadata.file_type())),
            Err(error) => return self.scan.skip(path, &unreadable(&error)),
        };
        let mut reading = self.scan.open(path, metadata.mode() & 0o111 != 0);
        let mut buffer = vec![0; CHUNK];
        while !reading.is_stopped() {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => reading.take(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => reading.stop(unreadable(&error)),
            }
        }
        reading.finish();
    }
}

/// A folder while it is searched for skills.
struct Hunt<'r, 's> {
    scan: Scan<'s>,
    root: &'r Dir,
    path: &'r Path,
    skills: Vec<PathBuf>,
    folders: usize,
    other_files: usize,
}

impl Hunt<'_, '_> {
    fn folder(&mut self, folder: &Dir, path: &Path, depth: usize) {
        self.folders += 1;
        match folder.symlink_metadata("SKILL.md") {
            // Joined with nothing, a path would get a slash.
            Ok(_) if path.as_os_str().is_empty() => return self.skills.push(self.path.to_owned()),
            Ok(_) => return self.skills.push(self.path.join(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return self.scan.skip(&spell(path), &unreadable(&error)),
        }
        let entries = match folder.entries() {
            Ok(entries) => entries,
            Err(error) => return self.scan.skip(&spell(path), &unreadable(&error)),
        };
        for entry in entries {
            match entry {
                Ok(entry) => self.entry(&entry, &path.join(entry.file_name()), depth),
                Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            }
        }
    }

    fn entry(&mut self, entry: &DirEntry, path: &Path, depth: usize) {
        match entry.file_type() {
            Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            // Only a folder can hold a skill; where a link leads is looked up, not gone to.
            Ok(kind) if kind.is_symlink() => {
                match std::fs::metadata(self.path.join(path)).is_ok_and(|found| !found.is_dir()) {
                    true => self.other_files += 1,
                    false => link(&mut self.scan, self.root, path),
                }
            }
            Ok(kind) if !kind.is_dir() => self.other_files += 1,
            Ok(_) if depth == 0 => self.scan.skip(&spell(path), TOO_DEEP),
            Ok(_) => match entry.open_dir() {
                Ok(inner) => self.folder(&inner, path, depth - 1),
                Err(error) => self.scan.skip(&spell(path), &unreadable(&error)),
            },
        }
    }
}

fn open_file(entry: &DirEntry) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(CAREFUL.bits().cast_signed());
    entry.open_with(&options)
}

/// Says that a link was not followed. One that leads to something below `root` hides nothing: that is
/// looked at by itself.
fn link(scan: &mut Scan<'_>, root: &Dir, path: &Path) {
    match root.metadata(path) {
        Ok(_) => scan.opaque(&spell(path), 1, Severity::Low, INNER_LINK),
        Err(_) => scan.skip(&spell(path), OUTER_LINK),
    }
}

/// What something is that is neither a file nor a folder.
fn special(kind: FileType) -> &'static str {
    match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => "not a regular file",
    }
}

fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read: {error}")
}

/// A path as text, with bytes that are no UTF-8 spelled out.
fn spell(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("writing to a string");
        }
    }
    if text.is_empty() { ".".to_owned() } else { text }
}
