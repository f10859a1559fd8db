//! Which projects' skills may be used: those the user has looked at. And whose keys may sign packs.
//!
//! Trust is bound to a folder and to what its skills say about themselves. A pull that adds a skill,
//! or changes a description or a tool list, asks again.
//!
//! Invariant: a store that holds keys is read only with the checksum that this program gave it.

mod evals;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use state::{Durability, Folder, StateError};

/// A line for each of a hundred thousand projects.
const LARGEST: u64 = 64 << 20;

pub use evals::EvalsTrust;

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
#[serde(deny_unknown_fields)]
pub struct TrustStore {
    /// Trusted folders of skills, by path.
    #[serde(default)]
    pub projects: BTreeMap<String, TrustedProject>,
    /// Keys that sign packs, by their id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub keys: BTreeMap<String, TrustedKey>,
    /// Files of eval cases, by path, each with the hash of all that it brings along.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub evals: BTreeMap<String, String>,
    /// Over the rest, so that a change by hand or by accident is noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
}

/// A key that may sign packs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustedKey {
    /// Whose key it is, in the user's words.
    pub name: String,
    /// The key in minisign's one-line form.
    pub public_key: String,
    /// Names of skills that it may sign; `*` stands for any characters.
    pub names: Vec<String>,
    /// When it was trusted, in RFC 3339.
    pub trusted_at: String,
    /// When trust was taken back. The key is kept, so that it cannot come back unseen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
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

impl TrustError {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Damaged { .. } => {
                "repair or remove the file; projects must then be trusted again"
            }
            Self::Read { .. } => "check that it is a file and that you may read it",
            Self::Write { source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk",
                ErrorKind::ReadOnlyFilesystem => "set HOME to a folder that can be written",
                _ => "check that you may write to the folder it is in",
            },
        }
    }
}

impl TrustStore {
    /// Reads the store; a missing file is an empty one, a damaged one is an error.
    pub fn read(path: &Path) -> Result<Self, TrustError> {
        let damaged = |source| TrustError::Damaged { path: path.to_owned(), source };
        let read = || Folder::around(path).and_then(|(folder, name)| folder.read(name, LARGEST));
        match read() {
            Ok(bytes) => {
                let store: Self = serde_json::from_slice(&bytes).map_err(damaged)?;
                let changed = match &store.checksum {
                    Some(_) => store.to_bytes() != bytes,
                    None => !store.keys.is_empty(),
                };
                let reason = "it was changed by something else than this program";
                if changed { Err(damaged(serde::de::Error::custom(reason))) } else { Ok(store) }
            }
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => {
                Err(TrustError::Read { path: path.to_owned(), source: error.cause.into() })
            }
        }
    }

    /// Replaces the file as a whole.
    pub fn write(&self, path: &Path) -> Result<(), TrustError> {
        let write = || {
            let folder = Folder::at_or_new(path.parent().unwrap_or(Path::new(".")))?.private();
            let name = path.file_name().unwrap_or_default();
            folder.replace_among_many(name, &self.to_bytes(), Durability::Sync)
        };
        write().map_err(|error: StateError| TrustError::Write {
            path: path.to_owned(),
            source: error.cause.into(),
        })
    }

    /// The whole file, with its checksum.
    fn to_bytes(&self) -> Vec<u8> {
        let mut store = Self { checksum: None, ..self.clone() };
        let plain = serde_json::to_vec(&store).expect("a trust store is plain data");
        store.checksum = Some(format!("sha256:{}", crate::hex(&Sha256::digest(&plain))));
        let mut bytes = serde_json::to_vec_pretty(&store).expect("a trust store is plain data");
        bytes.push(b'\n');
        bytes
    }

    /// Trusts the skills below `root` as they are now.
    pub fn trust(&mut self, root: &Path, index_hash: String, now: String) {
        self.projects.insert(key(root), TrustedProject { index_hash, trusted_at: now });
    }

    /// Takes trust back from every folder and file of cases at or below `path`; what lost it is returned.
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
        gone.into_iter().chain(self.untrust_evals(path)).collect()
    }
}

/// Links and `..` must not make one folder look like another.
fn key(root: &Path) -> String {
    root.canonicalize().unwrap_or_else(|_| root.to_owned()).to_string_lossy().into_owned()
}
