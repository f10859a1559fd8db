//! Uninstalling, and bringing back what was uninstalled or replaced.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::Doing;
use super::intent::{Aside, Coming, Going, Intent, Move, inode, is_time};
use super::recover::read_note;
use super::stage::Replace;
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
    pub fn list_kept(&self, name: &str) -> Result<Vec<Kept>, InstallError> {
        let folders = [(KeptAs::Trash, self.trash()), (KeptAs::Backup, self.backup())];
        for (_, folder) in &folders {
            self.reached(&folder.join(name).join("time"))?;
        }
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
            // A link in their place would lead elsewhere.
            .filter(|kept| is_time(&kept.label) && is_folder(&kept.path))
            .collect();
        kept.sort_by(|a, b| order(&b.label).cmp(&order(&a.label)));
        Ok(kept)
    }

    /// `label`, or with a number behind it, so that it is later than all that is kept of that time.
    pub(super) fn free_label(&self, name: &str, label: &str) -> Result<String, InstallError> {
        let kept = self.list_kept(name)?;
        let same_time =
            kept.iter().map(|kept| order(&kept.label)).filter(|(time, _)| *time == label);
        Ok(match same_time.map(|(_, number)| number).max() {
            Some(number) => format!("{label}-{}", number.saturating_add(1)),
            None => label.to_owned(),
        })
    }
}

/// The time of a label, and which one of that time it is.
fn order(label: &str) -> (&str, u64) {
    let (time, number) = label.split_once('-').unwrap_or((label, "1"));
    (time, number.parse().unwrap_or(u64::MAX))
}

impl Opened<'_> {
    /// Takes a skill out; answers where it is kept, if it is. Of one that somebody else removed only the
    /// entry in the lockfile is left to go.
    pub fn uninstall(
        &mut self,
        name: &str,
        purge: bool,
        label: &str,
    ) -> Result<Option<PathBuf>, InstallError> {
        let (is_there, is_locked) = (self.root.has(name), self.lockfile.get(name).is_some());
        if !is_there && !is_locked {
            let (name, root) = (name.to_owned(), self.root.path.clone());
            return Err(InstallError::NotThere { name, root });
        }
        let path = self.root.target(name)?;
        if !path.join("SKILL.md").exists() && !is_locked {
            return Err(InstallError::InTheWay { path });
        }
        let staging = self.staging();
        self.disk.create_folder(&staging).doing("make", &staging)?;
        if !is_there {
            self.lockfile.remove(name);
            self.write_lockfile()?;
            self.carry_out(&Intent::default())?;
            return Ok(None);
        }
        let place = match purge {
            true => Aside::Old,
            false => Aside::Trash(self.root.free_label(name, label)?),
        };
        if !purge {
            self.write_note(&staging, name, &place)?;
        }
        if self.lockfile.remove(name).is_some() {
            self.write_lockfile()?;
        }
        let kept = self.place(&staging, name, &place)?;
        let goes = Some(Going { to: place, inode: inode(&path).unwrap_or_default() });
        self.carry_out(&Intent { moves: vec![Move { name: name.to_owned(), comes: None, goes }] })?;
        Ok((!purge).then_some(kept))
    }

    /// Brings a skill back; answers where the one that was in its place is kept, if it is.
    pub fn restore(
        &mut self,
        name: &str,
        kept: &Kept,
        replace: Replace,
        label: &str,
    ) -> Result<Option<PathBuf>, InstallError> {
        let goes = match self.root.has(name) {
            true => Some(self.replaced(name, replace, label)?),
            false => None,
        };
        let staging = self.staging();
        self.disk.create_folder(&staging).doing("make", &staging)?;
        let backup = self.note_backup(&staging, name, goes.as_ref())?;
        let from = match kept.kept_as {
            KeptAs::Trash => Aside::Trash(kept.label.clone()),
            KeptAs::Backup => Aside::Backup(kept.label.clone()),
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
        let comes = Some(Coming { from, inode });
        self.carry_out(&Intent { moves: vec![Move { name: name.to_owned(), comes, goes }] })?;
        Ok(backup)
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}
