//! Second names of hidden files: a hard link to `.env` shows what `.env` hides.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{AtFlags, Dir, FileType, Stat, statat};

use super::closed::Identity;
use super::{Root, Workspace};
use crate::beneath;
use crate::error::ToolError;

/// How many files and folders are looked at before nothing is known for certain.
const ENTRIES: usize = 1_000_000;

/// Hidden files that have more names than one.
#[derive(Debug)]
pub(crate) struct Twins {
    hidden: HashSet<Identity>,
    /// Whether all were found.
    is_complete: bool,
}

impl Twins {
    /// Looks through everything that the tools may reach, but for the inside of Git's store.
    pub(crate) fn find(workspace: &Workspace) -> Self {
        let deadline = Instant::now() + workspace.limits.search_time;
        let mut walk = Walk { workspace, deadline, left: ENTRIES, hidden: HashSet::new() };
        let is_complete = workspace.roots.iter().all(|root| walk.root(root));
        Self { hidden: walk.hidden, is_complete }
    }

    /// Whether a file with more names than one may be shown.
    pub(crate) fn check(&self, file: &Stat, name: &str) -> Result<(), ToolError> {
        let path = name.to_owned();
        match self.hidden.contains(&Identity::new(file)) {
            true => Err(ToolError::HiddenTwin { path }),
            false if self.is_complete => Ok(()),
            false => Err(ToolError::UnknownTwins { path }),
        }
    }
}

/// Whether a file has another name.
pub(crate) fn has_twin(file: &Stat) -> bool {
    file.st_nlink > 1 && FileType::from_raw_mode(file.st_mode) == FileType::RegularFile
}

struct Walk<'w> {
    workspace: &'w Workspace,
    deadline: Instant,
    left: usize,
    hidden: HashSet<Identity>,
}

/// A folder that is still to be looked at, and whether what is in it is hidden.
type Waiting = (PathBuf, bool);

impl Walk<'_> {
    /// Answers whether everything was looked at.
    fn root(&mut self, root: &Root) -> bool {
        let mut waiting = vec![(PathBuf::new(), false)];
        while let Some(folder) = waiting.pop() {
            // What cannot be listed has no name that could be read here.
            let _ = self.folder(root, &folder, &mut waiting);
            if self.left == 0 || Instant::now() >= self.deadline {
                return false;
            }
        }
        true
    }

    fn folder(
        &mut self,
        root: &Root,
        folder: &Waiting,
        waiting: &mut Vec<Waiting>,
    ) -> io::Result<()> {
        let (path, is_hidden) = folder;
        let opened = beneath::open_folder(root.handle(), path)?;
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.left = self.left.saturating_sub(1);
            let inner = path.join(name);
            let is_hidden = *is_hidden || self.is_hidden(&inner);
            match entry.file_type() {
                FileType::Directory if !inner.ends_with(".git/objects") => {
                    waiting.push((inner, is_hidden));
                }
                FileType::RegularFile | FileType::Unknown if is_hidden => {
                    let stat = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    if has_twin(&stat) {
                        self.hidden.insert(Identity::new(&stat));
                    }
                }
                _ => {}
            }
            if self.left == 0 {
                break;
            }
        }
        Ok(())
    }

    fn is_hidden(&self, path: &Path) -> bool {
        self.workspace.secrets.matching_entry(&path.to_string_lossy()).is_some()
    }
}
