//! The file that trust is kept in.
//!
//! Invariant: whoever reads it sees it before or after a change, never in between; two processes that change it
//! at once both succeed; a link in its place is replaced, never followed to write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::TrustStore;

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
        match fs::read(path) {
            Ok(bytes) => {
                let store: Self = serde_json::from_slice(&bytes).map_err(damaged)?;
                let changed = match &store.checksum {
                    Some(_) => store.to_bytes() != bytes,
                    None => !store.keys.is_empty(),
                };
                let reason = "it was changed by something else than this program";
                if changed { Err(damaged(serde::de::Error::custom(reason))) } else { Ok(store) }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(TrustError::Read { path: path.to_owned(), source }),
        }
    }

    /// Reads the store, lets `change` have it, and writes it; nobody else changes it meanwhile.
    pub fn change<T>(path: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, TrustError> {
        let cannot = |source| TrustError::Write { path: path.to_owned(), source };
        let _lock = lock(path).map_err(cannot)?;
        let mut store = Self::read(path)?;
        let result = change(&mut store);
        store.replace(path).map_err(cannot)?;
        Ok(result)
    }

    fn replace(&self, path: &Path) -> io::Result<()> {
        let folder = folder_of(path);
        // Readable by its owner alone.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&self.to_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        File::open(folder)?.sync_all()
    }

    /// The whole file, with its checksum.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut store = Self { checksum: None, ..self.clone() };
        let plain = serde_json::to_vec(&store).expect("a trust store is plain data");
        store.checksum = Some(format!("sha256:{}", crate::hex(&Sha256::digest(&plain))));
        let mut bytes = serde_json::to_vec_pretty(&store).expect("a trust store is plain data");
        bytes.push(b'\n');
        bytes
    }
}

/// Held until dropped. A file of its own, because the store itself is replaced by every change.
fn lock(path: &Path) -> io::Result<File> {
    fs::create_dir_all(folder_of(path))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    let file = options.open(path.with_added_extension("lock"))?;
    file.lock()?;
    Ok(file)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}
