//! A private copy of a script among links to its neighbours.
//!
//! The copy lies where no script can write, so the bytes that were approved are the bytes that run,
//! even if the file in the skill is replaced meanwhile. The neighbours are read from the skill as
//! they are.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Script, ScriptError};

/// The mirror of one skill, removed when dropped.
pub(super) struct Mirror {
    folder: TempDir,
    script: PathBuf,
}

impl Mirror {
    /// Mirrors `skill` with the approved content as its script.
    pub(super) fn new(place: &Path, skill: &Path, script: &Script) -> Result<Self, ScriptError> {
        let prepare = |source| ScriptError::Prepare { path: script.path.clone(), source };
        let folder =
            tempfile::Builder::new().prefix("script-").tempdir_in(place).map_err(prepare)?;
        let copy = folder.path().join(skill.file_name().unwrap_or_default());
        let script = fill(skill, &copy, &script.path, &script.content.0).map_err(prepare)?;
        Ok(Self { folder, script })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn script(&self) -> &Path {
        &self.script
    }
}

fn fill(skill: &Path, copy: &Path, script: &Path, content: &[u8]) -> io::Result<PathBuf> {
    let (mut original, mut copy) = (skill.to_owned(), copy.to_owned());
    for part in script {
        fs::create_dir(&copy)?;
        for entry in fs::read_dir(&original)? {
            let entry = entry?;
            if entry.file_name() != part {
                symlink(entry.path(), copy.join(entry.file_name()))?;
            }
        }
        original.push(part);
        copy.push(part);
    }
    OpenOptions::new().write(true).create_new(true).mode(0o500).open(&copy)?.write_all(content)?;
    Ok(copy)
}
