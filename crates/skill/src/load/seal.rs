//! Holding what is read to what was installed.
//!
//! Invariant: the bytes that are checked are the bytes that are handed over.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use basics::sha256::Sha256;
use basics::skill::{Diagnostic, Source};

use super::{Files, LoadError, VerifyOnLoad};
use crate::entry::Entry;
use crate::lock::{LockedSkill, Lockfile, tree_hash};

/// Where a skill's lockfile would be, and under which name.
#[derive(Debug)]
pub(super) struct Seal {
    lockfile: PathBuf,
    name: String,
}

impl Seal {
    /// An installed skill lies in a folder of its own name in its root.
    pub(super) fn of(entry: &Entry) -> Option<Self> {
        if entry.source == Source::Builtin || !entry.path.ends_with(Path::new(&entry.name)) {
            return None;
        }
        let root = entry.path.ancestors().nth(Path::new(&entry.name).components().count())?;
        Some(Self { lockfile: Lockfile::path_for(root), name: entry.name.clone() })
    }
}

impl Files {
    /// Checks bytes that were read from `path`. What `warn` finds comes back to be reported.
    pub fn verify(
        &self,
        path: &str,
        bytes: &[u8],
        how: VerifyOnLoad,
    ) -> Result<Option<Diagnostic>, LoadError> {
        self.check(path, how, |locked| {
            let known = locked.files.iter().find(|file| file.path == path);
            match known {
                None => Some("it was not installed with the skill"),
                Some(file) if file.sha256 != Sha256::of(bytes).to_string() => {
                    Some("it was changed since the skill was installed")
                }
                Some(_) => None,
            }
        })
    }

    /// Checks every file of the skill, for what may read any of them.
    pub fn verify_all(&self, how: VerifyOnLoad) -> Result<Option<Diagnostic>, LoadError> {
        let name = self.name().to_owned();
        self.check(&name, how, |locked| {
            let installed = format!("sha256:{}", tree_hash(&locked.files));
            match self.content().hash() {
                Ok(hash) if hash.as_str() == installed => None,
                _ => Some("its files were changed since the skill was installed"),
            }
        })
    }

    fn check(
        &self,
        path: &str,
        how: VerifyOnLoad,
        flaw: impl FnOnce(&LockedSkill) -> Option<&'static str>,
    ) -> Result<Option<Diagnostic>, LoadError> {
        let Some(seal) = self.seal.as_ref().filter(|_| how != VerifyOnLoad::Off) else {
            return Ok(None);
        };
        let reason = match Lockfile::read(&seal.lockfile) {
            Ok(lockfile) => lockfile.get(&seal.name).and_then(flaw).map(str::to_owned),
            Err(error) => Some(error.to_string()),
        };
        match (reason, how) {
            (None, _) => Ok(None),
            (Some(reason), VerifyOnLoad::Require) => {
                Err(LoadError::Modified { path: path.to_owned(), reason })
            }
            (Some(reason), _) => {
                Ok(Some(Diagnostic::new("modified-since-install", format!("`{path}`: {reason}"))))
            }
        }
    }
}
