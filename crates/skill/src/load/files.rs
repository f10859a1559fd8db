//! The files of one skill, on disk or inside the program.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use basics::inner_path::InnerPath;
use basics::skill::Source;
use cap_std::fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::Serialize;

use super::LoadError;
use super::content::Content;
use super::links::Bounds;
use super::seal::Seal;
use crate::builtin::{self, BuiltinFile};
use crate::content_hash::ContentHash;
use crate::entry::Entry;

pub(super) const MANIFEST: &str = "SKILL.md";
/// A device or pipe must neither be waited for nor take over the terminal.
pub(super) const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);
const LEADS_OUT: &str = "a link leads out of the skill";
const NO_FILE: &str = "it is not a regular file";
/// Folders below a skill that are listed.
const DEPTH: usize = 6;
/// Files below a skill that are counted.
const COUNT: usize = 10_000;

/// The files of one skill.
#[derive(Debug)]
pub struct Files {
    name: String,
    place: Store,
    pub(super) seal: Option<Seal>,
    /// What all of it must amount to.
    pub(super) trusted: Option<ContentHash>,
    pub(super) content: OnceLock<Content>,
}

#[derive(Debug)]
pub(super) enum Store {
    Disk {
        folder: Dir,
        /// `SKILL.md`, which may be a link.
        manifest: PathBuf,
        bounds: Bounds,
    },
    Builtin(&'static [BuiltinFile]),
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillFile {
    /// Relative to the skill's folder.
    pub path: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Files {
    /// Opens the folder of a skill.
    pub fn open(entry: &Entry) -> Result<Self, LoadError> {
        let name = entry.name.clone();
        let missing = || LoadError::SkillNotFound { name: entry.name.clone() };
        if entry.source == Source::Builtin {
            let files = builtin::files(&entry.name).ok_or_else(missing)?;
            let (place, content) = (Store::Builtin(files), OnceLock::new());
            return Ok(Self { name, place, seal: None, trusted: None, content });
        }
        let bounds = Bounds::of(entry);
        let opened = bounds.open(&entry.path, OFlags::RDONLY | OFlags::DIRECTORY);
        let folder = opened.map_err(|_| missing())?.ok_or_else(|| {
            blocked(&entry.path.to_string_lossy(), "it was replaced by a link out of its root")
        })?;
        let (folder, manifest) = (Dir::from_std_file(folder), entry.path.join(MANIFEST));
        Ok(Self {
            name,
            place: Store::Disk { folder, manifest, bounds },
            seal: Seal::of(entry),
            trusted: entry.trusted_content.clone(),
            content: OnceLock::new(),
        })
    }

    /// Reads `SKILL.md`, which alone may be a link out of the folder.
    pub fn manifest(&self, limit: u64) -> Result<Vec<u8>, LoadError> {
        self.check_trusted()?;
        let bytes = self.read_manifest(limit)?;
        self.check_bytes(MANIFEST, &bytes)?;
        Ok(bytes)
    }

    /// Reads one regular file beneath the folder.
    pub fn read(&self, path: &InnerPath, limit: u64) -> Result<Vec<u8>, LoadError> {
        self.check_trusted()?;
        let bytes = self.read_file(path, limit)?;
        self.check_bytes(path.as_str(), &bytes)?;
        Ok(bytes)
    }

    pub(super) fn read_manifest(&self, limit: u64) -> Result<Vec<u8>, LoadError> {
        let missing = || LoadError::SkillNotFound { name: self.name.clone() };
        match &self.place {
            Store::Disk { folder, manifest, bounds } if is_link(folder, MANIFEST) => {
                let opened = bounds.open(manifest, OFlags::RDONLY | CAREFUL);
                let file = opened.map_err(|_| missing())?;
                let file = file.ok_or_else(|| blocked(MANIFEST, LEADS_OUT))?;
                let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
                if is_file { read(file, MANIFEST, limit) } else { Err(missing()) }
            }
            _ => match self.read_file(&InnerPath::new(MANIFEST)?, limit) {
                Err(LoadError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    Err(missing())
                }
                other => other,
            },
        }
    }

    fn read_file(&self, path: &InnerPath, limit: u64) -> Result<Vec<u8>, LoadError> {
        match &self.place {
            Store::Builtin(files) => match files.iter().find(|file| file.path == path.as_str()) {
                Some(file) => Ok(file.bytes.to_vec()),
                None => Err(LoadError::io(path.as_str(), std::io::ErrorKind::NotFound.into())),
            },
            Store::Disk { folder, .. } => read(open_beneath(folder, path)?, path.as_str(), limit),
        }
    }

    /// The skill's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn place(&self) -> &Store {
        &self.place
    }

    /// What the skill's folder is called.
    pub(super) fn folder_name(&self) -> &OsStr {
        let folder = match &self.place {
            Store::Disk { manifest, .. } => manifest.parent().and_then(|folder| folder.file_name()),
            Store::Builtin(_) => None,
        };
        folder.unwrap_or(OsStr::new(&self.name))
    }

    /// The files that a person or a model is told about, with their sizes, sorted by path: neither hidden
    /// folders nor dependencies, and no more than fit. Links are named but not followed.
    pub fn list(&self) -> Vec<SkillFile> {
        let mut files = Vec::new();
        match &self.place {
            Store::Builtin(builtin) => files.extend(builtin.iter().map(|file| SkillFile {
                path: file.path.to_owned(),
                size: file.bytes.len() as u64,
            })),
            Store::Disk { folder, .. } => list(folder, "", DEPTH, &mut files),
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// Folders whose files [`Self::list`] leaves out, although they are part of the skill; and whether there are
    /// more files than it has room for.
    pub fn unlisted(&self) -> (Vec<String>, bool) {
        let (mut folders, mut seen) = (Vec::new(), 0);
        if let Store::Disk { folder, .. } = &self.place {
            unlisted(folder, "", DEPTH, &mut folders, &mut seen);
        }
        folders.sort_unstable();
        (folders, seen > COUNT)
    }
}

fn unlisted(folder: &Dir, prefix: &str, depth: usize, folders: &mut Vec<String>, seen: &mut usize) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if folders.len() >= COUNT || *seen > COUNT {
            return;
        }
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => match entry.open_dir() {
                Ok(inner) if !is_unlisted(&name) && depth > 0 => {
                    unlisted(&inner, &format!("{prefix}{name}/"), depth - 1, folders, seen);
                }
                _ => folders.push(format!("{prefix}{name}/")),
            },
            _ => *seen += 1,
        }
    }
}

/// Folders that [`Files::list`] leaves out, although they are part of the skill.
fn is_unlisted(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

fn is_link(folder: &Dir, name: &str) -> bool {
    folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_symlink())
}

fn blocked(path: &str, reason: &'static str) -> LoadError {
    LoadError::PathTraversalBlocked { path: path.to_owned(), reason }
}

/// Opens a regular file; the kernel keeps the lookup beneath the folder, links and races included.
fn open_beneath(folder: &Dir, path: &InnerPath) -> Result<fs::File, LoadError> {
    let blocked = |reason| blocked(path.as_str(), reason);
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(CAREFUL.bits().cast_signed());
    let file = folder.open_with(path, &options).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied if leads_out(folder, path) => blocked(LEADS_OUT),
        // A socket, or a device without a driver.
        _ if matches!(Errno::from_io_error(&error), Some(Errno::NXIO | Errno::NODEV)) => {
            blocked(NO_FILE)
        }
        _ => LoadError::io(path.as_str(), error),
    })?;
    let io = |error| LoadError::io(path.as_str(), error);
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(blocked(NO_FILE));
    }
    // A hard link cannot be told from the file itself, but its owner can.
    let owner = folder.dir_metadata().map_err(io)?.uid();
    if metadata.nlink() > 1 && metadata.uid() != owner {
        return Err(blocked("it is a hard link to another owner's file"));
    }
    Ok(file.into_std())
}

/// Tells "this leads out of the folder" from "you may not read this".
fn leads_out(folder: &Dir, path: &InnerPath) -> bool {
    folder.canonicalize(path).is_err()
}

fn read(file: fs::File, path: &str, limit: u64) -> Result<Vec<u8>, LoadError> {
    let size = file.metadata().map_err(|error| LoadError::io(path, error))?.size();
    let too_large = |bytes| LoadError::FileTooLarge { path: path.to_owned(), bytes, limit };
    if size > limit {
        return Err(too_large(size));
    }
    // The file may grow while it is read.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| LoadError::io(path, error))?;
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

fn list(folder: &Dir, prefix: &str, depth: usize, files: &mut Vec<SkillFile>) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if files.len() >= COUNT {
            return;
        }
        if kind.is_dir() {
            let skipped = is_unlisted(&name) || depth == 0;
            if let (false, Ok(inner)) = (skipped, entry.open_dir()) {
                list(&inner, &format!("{prefix}{name}/"), depth - 1, files);
            }
        } else {
            let size = if kind.is_file() {
                entry.metadata().map_or(0, |metadata| metadata.len())
            } else {
                0
            };
            files.push(SkillFile { path: format!("{prefix}{name}"), size });
        }
    }
}
