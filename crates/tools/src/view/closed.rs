//! What is closed to programs in the workspace: what the file tools hide there cannot be read, and what they never
//! change cannot be changed.
//!
//! Names decide, as they do for the tools, so the folder is looked through before each command. Invariant:
//! what was not looked at stays closed, and is counted.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, DirEntry, ReadDir};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::workspace::PathPatterns;

/// How many files and folders are looked at before the rest is closed unseen.
const MOST: usize = 500_000;

/// What a program may not read or change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Closed {
    /// Files and folders that it may not read; a folder stands for everything in it.
    pub(super) paths: Vec<PathBuf>,
    /// Those that it may not change, outer ones first.
    pub(super) protected: Vec<PathBuf>,
    /// The `.git` folders.
    pub(super) repositories: Vec<PathBuf>,
    /// How many of them are folders that could not be looked through, or were too many.
    pub(super) unsearched: u64,
}

/// Finds what `secrets` match beneath `folder`, but for what is `settled`: granted or closed by itself.
pub(super) fn find(folder: &Path, secrets: &PathPatterns, settled: &[&Path]) -> Closed {
    find_among(folder, secrets, settled, MOST)
}

fn find_among(folder: &Path, secrets: &PathPatterns, settled: &[&Path], most: usize) -> Closed {
    let protection = PathPatterns::protected();
    let mut search = Search {
        secrets,
        protection: &protection,
        settled,
        found: Vec::new(),
        protected: Vec::new(),
        repositories: Vec::new(),
        twins: HashSet::new(),
    };
    let unsearched = walk(folder, most, |entry, place| search.look(entry, place));
    let mut closed = Closed {
        paths: search.found,
        protected: search.protected,
        repositories: search.repositories,
        unsearched: unsearched.len() as u64,
    };
    closed.paths.extend(unsearched);
    if !search.twins.is_empty() {
        // The second name of a hidden file, which may come anywhere in the first search.
        let known: HashSet<PathBuf> = closed.paths.iter().cloned().collect();
        let mut others = Vec::new();
        let left = walk(folder, most, |entry, _| {
            let path = entry.path();
            if known.contains(&path) || settled.contains(&path.as_path()) {
                return Next::Pass;
            }
            let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
            if entry.metadata().is_ok_and(|metadata| search.twins.contains(&identity(metadata))) {
                others.push(path);
                return Next::Pass;
            }
            Next::Enter
        });
        closed.unsearched += left.len() as u64;
        closed.paths.extend(others.into_iter().chain(left));
    }
    closed
}

struct Search<'a> {
    secrets: &'a PathPatterns,
    protection: &'a PathPatterns,
    settled: &'a [&'a Path],
    found: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
    /// Hidden files that have more names than one.
    twins: HashSet<(u64, u64)>,
}

/// Where an entry lies.
struct EntryPath<'a> {
    /// Its path beneath the folder that is searched.
    inner: &'a str,
    /// Whether the folder it lies in is hidden.
    is_hidden: bool,
}

/// What to do about an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Look at what is in it, if it is a folder.
    Enter,
    /// The same, and all of it is hidden.
    EnterHidden,
    Pass,
}

impl Search<'_> {
    fn look(&mut self, entry: &DirEntry, place: &EntryPath<'_>) -> Next {
        let path = entry.path();
        // As they are written: to compare paths part by part takes longer than all the rest.
        if self.settled.iter().any(|settled| settled.as_os_str() == path.as_os_str()) {
            return Next::Pass;
        }
        if !place.is_hidden && self.protection.matching_entry(place.inner).is_some() {
            let is_git = entry.file_name().eq_ignore_ascii_case(".git");
            match is_git && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => self.repositories.push(path.clone()),
                false => self.protected.push(path.clone()),
            }
        }
        if !place.is_hidden && self.secrets.matching_entry(place.inner).is_none() {
            return Next::Enter;
        }
        if let Ok(metadata) = entry.metadata()
            && metadata.is_file()
            && metadata.nlink() > 1
        {
            self.twins.insert((metadata.dev(), metadata.ino()));
        }
        if !place.is_hidden {
            self.found.push(path);
        }
        Next::EnterHidden
    }
}

/// A folder to be looked through: its path, that beneath the first one, and whether it is hidden.
type Waiting = (PathBuf, String, bool);

/// Shows `look` every entry beneath `folder`, those near the top first, and returns the folders that were
/// not looked through because they cannot be listed, or there are more than `most` entries.
fn walk(
    folder: &Path,
    most: usize,
    mut look: impl FnMut(&DirEntry, &EntryPath<'_>) -> Next,
) -> Vec<PathBuf> {
    let mut waiting: VecDeque<Waiting> = [(folder.to_owned(), String::new(), false)].into();
    let (mut left, mut unlisted) = (most, Vec::new());
    while left > 0
        && let Some((folder, mut inner, is_hidden)) = waiting.pop_front()
    {
        let (before, length) = (waiting.len(), inner.len());
        let entries = match entries(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            // Its owner can change the mode, and so can a program of theirs.
            Err(_) => {
                unlisted.push((folder, inner, is_hidden));
                continue;
            }
        };
        for entry in entries {
            let Ok(entry) = entry else {
                waiting.truncate(before);
                unlisted.push((folder, inner, is_hidden));
                break;
            };
            if left == 0 {
                // Half of a folder is not the folder.
                waiting.truncate(before);
                waiting.push_front((folder, inner, is_hidden));
                break;
            }
            left -= 1;
            inner.truncate(length);
            if length > 0 {
                inner.push('/');
            }
            inner.push_str(&entry.file_name().to_string_lossy());
            let next = look(&entry, &EntryPath { inner: &inner, is_hidden });
            // A link is no folder: what it points to is judged by its own name.
            if next != Next::Pass && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push_back((entry.path(), inner.clone(), next == Next::EnterHidden));
            }
        }
    }
    // What is hidden is closed already.
    let unsearched = waiting.into_iter().chain(unlisted).filter(|(_, _, is_hidden)| !is_hidden);
    unsearched.map(|(folder, _, _)| folder).collect()
}

/// What is in a folder, if it can be listed and what is in it can be reached.
fn entries(folder: &Path) -> io::Result<ReadDir> {
    rustix::fs::access(folder, Access::EXEC_OK)?;
    fs::read_dir(folder)
}

#[cfg(test)]
mod tests;
