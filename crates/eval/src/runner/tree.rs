//! A workspace at one moment, to be held against itself later.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use basics::sha256::Sha256;

/// The folder that runs themselves write to.
const STATE: &str = ".agent";

/// Everything in a workspace by its path, outside of the folder that runs write to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Folder {
        mode: u32,
    },
    File {
        mode: u32,
        sha256: Sha256,
    },
    Link {
        target: PathBuf,
    },
    /// A device or the like, or what cannot be read.
    Other,
}

impl Tree {
    /// What is there now.
    pub(super) fn of(workspace: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(workspace, Path::new(""));
        tree
    }

    fn add(&mut self, workspace: &Path, folder: &Path) {
        for entry in fs::read_dir(workspace.join(folder)).into_iter().flatten().flatten() {
            let path = folder.join(entry.file_name());
            if path == Path::new(STATE) {
                continue;
            }
            let found = Entry::of(&workspace.join(&path));
            let is_folder = matches!(found, Entry::Folder { .. });
            self.0.insert(path.clone(), found);
            if is_folder {
                self.add(workspace, &path);
            }
        }
    }

    /// The paths that are not the same in both.
    pub(super) fn differences(&self, other: &Self) -> Vec<PathBuf> {
        let (own, others) = (&self.0, &other.0);
        let changed = own.iter().filter(|(path, entry)| others.get(*path) != Some(entry));
        let added = others.keys().filter(|path| !own.contains_key(*path));
        let mut paths: Vec<PathBuf> = changed.map(|(path, _)| path).chain(added).cloned().collect();
        paths.sort();
        paths
    }
}

impl Entry {
    fn of(path: &Path) -> Self {
        let Ok(found) = fs::symlink_metadata(path) else { return Self::Other };
        let mode = found.permissions().mode() & 0o7777;
        if found.is_dir() {
            return Self::Folder { mode };
        }
        if found.is_symlink() {
            return fs::read_link(path).map_or(Self::Other, |target| Self::Link { target });
        }
        // A pipe would be waited for.
        let bytes = found.is_file().then(|| fs::read(path).ok()).flatten();
        bytes.map_or(Self::Other, |bytes| Self::File { mode, sha256: Sha256::of(bytes) })
    }
}
