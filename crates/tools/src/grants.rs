//! The file in which approvals are remembered: list, add, revoke.
//!
//! Invariants: a reader sees the file before or after a change, never in between; two processes that
//! change it at once both succeed; a file that cannot be understood is an error and stays as it is.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use basics::failure::Explain;
use permission::Grant;
use serde::{Deserialize, Serialize};
use state::{Durability, Folder, StateError};

/// Remembered approvals in a file.
#[derive(Clone, Debug)]
pub struct GrantFile {
    path: PathBuf,
}

/// Why the file of remembered approvals could not be used.
#[derive(Debug, thiserror::Error)]
pub enum GrantFileError {
    /// It could not be read.
    #[error("cannot read the remembered approvals in `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It could not be written or locked.
    #[error("cannot write the remembered approvals to `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what this program writes.
    #[error("cannot understand the remembered approvals in `{}`", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A newer program wrote it.
    #[error("the remembered approvals in `{}` have version {found}, but Skillful supports version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

const VERSION: u32 = 1;
/// A few lines for each of a hundred thousand approvals.
const LARGEST: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    grants: Vec<Grant>,
}

impl GrantFile {
    /// The file at `path`, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Everything that is remembered.
    pub fn list(&self) -> Result<Vec<Grant>, GrantFileError> {
        let read =
            || Folder::around(&self.path).and_then(|(folder, name)| folder.read(name, LARGEST));
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            Err(error) => {
                let (path, source) = (self.path.clone(), error.cause.into());
                return Err(GrantFileError::Read { path, source });
            }
        };
        let content: Content = serde_json::from_slice(&bytes)
            .map_err(|source| GrantFileError::Corrupt { path: self.path.clone(), source })?;
        if content.version != VERSION {
            return Err(GrantFileError::Version {
                path: self.path.clone(),
                found: content.version,
            });
        }
        Ok(content.grants)
    }

    /// Remembers more.
    pub fn add(&self, added: impl IntoIterator<Item = Grant>) -> Result<(), GrantFileError> {
        let _lock = self.lock()?;
        let mut grants = self.list()?;
        grants.extend(added);
        grants.sort();
        grants.dedup();
        self.replace(grants)
    }

    /// Forgets what `chosen` picks and returns it.
    pub fn revoke(&self, chosen: impl FnMut(&Grant) -> bool) -> Result<Vec<Grant>, GrantFileError> {
        let _lock = self.lock()?;
        let (revoked, kept): (Vec<Grant>, Vec<Grant>) = self.list()?.into_iter().partition(chosen);
        if !revoked.is_empty() {
            self.replace(kept)?;
        }
        Ok(revoked)
    }

    /// Held until dropped. A file of its own, because the file itself is replaced by every change.
    fn lock(&self) -> Result<File, GrantFileError> {
        let open = || -> io::Result<File> {
            let mut name = self.name().to_owned();
            name.push(".lock");
            let file = self.folder()?.append_or_create(name).map_err(|error| error.cause)?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|source| self.not_written(source))
    }

    fn replace(&self, grants: Vec<Grant>) -> Result<(), GrantFileError> {
        let mut text = serde_json::to_vec_pretty(&Content { version: VERSION, grants })
            .map_err(|source| self.not_written(source.into()))?;
        text.push(b'\n');
        let write = || {
            let folder = self.folder()?;
            folder.replace(self.name(), &text, Durability::Sync)?;
            folder.sync()
        };
        write().map_err(|error: StateError| self.not_written(error.cause.into()))
    }

    fn folder(&self) -> Result<Folder, StateError> {
        Ok(Folder::at_or_new(self.path.parent().unwrap_or(Path::new(".")))?.private())
    }

    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    fn not_written(&self, source: io::Error) -> GrantFileError {
        GrantFileError::Write { path: self.path.clone(), source }
    }
}

impl Explain for GrantFileError {
    fn code(&self) -> &'static str {
        "GrantsError"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Read { .. } | Self::Write { .. } => {
                "check that the file and its folder belong to you"
            }
            Self::Corrupt { .. } => "repair the file, or move it away to forget every approval",
            Self::Version { .. } => {
                "update Skillful, or move the file away to forget every approval"
            }
        }
        .into()
    }
}

#[cfg(test)]
mod tests;
