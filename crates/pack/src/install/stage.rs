//! Unpacking beside the installed skills, and taking their place.

use std::collections::HashMap;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use basics::sha256::Sha256;
use skill::lock::{LockedSkill, Signer};

use super::error::Doing;
use super::intent::{Aside, Coming, Going, Intent, Move, inode};
use super::state::records;
use super::{InstallError, Opened};
use crate::accept::Accepted;
use crate::check::{CheckError, Copy, Pack, Rules, Verified, check, differences};
use crate::disk::open_plain;
use crate::manifest::{DETACHED, MANIFEST, SIGNATURE};
use crate::material::{Entry, Material, Mode};

/// What happens to a skill of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// Nothing: it is in the way.
    Never,
    /// It is moved to `.backup` and kept there.
    Backup,
    /// It is moved away, and removed when all is done.
    Force,
}

/// How skills are installed.
#[derive(Debug)]
pub struct Plan {
    /// Files that the user changed, and that stay as they are, by the name of their skill.
    pub keep: HashMap<String, Vec<String>>,
    /// What happens to skills of the same names.
    pub replace: Replace,
    /// The time as a name, as in `20261115T083000Z`.
    pub label: String,
    /// What the lockfile says of them afterwards.
    pub record: Record,
}

/// What the lockfile says of skills that were installed.
#[derive(Debug)]
pub enum Record {
    /// Where they come from now.
    New {
        /// Where it all comes from, as it can be given to `install` again.
        source: String,
        /// What the source was at this time.
        resolved: Option<String>,
        /// The time in RFC 3339.
        now: String,
    },
    /// What it said before; the pack was compared with it.
    AsLocked,
}

/// A skill that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// Its folder.
    pub path: PathBuf,
    /// The hash over its files.
    pub sha256: String,
    /// Where the one before it is kept.
    pub backup: Option<PathBuf>,
    /// Who signed it.
    pub signer: Option<Signer>,
}

/// So few files are waited for one by one; for more it is cheaper to wait for the device.
const FEW: usize = 64;

