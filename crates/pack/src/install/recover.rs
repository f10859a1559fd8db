//! After an interruption: what was decided is finished, everything else is thrown away.

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use skill::lock::LockedSkill;

use super::error::Doing;
use super::intent::{FILE, Intent};
use super::{InstallError, Opened};
use crate::disk::read_plain;

/// A note beyond this is none: an entry with 10,000 files takes about 2 MB.
const LARGEST_NOTE: u64 = 16 << 20;

impl Opened<'_> {
    pub(super) fn recover(&self) -> Result<(), InstallError> {
        let area = self.root.staging();
        if !area.exists() {
            return Ok(());
        }
        for stray in others(&area).doing("read", &area)? {
            self.disk.remove(&stray).doing("remove", &stray)?;
        }
        for staging in folders(&area).doing("read", &area)? {
            let id = staging.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match Intent::read(&staging.join(FILE)) {
                Ok(intent) => self.finish(&staging, &id, &intent)?,
                Err(error) if error.kind() == ErrorKind::NotFound => self.discard(&id)?,
                Err(error) => {
                    return Err(InstallError::Interrupted {
                        path: staging,
                        reason: error.to_string(),
                    });
                }
            }
        }
        self.prune()
    }

    /// Removes a staging area and the lockfile that was to come.
    pub(super) fn discard(&self, id: &str) -> Result<(), InstallError> {
        if id.is_empty() {
            return Ok(());
        }
        let paths = [self.root.new_lockfile(id), self.root.staging().join(id)];
        paths.iter().try_for_each(|path| self.disk.remove(path).doing("remove", path))
    }

    /// Removes notes and manifests that nothing refers to any more, and folders that are empty.
    pub(super) fn prune(&self) -> Result<(), InstallError> {
        let mut used = BTreeSet::new();
        let packs = self.root.packs();
        for kept in [self.root.trash(), self.root.backup()] {
            for folder in skill_folders(&kept) {
                for note in notes(&folder) {
                    if fs::symlink_metadata(note.with_extension("")).is_ok() {
                        used.extend(read_note(&note).and_then(|skill| skill.manifest));
                    } else {
                        self.disk.remove(&note).doing("remove", &note)?;
                    }
                }
                self.remove_empty(&folder, &kept)?;
            }
        }
        // A lockfile that cannot be read may refer to any of them.
        if let (true, Ok(lockfile)) = (packs.is_dir(), self.root.lockfile()) {
            used.extend(lockfile.skills().iter().filter_map(|skill| skill.manifest.clone()));
            for pack in folders(&packs).doing("read", &packs)? {
                let name = pack.file_name().unwrap_or_default().to_string_lossy().into_owned();
                if !used.contains(&name) {
                    self.disk.remove(&pack).doing("remove", &pack)?;
                }
            }
        }
        for folder in [self.root.staging(), self.root.trash(), self.root.backup(), packs] {
            self.disk.remove_if_empty(&folder).doing("remove", &folder)?;
        }
        Ok(())
    }

    /// Removes a folder if it is empty, and a namespace's with it.
    pub(super) fn remove_empty(&self, folder: &Path, above: &Path) -> Result<(), InstallError> {
        for folder in folder.ancestors().take_while(|folder| *folder != above) {
            self.disk.remove_if_empty(folder).doing("remove", folder)?;
        }
        Ok(())
    }
}

/// Folders of skills in the trash or among backups; a namespace is a folder above.
fn skill_folders(kept: &Path) -> Vec<PathBuf> {
    let outer = folders(kept).unwrap_or_default();
    let inner = outer.iter().flat_map(|folder| folders(folder).unwrap_or_default());
    let is_namespace = |folder: &PathBuf| {
        folder.file_name().is_some_and(|name| !super::intent::is_time(&name.to_string_lossy()))
    };
    inner.filter(is_namespace).chain(outer.iter().cloned()).collect()
}

/// What is known of the folders beside them.
fn notes(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// The entry of the lockfile that a kept skill had.
pub(super) fn read_note(path: &Path) -> Option<LockedSkill> {
    serde_json::from_slice(&read_plain(path, LARGEST_NOTE).ok()?).ok()
}

/// Folders in a folder, sorted; a folder that is not there has none.
fn folders(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    entries(path, |kind| kind.is_dir())
}

/// Whatever is in a folder and is none.
fn others(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    entries(path, |kind| !kind.is_dir())
}

fn entries(path: &Path, wanted: fn(FileType) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if wanted(entry.file_type()?) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
