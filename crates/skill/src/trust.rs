//! Which projects' skills may be used: those the user has looked at.
//!
//! Trust is bound to a folder and to what its skills say about themselves. A pull that adds a skill,
//! or changes a description or a tool list, asks again.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Whether project skills need trust, and which have it.
#[derive(Debug, Clone)]
pub enum Trust {
    /// The gate is off: every project counts as trusted.
    Everything,
    /// Only folders in the store.
    Only(TrustStore),
}

impl Default for Trust {
    fn default() -> Self {
        Self::Only(TrustStore::default())
    }
}

impl Trust {
    /// Whether skills below `root` may be used; `hash` is asked for only where it matters.
    pub(crate) fn covers(&self, root: &Path, hash: impl FnOnce() -> String) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(store) => {
                store.projects.get(&key(root)).is_some_and(|known| known.index_hash == hash())
            }
        }
    }
}

/// The user's `trust.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrustStore {
    /// Trusted folders of skills, by path.
    #[serde(default)]
    pub projects: BTreeMap<String, TrustedProject>,
    /// What other parts keep in the same file.
    #[serde(flatten)]
    pub others: BTreeMap<String, serde_json::Value>,
}

/// Trust in one folder of skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedProject {
    /// What its skills said about themselves when they were trusted.
    pub index_hash: String,
    /// When that was, in RFC 3339.
    pub trusted_at: String,
}

/// Why the trust store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is not what this program writes.
    #[error("`{path}` is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// It cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl TrustStore {
    /// Reads the store; a missing file is an empty one, a damaged one is an error.
    pub fn read(path: &Path) -> Result<Self, TrustError> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|source| TrustError::Damaged { path: path.to_owned(), source }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(TrustError::Read { path: path.to_owned(), source }),
        }
    }

    /// Replaces the file as a whole.
    pub fn write(&self, path: &Path) -> Result<(), TrustError> {
        let write = || {
            let folder = path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(path)?;
            Ok(())
        };
        write().map_err(|source| TrustError::Write { path: path.to_owned(), source })
    }

    /// Trusts the skills below `root` as they are now.
    pub fn trust(&mut self, root: &Path, index_hash: String, now: String) {
        self.projects.insert(key(root), TrustedProject { index_hash, trusted_at: now });
    }

    /// Takes trust back from every folder at or below `path`; the folders are returned.
    pub fn untrust(&mut self, path: &Path) -> Vec<String> {
        let gone: Vec<String> = self
            .projects
            .keys()
            .filter(|root| Path::new(root).starts_with(path))
            .cloned()
            .collect();
        gone.iter().for_each(|root| {
            self.projects.remove(root);
        });
        gone
    }
}

/// Links and `..` must not make one folder look like another.
fn key(root: &Path) -> String {
    root.canonicalize().unwrap_or_else(|_| root.to_owned()).to_string_lossy().into_owned()
}
