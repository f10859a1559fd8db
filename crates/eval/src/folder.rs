//! A folder of somebody else, read through one handle.
//!
//! Invariant: nothing outside of the folder is read. A link may lead to another place inside it; only regular
//! files count, a pipe or a device is never waited for, and there is an end to how much is taken.

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt};
use std::path::{Path, PathBuf};

use basics::sha256::hex;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, MetadataExt, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use thiserror::Error;

/// A device or a pipe must neither be waited for nor take over the terminal.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);
/// How deep folders may nest, those that links lead to included.
const DEPTH: usize = 32;

/// A folder, open.
#[derive(Debug)]
pub struct Folder {
    dir: Dir,
    path: PathBuf,
}

/// How much may still be taken.
#[derive(Debug, Clone)]
pub struct Quota {
    /// Files and folders.
    pub entries: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Default for Quota {
    /// More than a suite needs, less than fills a disk.
    fn default() -> Self {
        Self { entries: 50_000, bytes: 1 << 30 }
    }
}

/// Why something in a folder cannot be read or copied.
#[derive(Debug, Error)]
pub enum FolderError {
    /// It is not in the folder.
    #[error("`{}` leads outside `{}`", path.display(), folder.display())]
    LeadsOut {
        /// What was asked for.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// It is a pipe, a socket or a device, or a hard link to another owner's file.
    #[error("`{}` is not a regular file", path.display())]
    NoFile {
        /// What was asked for.
        path: PathBuf,
    },
    /// There is too much of it.
    #[error("`{}` is too large: a suite may have 50,000 files, 1 GiB and 32 levels of folders", path.display())]
    TooMuch {
        /// What was asked for.
        path: PathBuf,
    },
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// What was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A copy cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The copy.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Folder {
    /// Opens a folder; links on the way to it are followed.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(dir) => Ok(Self { dir, path: path.to_owned() }),
            Err(source) => Err(FolderError::Read { path: path.to_owned(), source }),
        }
    }

    /// Whether nothing has this name.
    pub fn lacks(&self, inner: &Path) -> bool {
        self.dir.symlink_metadata(inner).is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Reads a regular file of at most `limit` bytes.
    pub fn read(&self, inner: &Path, limit: u64) -> Result<Vec<u8>, FolderError> {
        let mut bytes = Vec::new();
        let file = self.file(inner)?;
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| self.cannot_read(inner, error))?;
        match bytes.len() as u64 > limit {
            true => Err(FolderError::TooMuch { path: self.path.join(inner) }),
            false => Ok(bytes),
        }
    }

    /// The regular files at or below `inner`, in the order of their paths.
    pub fn files(&self, inner: &Path, quota: &mut Quota) -> Result<Vec<PathBuf>, FolderError> {
        let mut found = Vec::new();
        self.collect(inner, quota, DEPTH, &mut found)?;
        found.sort();
        Ok(found)
    }

    /// Copies a file or a folder with everything in it; links become what they lead to. Answers with a hash of what
    /// was copied: names, contents, and whether a file can be executed.
    pub fn copy(&self, inner: &Path, to: &Path, quota: &mut Quota) -> Result<String, FolderError> {
        let mut hash = Sha256::new();
        self.walk(inner, Some(to), quota, DEPTH, &mut hash)?;
        Ok(hex(&hash.finalize()))
    }

    /// A hash of a file or of a folder with everything in it, as [`Folder::copy`] answers with.
    pub fn sum(&self, inner: &Path, quota: &mut Quota) -> Result<String, FolderError> {
        let mut hash = Sha256::new();
        self.walk(inner, None, quota, DEPTH, &mut hash)?;
        Ok(hex(&hash.finalize()))
    }

    fn collect(
        &self,
        inner: &Path,
        quota: &mut Quota,
        depth: usize,
        found: &mut Vec<PathBuf>,
    ) -> Result<(), FolderError> {
        if !self.is_folder(inner)? {
            found.push(inner.to_owned());
            return Ok(());
        }
        for name in self.names(inner, quota, depth)? {
            self.collect(&inner.join(name), quota, depth - 1, found)?;
        }
        Ok(())
    }

    /// Hashes what is there, and copies it where a place for it is given.
    fn walk(
        &self,
        inner: &Path,
        to: Option<&Path>,
        quota: &mut Quota,
        depth: usize,
        hash: &mut Sha256,
    ) -> Result<(), FolderError> {
        if !self.is_folder(inner)? {
            make_folder(to.and_then(Path::parent))?;
            return self.take_file(inner, to, quota, hash);
        }
        make_folder(to)?;
        let names = self.names(inner, quota, depth)?;
        hash.update([b'd']);
        hash.update((names.len() as u64).to_le_bytes());
        for name in names {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
            let to = to.map(|to| to.join(&name));
            self.walk(&inner.join(&name), to.as_deref(), quota, depth - 1, hash)?;
        }
        Ok(())
    }

