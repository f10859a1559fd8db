//! Changes that need a folder, and folders that are needed.
//!
//! Invariant: what is left can be done: each file comes into a folder, and a folder that goes is empty by then.

use std::collections::{BTreeMap, HashSet};
use std::os::unix::ffi::OsStrExt;

use super::change::Change;
use super::node::Node;
use super::path::LayerPath;
use super::rules::{Held, Reason};
use super::tree::{self, Tree};

/// Leaves out what could not be put into its folder, and folders that keep something.
pub(super) fn without_orphans(
    changes: Vec<Change>,
    workspace: &Tree,
    held: &mut Vec<Held>,
) -> Vec<Change> {
    let mut left: BTreeMap<LayerPath, Change> =
        changes.into_iter().map(|change| (change.path.clone(), change)).collect();
    // A folder stays when something in it stays: the inner ones first.
    let goes = |change: &&Change| {
        let was_folder = change.before.as_ref().is_some_and(Node::is_folder);
        was_folder && !change.after.as_ref().is_some_and(Node::is_folder)
    };
    let going: Vec<LayerPath> =
        left.values().filter(goes).map(|change| change.path.clone()).rev().collect();
    for folder in going {
        let names = workspace.folder_if_any(Some(&folder)).ok().flatten();
        let names = names.and_then(|opened| tree::names(&opened).ok()).unwrap_or_default();
        let stays = names.iter().any(|name| {
            let child = LayerPath::inside(Some(&folder), name.as_bytes());
            left.get(&child).is_none_or(|change| change.after.is_some())
        });
        if stays && left.remove(&folder).is_some_and(|change| change.after.is_some()) {
            held.push(Held { path: folder, reason: Reason::Folder });
        }
    }
    // And what is put into a folder needs one.
    let mut folders: HashSet<LayerPath> = HashSet::new();
    let paths: Vec<LayerPath> = left
        .values()
        .filter(|change| change.after.is_some())
        .map(|change| change.path.clone())
        .collect();
    for path in paths {
        let Some(parent) = path.parent() else { continue };
        let is_there = folders.contains(&parent)
            || match left.get(&parent) {
                Some(change) => change.after.as_ref().is_some_and(Node::is_folder),
                None => workspace.folder(Some(&parent)).is_ok(),
            };
        if is_there {
            folders.insert(parent);
        } else if let Some(change) = left.remove(&path) {
            held.push(Held { path: change.path, reason: Reason::Folder });
        }
    }
    left.into_values().collect()
}
