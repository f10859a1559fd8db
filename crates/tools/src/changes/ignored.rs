//! Which folders a workspace ignores.
//!
//! Invariant: only the lists of the workspace count: a run cannot hide its changes with a `.gitignore` of its own.

use std::collections::HashMap;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::change::Change;
use super::node::Node;
use super::path::LayerPath;
use super::tree::Tree;

/// A list of ignored files beyond this is none.
const IGNORE_FILE: u64 = 1 << 20;

/// What the workspace ignores.
pub(super) struct Ignored<'a> {
    workspace: &'a Tree,
    /// The list of each folder that has one.
    files: HashMap<Option<LayerPath>, Option<Gitignore>>,
    /// The ignored folder that each folder is in or is.
    folds: HashMap<LayerPath, Option<LayerPath>>,
}

impl<'a> Ignored<'a> {
    pub(super) fn new(workspace: &'a Tree) -> Self {
        Self { workspace, files: HashMap::new(), folds: HashMap::new() }
    }

    /// The ignored folder that a change is in or is.
    pub(super) fn fold(&mut self, change: &Change) -> Option<LayerPath> {
        let is_folder = |node: &Option<Node>| node.as_ref().is_some_and(Node::is_folder);
        match is_folder(&change.before) || is_folder(&change.after) {
            true => self.folder(&change.path),
            false => change.path.parent().and_then(|parent| self.folder(&parent)),
        }
    }

    fn folder(&mut self, folder: &LayerPath) -> Option<LayerPath> {
        if let Some(known) = self.folds.get(folder) {
            return known.clone();
        }
        let above = folder.parent().and_then(|parent| self.folder(&parent));
        let fold = above.or_else(|| self.is_ignored(folder).then(|| folder.clone()));
        self.folds.insert(folder.clone(), fold.clone());
        fold
    }

    fn is_ignored(&mut self, folder: &LayerPath) -> bool {
        let workspace = self.workspace;
        for above in folder.folders().map(Some).chain([None]) {
            let start = above.as_ref().map_or(0, |above| above.as_bytes().len() + 1);
            let list =
                self.files.entry(above).or_insert_with_key(|at| list(workspace, at.as_ref()));
            let inner = &folder.as_bytes()[start..];
            let inner: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(inner);
            match list.as_ref().map(|list| list.matched(Path::new(inner), true)) {
                Some(Match::Ignore(_)) => return true,
                Some(Match::Whitelist(_)) => return false,
                _ => {}
            }
        }
        false
    }
}

/// The list of ignored files of a folder; one that cannot be read is none.
fn list(workspace: &Tree, folder: Option<&LayerPath>) -> Option<Gitignore> {
    let path = LayerPath::inside(folder, b".gitignore");
    let text = workspace.read(&path, IGNORE_FILE).ok().flatten()?;
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(&text).lines() {
        // One wrong line does not spoil the others.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