    fn take_file(
        &self,
        inner: &Path,
        to: Option<&Path>,
        quota: &mut Quota,
        hash: &mut Sha256,
    ) -> Result<(), FolderError> {
        let cannot_write = |source| FolderError::Write {
            path: to.map(Path::to_owned).unwrap_or_default(),
            source,
        };
        let mut from = self.file(inner)?;
        let metadata = from.metadata().map_err(|error| self.cannot_read(inner, error))?;
        let mode = if metadata.mode() & 0o111 != 0 { 0o755 } else { 0o644 };
        let mut copy = to.map(fs::File::create).transpose().map_err(cannot_write)?;
        let (mut content, mut block) = (Sha256::new(), vec![0; 64 * 1024]);
        loop {
            let read = from.read(&mut block).map_err(|error| self.cannot_read(inner, error))?;
            if read == 0 {
                break;
            }
            let left = quota.bytes.checked_sub(read as u64);
            quota.bytes =
                left.ok_or_else(|| FolderError::TooMuch { path: self.path.join(inner) })?;
            content.update(&block[..read]);
            if let Some(copy) = &mut copy {
                copy.write_all(&block[..read]).map_err(cannot_write)?;
            }
        }
        if let Some(copy) = copy {
            copy.set_permissions(fs::Permissions::from_mode(mode)).map_err(cannot_write)?;
        }
        hash.update([b'f', u8::from(mode == 0o755)]);
        hash.update(content.finalize());
        Ok(())
    }

    /// Whether it is a folder, also behind a link that stays inside.
    fn is_folder(&self, inner: &Path) -> Result<bool, FolderError> {
        let metadata = self.dir.metadata(inner).map_err(|error| self.cannot_read(inner, error))?;
        Ok(metadata.is_dir())
    }

    /// The names in a folder, in order, but for links that lead nowhere: there is nothing behind them.
    fn names(
        &self,
        inner: &Path,
        quota: &mut Quota,
        depth: usize,
    ) -> Result<Vec<OsString>, FolderError> {
        let too_much = || FolderError::TooMuch { path: self.path.join(inner) };
        let cannot_read = |error| self.cannot_read(inner, error);
        if depth == 0 {
            return Err(too_much());
        }
        let mut names = Vec::new();
        for entry in self.dir.read_dir(inner).map_err(cannot_read)? {
            let entry = entry.map_err(cannot_read)?;
            quota.entries = quota.entries.checked_sub(1).ok_or_else(too_much)?;
            let name = entry.file_name();
            let is_link = entry.file_type().map_err(cannot_read)?.is_symlink();
            let leads_nowhere = |path: PathBuf| {
                self.dir.metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
            };
            if !is_link || !leads_nowhere(inner.join(&name)) {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens a regular file; the kernel keeps the lookup inside the folder, links and races included.
    fn file(&self, inner: &Path) -> Result<File, FolderError> {
        let no_file = || FolderError::NoFile { path: self.path.join(inner) };
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(CAREFUL.bits().cast_signed());
        let file = self.dir.open_with(inner, &options).map_err(|error| {
            match Errno::from_io_error(&error) {
                // A socket, or a device without a driver.
                Some(Errno::NXIO | Errno::NODEV) => no_file(),
                _ => self.cannot_read(inner, error),
            }
        })?;
        let cannot_read = |error| self.cannot_read(inner, error);
        let metadata = file.metadata().map_err(cannot_read)?;
        // A hard link cannot be told from the file itself, but its owner can.
        let owner = self.dir.dir_metadata().map_err(cannot_read)?.uid();
        let is_foreign = metadata.nlink() > 1 && metadata.uid() != owner;
        if metadata.is_file() && !is_foreign { Ok(file) } else { Err(no_file()) }
    }

    /// Tells "this leads out of the folder" from "you may not read this".
    fn cannot_read(&self, inner: &Path, source: io::Error) -> FolderError {
        let path = self.path.join(inner);
        let is_denied = source.kind() == ErrorKind::PermissionDenied;
        if inner.is_absolute() || is_denied && self.dir.canonicalize(inner).is_err() {
            return FolderError::LeadsOut { path, folder: self.path.clone() };
        }
        FolderError::Read { path, source }
    }
}

fn make_folder(path: Option<&Path>) -> Result<(), FolderError> {
    let Some(path) = path else { return Ok(()) };
    fs::create_dir_all(path).map_err(|source| FolderError::Write { path: path.to_owned(), source })
}

/// Opens a regular file that the user named; a pipe or a device is not waited for. `None` where it is something else.
pub(crate) fn open_regular(path: &Path) -> io::Result<Option<fs::File>> {
    let mut options = fs::OpenOptions::new();
    options.read(true).custom_flags(CAREFUL.bits().cast_signed());
    match options.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(Some(file)),
        Ok(_) => Ok(None),
        Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::NXIO | Errno::NODEV)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