impl Opened<'_> {
    /// Unpacks a pack into the staging area while it is checked, then checks what was unpacked.
    pub fn stage(
        &self,
        material: Material,
        detached: Option<String>,
        rules: &Rules<'_>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Verified<Pack>, InstallError> {
        let folder = self.staging().join("unpacked");
        self.disk.create_folder(&folder).doing("make", &folder)?;
        self.make_folders(&folder, &material)?;
        let many = material.entries().len() > FEW;
        let unpack = |entry: &Entry, copy: &mut Copy<'_>| {
            let mut file = self.disk.create_file(&folder.join(entry.path.as_str()), entry.mode)?;
            copy(&mut file)?;
            if many {
                file.write_soon();
            }
            Ok(())
        };
        let pack = check(material, detached, rules, Some(&unpack), progress)?;
        // Reading what was unpacked and waiting for the device need not wait for each other.
        let (found, synced) = thread::scope(|scope| {
            let syncing = scope.spawn(|| self.sync(&folder, &pack));
            let found = records(&folder).doing("read", &folder);
            (found, syncing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let refusals = differences(&pack.files, &found?);
        if !refusals.is_empty() {
            return Err(CheckError::Refused(refusals).into());
        }
        synced?;
        Ok(pack)
    }

    /// Waits until everything that was unpacked is on the device.
    fn sync(&self, folder: &Path, pack: &Pack) -> Result<(), InstallError> {
        if pack.files.len() > FEW && self.disk.sync_everything(folder).doing("write", folder)? {
            return Ok(());
        }
        for file in &pack.files {
            let path = folder.join(&file.path);
            self.disk.sync_path(&path).doing("write", &path)?;
        }
        Ok(())
    }

    fn make_folders(&self, folder: &Path, material: &Material) -> Result<(), InstallError> {
        let mut last = PathBuf::new();
        for entry in material.entries() {
            let inner = folder.join(entry.path.as_str());
            let parent = inner.parent().unwrap_or(folder);
            if parent != last {
                self.disk.create_folder(parent).doing("make", parent)?;
                last = parent.to_owned();
            }
        }
        Ok(())
    }

    /// Puts skills of the pack that was staged in their places.
    pub fn install(
        &mut self,
        accepted: &Accepted<'_>,
        plan: &Plan,
    ) -> Result<Vec<Installed>, InstallError> {
        let pack = accepted.pack();
        let staging = self.staging();
        let manifest = self.keep_manifest(&staging, pack)?;
        let mut intent = Intent::default();
        let mut installed = Vec::new();
        for skill in accepted.skills() {
            let name = skill.name();
            let goes = self.displaced(name, plan)?;
            let unpacked = staging.join("unpacked").join(&skill.dir);
            let new = self.place(&staging, name, &Aside::New)?;
            let above = new.parent().unwrap_or(&staging);
            self.disk.create_folder(above).doing("make", above)?;
            self.disk.rename(&unpacked, &new).doing("move", &unpacked)?;
            self.keep_files(name, &new, plan.keep.get(name).map_or(&[], Vec::as_slice))?;
            let backup = self.note_backup(&staging, name, goes.as_ref())?;
            installed.push(Installed {
                name: name.to_owned(),
                version: skill.version().map(str::to_owned),
                path: self.root.skill(name),
                sha256: skill.sha256.clone(),
                backup,
                signer: pack.signer.clone(),
            });
            if let Record::New { source, resolved, now } = &plan.record {
                self.lockfile.insert(LockedSkill {
                    name: name.to_owned(),
                    version: skill.version().map(str::to_owned),
                    source: source.clone(),
                    resolved: resolved.clone(),
                    sha256: skill.sha256.clone(),
                    files: skill.files.clone(),
                    manifest: manifest.clone(),
                    signature: pack
                        .signature
                        .as_ref()
                        .map(|text| Sha256::of(text.as_bytes()).to_string()),
                    signer: pack.signer.clone(),
                    installed_at: now.clone(),
                });
            }
            let inode = inode(&new).unwrap_or_default();
            intent.moves.push(Move {
                name: name.to_owned(),
                comes: Some(Coming { from: Aside::New, inode }),
                goes,
            });
        }
        self.write_lockfile()?;
        self.carry_out(&intent)?;
        Ok(installed)
    }

    /// What becomes of the skill that is in the place of a new one.
    fn displaced(&self, name: &str, plan: &Plan) -> Result<Option<Going>, InstallError> {
        let path = self.root.target(name)?;
        // A skill within a skill would never be found.
        let above = Path::new(name).parent().filter(|above| !above.as_os_str().is_empty());
        if let Some(above) = above
            .map(|above| self.root.path.join(above))
            .filter(|above| above.join("SKILL.md").exists())
        {
            return Err(InstallError::InTheWay { path: above });
        }
        if !self.root.has(name) {
            return Ok(None);
        }
        if !path.join("SKILL.md").exists() {
            return Err(InstallError::InTheWay { path });
        }
        self.replaced(name, plan.replace, &plan.label).map(Some)
    }

    /// Where the skill goes that is there.
    pub(super) fn replaced(
        &self,
        name: &str,
        replace: Replace,
        label: &str,
    ) -> Result<Going, InstallError> {
        let path = self.root.target(name)?;
        let inode = inode(&path).unwrap_or_default();
        let to = match replace {
            Replace::Never => return Err(InstallError::Exists { name: name.to_owned(), path }),
            Replace::Backup => Aside::Backup(self.root.free_label(name, label)?),
            Replace::Force => Aside::Old,
        };
        Ok(Going { to, inode })
    }

    /// Writes a note beside where a backup goes, and answers where that is.
    pub(super) fn note_backup(
        &self,
        staging: &Path,
        name: &str,
        goes: Option<&Going>,
    ) -> Result<Option<PathBuf>, InstallError> {
        match goes {
            Some(Going { to: place @ Aside::Backup(_), .. }) => {
                self.write_note(staging, name, place)?;
                self.place(staging, name, place).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Copies what the user changed over what the pack has.
    fn keep_files(&self, name: &str, new: &Path, keep: &[String]) -> Result<(), InstallError> {
        for path in keep {
            let (from, to) = (self.root.skill(name).join(path), new.join(path));
            let above = to.parent().unwrap_or(new);
            self.disk.create_folder(above).doing("make", above)?;
            if !fs::symlink_metadata(&from).doing("look at", &from)?.is_file() {
                return Err(InstallError::NotAFile { path: from });
            }
            let mut content = open_plain(&from).doing("read", &from)?;
            let mode = Mode::of(content.metadata().doing("read", &from)?.mode());
            self.disk.remove(&to).doing("replace", &to)?;
            let mut copy = || {
                let mut file = self.disk.create_file(&to, mode)?;
                io::copy(&mut content, &mut file)?;
                file.sync()
            };
            copy().doing("write", &to)?;
        }
        Ok(())
    }

    /// Keeps manifest and signature, so that the skills can be verified at any later time.
    fn keep_manifest(&self, staging: &Path, pack: &Pack) -> Result<Option<String>, InstallError> {
        let Some(manifest) = &pack.manifest else { return Ok(None) };
        let hash = Sha256::of(manifest).to_string();
        let (draft, folder) = (staging.join("pack"), self.root.packs().join(&hash));
        let write = || {
            self.disk.create_folder(&draft)?;
            let files = [
                (MANIFEST, Some(manifest.as_slice())),
                (SIGNATURE, pack.signature.as_deref().map(str::as_bytes)),
                (DETACHED, pack.is_detached.then_some(b"".as_slice())),
            ];
            for (name, content) in files {
                if let Some(content) = content {
                    let mut file = self.disk.create_file(&draft.join(name), Mode::Plain)?;
                    file.write_all(content)?;
                    file.sync()?;
                }
            }
            self.disk.create_folder(folder.parent().unwrap_or(staging))?;
            // The same manifest may come with another signature.
            match folder.exists() && self.disk.exchange(&draft, &folder)? {
                true => Ok(()),
                false => {
                    self.disk.remove(&folder)?;
                    self.disk.rename(&draft, &folder)
                }
            }
        };
        write().doing("write", &folder)?;
        Ok(Some(hash))
    }

    /// Writes down what a skill was, beside where it goes.
    pub(super) fn write_note(
        &self,
        staging: &Path,
        name: &str,
        place: &Aside,
    ) -> Result<(), InstallError> {
        let Some(skill) = self.lockfile.get(name) else { return Ok(()) };
        let path = self.place(staging, name, place)?.with_extension("json");
        let write = || {
            self.disk.create_folder(path.parent().unwrap_or(staging))?;
            let mut file = self.disk.create_file(&path, Mode::Plain)?;
            file.write_all(&serde_json::to_vec_pretty(skill)?)?;
            file.sync()
        };
        write().doing("write", &path)
    }

    /// Writes the lockfile that is to come beside the one that is.
    pub(super) fn write_lockfile(&self) -> Result<(), InstallError> {
        let path = self.root.new_lockfile(&self.id);
        let write = || {
            let mut file = self.disk.create_file(&path, Mode::Plain)?;
            file.write_all(&self.lockfile.to_bytes())?;
            file.sync()
        };
        write().doing("write", &path)
    }
}
