//! A whole skill: what its files amount to, and a copy of those inside the program.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use state::{Access, Folder};

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
    pub fn unpack(&self, folder: &Folder) -> Result<PathBuf, LoadError> {
        let failed = |path: &Path| {
            let path = path.to_string_lossy().into_owned();
            move |source: std::io::Error| LoadError::Io { path, source }
        };
        let name = self.name();
        let write = |path: &Path, bytes: &[u8], mode: u32| -> std::io::Result<()> {
            folder.create_folder(path.parent().unwrap_or(path), Access::Private)?;
            let mut file = folder.create_anew(path)?;
            file.write_all(bytes)?;
            file.set_permissions(Permissions::from_mode(mode))
        };
        for file in self.list() {
            let path = InnerPath::new(&file.path)?;
            let (bytes, mode) = self.read_with_mode(&path)?;
            let to = Path::new(name).join(path.as_str());
            write(&to, &bytes, mode).map_err(failed(&to))?;
        }
        let find = || Ok(folder.folder(name)?.real_path()?);
        find().map_err(failed(Path::new(name)))
    }
}
