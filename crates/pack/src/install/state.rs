//! Whether installed files are still what was installed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use basics::sha256::hex;
use sha2::{Digest, Sha256};
use skill::lock::{FileRecord, LockedSkill};

use super::Root;
use crate::check::{differences, in_parallel};
use crate::disk::open_plain;
use crate::material::Mode;
use crate::refusal::{Flaw, Refusal};

/// How installed files compare with the lockfile.
#[derive(Debug, Clone)]
pub struct InstalledState {
    /// The files that are there.
    pub files: Vec<FileRecord>,
    /// What is different.
    pub refusals: Vec<Refusal>,
}

impl InstalledState {
    /// Files that the user changed or added.
    pub fn edited(&self) -> Vec<String> {
        let edits = [Flaw::WrongHash, Flaw::WrongSize, Flaw::WrongMode, Flaw::PresentButUnlisted];
        let edited = self.refusals.iter().filter(|refusal| edits.contains(&refusal.flaw));
        edited.filter_map(|refusal| refusal.entry.clone()).collect()
    }
}

/// Reads every file of an installed skill.
pub fn state_of(root: &Root, locked: &LockedSkill) -> io::Result<InstalledState> {
    let files = records(&root.skill(&locked.name))?;
    let refusals = differences(&locked.files, &files);
    Ok(InstalledState { files, refusals })
}

/// Every file below a folder, with its hash. What is no file has none, so that it differs from all.
pub(crate) fn records(folder: &Path) -> io::Result<Vec<FileRecord>> {
    let mut paths = Vec::new();
    walk(folder, "", &mut paths)?;
    let mut records = in_parallel(&paths, |(path, inner)| record(path, inner))
        .into_iter()
        .collect::<io::Result<Vec<_>>>()?;
    records.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(records)
}

fn walk(folder: &Path, prefix: &str, paths: &mut Vec<(PathBuf, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let inner = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()? {
            kind if kind.is_dir() => walk(&entry.path(), &format!("{inner}/"), paths)?,
            _ => paths.push((entry.path(), inner)),
        }
    }
    Ok(())
}

fn record(path: &Path, inner: &str) -> io::Result<FileRecord> {
    let odd =
        || FileRecord { path: inner.to_owned(), sha256: String::new(), size: 0, mode: Mode::Plain };
    if !fs::symlink_metadata(path)?.is_file() {
        return Ok(odd());
    }
    let mut file = open_plain(path)?;
    let found = file.metadata()?;
    let (sha256, size) = hash(&mut file, found.len())?;
    Ok(FileRecord { path: inner.to_owned(), sha256, size, mode: Mode::of(found.mode()) })
}

fn hash(file: &mut File, size: u64) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; usize::try_from(size + 1).unwrap_or(usize::MAX).min(128 << 10)];
    let mut count = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((hex(&hasher.finalize()), count)),
            read => {
                hasher.update(&buffer[..read]);
                count += read as u64;
            }
        }
    }
}
