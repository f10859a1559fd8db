//! The file that trust is kept in.
//!
//! Invariant: whoever reads it sees it before or after a change, never in between; two processes that change it
//! at once both succeed; a link in its place is replaced, never followed to write.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use basics::sha256::hex;
use sha2::{Digest, Sha256};
use state::{Durability, Folder, StateError};

use super::TrustStore;

/// A line for each of a hundred thousand skills.
const LARGEST: u64 = 64 << 20;

/// Why the trust store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// It cannot be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
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
        source: io::Error,
    },
}

impl TrustStore {
    /// Reads the store; a missing file is an empty one, a damaged one is an error.
    pub fn read(path: &Path) -> Result<Self, TrustError> {
        let damaged = |source| TrustError::Damaged { path: path.to_owned(), source };
        // The home is the user's, and so is a link there.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let read = || Folder::around(&real).and_then(|(folder, name)| folder.read(name, LARGEST));
        match read() {
            Ok(bytes) => {
                let store: Self = serde_json::from_slice(&bytes).map_err(damaged)?;
                let changed = match &store.checksum {
                    Some(_) => store.to_bytes() != bytes,
                    None => !store.keys.is_empty(),
                };
                let reason = "something other than Skillful changed it";
                if changed { Err(damaged(serde::de::Error::custom(reason))) } else { Ok(store) }
            }
            Err(error) if error.is_missing() => Ok(Self::default()),
            Err(error) => {
                Err(TrustError::Read { path: path.to_owned(), source: error.cause.into() })
            }
        }
    }

    /// Reads the store, lets `change` have it, and writes it; nobody else changes it meanwhile.
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustError> {
        let cannot = |error: StateError| TrustError::Write {
            path: path.to_owned(),
            source: error.cause.into(),
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        let folder = Folder::at_or_new(folder).map_err(cannot)?.private();
        let name = Path::new(path.file_name().unwrap_or_default());
        let _lock = lock(&folder, &name.with_added_extension("lock"))
            .map_err(|source| TrustError::Write { path: path.to_owned(), source })?;
        let mut store = Self::read(path)?;
        let result = change(&mut store);
        folder.replace_among_many(name, &store.to_bytes(), Durability::Sync).map_err(cannot)?;
        folder.sync().map_err(cannot)?;
        Ok(result)
    }

    /// The whole file, with its checksum.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut store = Self { checksum: None, ..self.clone() };
        let plain = serde_json::to_vec(&store).expect("a trust store is plain data");
        store.checksum = Some(format!("sha256:{}", hex(&Sha256::digest(&plain))));
        let mut bytes = serde_json::to_vec_pretty(&store).expect("a trust store is plain data");
        bytes.push(b'\n');
        bytes
    }
}

/// Held until dropped. A file of its own, because the store itself is replaced by every change.
fn lock(folder: &Folder, name: &Path) -> io::Result<File> {
    let file = folder.append_or_create(name).map_err(|error| io::Error::from(error.cause))?;
    file.lock()?;
    Ok(file)
}

impl Explain for TrustError {
    fn exit(&self) -> Exit {
        match self {
            Self::Damaged { .. } => Exit::Refused,
            Self::Read { .. } | Self::Write { .. } => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        "TrustStoreError"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Damaged { .. } => "repair or remove the file; then trust your projects again",
            Self::Read { .. } => "check that it is a file and that you can read it",
            Self::Write { source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "make room on the disk",
                ErrorKind::ReadOnlyFilesystem => "set HOME to a folder that you can write to",
                _ => "check that you can write to its folder",
            },
        }
        .into()
    }
}
