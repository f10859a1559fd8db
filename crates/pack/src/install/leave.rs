//! Uninstalling, and bringing back what was uninstalled or replaced.

use std::fs;
use std::path::PathBuf;

use super::error::Doing;
use super::intent::{Coming, Intent, Move, Place, inode, is_time};
use super::recover::read_note;
use super::stage::{Replace, free_label};
use super::{InstallError, Opened, Root};

/// A skill that can be brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Since when, as in `20261115T083000Z`.
    pub label: String,
    /// Why it was kept.
    pub kept_as: KeptAs,
    /// Where it is.
    pub path: PathBuf,
}

/// Why a skill was kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptAs {
    /// It was uninstalled.
    Trash,
    /// It was replaced.
    Backup,
}

impl Root {
    /// What can be brought back of a skill, the newest first.
    pub fn kept(&self, name: &str) -> Vec<Kept> {
        let folders = [(KeptAs::Trash, self.trash()), (KeptAs::Backup, self.backup())];
        let mut kept: Vec<Kept> = folders
            .into_iter()
            .flat_map(|(kept_as, folder)| {
                let entries = fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
                entries.map(move |entry| Kept {
                    label: entry.file_name().to_string_lossy().into_owned(),
                    kept_as,
                    path: entry.path(),
                })
            })
            .filter(|kept| is_time(&kept.label))
            .collect();
        kept.sort_by(|a, b| b.label.cmp(&a.label));
        kept
    }
}

impl Opened<'_> {
    /// Takes a skill out; answers where it is kept, if it is.
    pub fn uninstall(
        &mut self,
        name: &str,
        purge: bool,
        label: &str,
    ) -> Result<Option<PathBuf>, InstallError> {
        if !self.root.has(name) {
            return Err(InstallError::NotThere {
                name: name.to_owned(),
                root: self.root.path.clone(),
            });
        }
        let path = self.root.skill(name);
        if !path.join("SKILL.md").exists() && self.lockfile.get(name).is_none() {
            return Err(InstallError::InTheWay { path });
        }
        let staging = self.staging();
        self.disk.create_folder(&staging).doing("make", &staging)?;
        let place = match purge {
            true => Place::Old,
            false => Place::Trash(free_label(&self.root.trash().join(name), label)),
        };
        if !purge {
            self.write_note(&staging, name, &place)?;
        }
        if self.lockfile.remove(name).is_some() {
            self.write_lockfile()?;
        }
        let kept = (!purge).then(|| self.place(&staging, name, &place));
        self.carry_out(&Intent {
            moves: vec![Move { name: name.to_owned(), comes: None, goes: Some(place) }],
        })?;
        Ok(kept)
    }

    /// Brings a skill back; answers where the one that was in its place is kept, if it is.
    pub fn restore(
        &mut self,
        name: &str,
        kept: &Kept,
        replace: Replace,
        label: &str,
    ) -> Result<Option<PathBuf>, InstallError> {
        let path = self.root.skill(name);
        let goes = match (self.root.has(name), replace) {
            (false, _) => None,
            (true, Replace::Never) => {
                return Err(InstallError::Exists { name: name.to_owned(), path });
            }
            (true, Replace::Backup) => {
                Some(Place::Backup(free_label(&self.root.backup().join(name), label)))
            }
            (true, Replace::Force) => Some(Place::Old),
        };
        let staging = self.staging();
        self.disk.create_folder(&staging).doing("make", &staging)?;
        if let Some(place @ Place::Backup(_)) = &goes {
            self.write_note(&staging, name, place)?;
        }
        let from = match kept.kept_as {
            KeptAs::Trash => Place::Trash(kept.label.clone()),
            KeptAs::Backup => Place::Backup(kept.label.clone()),
        };
        // A skill that was never installed by us has no note, and gets no entry.
        match read_note(&kept.path.with_extension("json")) {
            Some(locked) if locked.name == name => self.lockfile.insert(locked),
            _ => {
                self.lockfile.remove(name);
            }
        }
        self.write_lockfile()?;
        let inode = inode(&kept.path).unwrap_or_default();
        let backup = goes.as_ref().filter(|place| matches!(place, Place::Backup(_)));
        let backup = backup.map(|place| self.place(&staging, name, place));
        let comes = Some(Coming { from, inode });
        self.carry_out(&Intent { moves: vec![Move { name: name.to_owned(), comes, goes }] })?;
        Ok(backup)
    }
}
