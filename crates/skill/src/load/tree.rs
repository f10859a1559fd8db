//! A whole skill: what its files amount to, and a copy of those inside the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Files, LoadError, sha256};
use crate::inner_path::InnerPath;
use crate::lock::{FileRecord, Mode};

impl Files {
    /// Every file that can be read, with its hash, in the order of their paths.
    pub fn records(&self) -> Vec<FileRecord> {
        let record = |file: super::SkillFile| {
            let path = InnerPath::new(&file.path).ok()?;
            let (bytes, mode) = self.read_with_mode(&path).ok()?;
            Some(FileRecord {
                path: file.path,
                sha256: sha256(&bytes),
                size: bytes.len() as u64,
                mode: Mode::of(mode),
            })
        };
        self.list().into_iter().filter_map(record).collect()
    }

    /// A hash over path, mode, size and content of every file, in the order of their paths. A file that
    /// cannot be read counts by its name, so that it cannot be swapped unseen.
    pub fn content_hash(&self) -> String {
        let mut tree = Sha256::new();
        for file in self.list() {
            tree.update((file.path.len() as u64).to_le_bytes());
            tree.update(file.path.as_bytes());
            let read =
                InnerPath::new(&file.path).ok().and_then(|path| self.read_with_mode(&path).ok());
            if let Some((bytes, mode)) = read {
                tree.update(mode.to_le_bytes());
                tree.update((bytes.len() as u64).to_le_bytes());
                tree.update(sha256(&bytes));
            }
        }
        crate::hex(&tree.finalize())
    }

    /// Writes the files of a built-in skill below `folder`, where its scripts can run; answers with the
    /// skill's folder there.
    pub fn unpack(&self, folder: &Path) -> Result<PathBuf, LoadError> {
        let target = folder.join(self.name());
        for file in self.list() {
            let path = InnerPath::new(&file.path)?;
            let (bytes, mode) = self.read_with_mode(&path)?;
            let to = target.join(path.as_str());
            let written = fs::create_dir_all(to.parent().unwrap_or(&target))
                .and_then(|()| fs::write(&to, bytes))
                .and_then(|()| fs::set_permissions(&to, fs::Permissions::from_mode(mode)));
            written.map_err(|source| LoadError::Io {
                path: to.to_string_lossy().into_owned(),
                source,
            })?;
        }
        Ok(target)
    }
}
