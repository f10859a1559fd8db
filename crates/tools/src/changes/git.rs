//! What makes Git run something: hooks, settings, and folders that it would take for repositories.
//!
//! Invariant: after a set of changes without those that are held here, Git finds no repository that was not there
//! before, and in those that were, nothing that says what to run.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::AsFd;

use super::change::Change;
use super::node::Node;
use super::path::LayerPath;
use super::rules::Reason;
use super::tree::{Tree, entry};
use crate::workspace::fold;

/// What Git takes a folder for a repository by.
const PIECES: [&str; 4] = ["head", "objects", "refs", "commondir"];
/// Their spelling on disk.
const SPELLED: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];
/// Files that say what Git runs, or where it looks for more of them, in a repository and in those below it.
const FILES: &[&str] = &["config", "config.worktree", "commondir", "gitdir"];
/// Folders of which that is true for all that is in them.
const FOLDERS: &[&str] = &["hooks", "rebase-merge", "rebase-apply", "sequencer"];
/// Lists of other stores, in `objects/info`.
const STORES: &[&str] = &["alternates", "http-alternates"];

/// What becomes of the pieces in a folder.
type Pieces = BTreeMap<&'static str, Piece>;

/// Whether a piece is there.
#[derive(Default)]
struct Piece {
    before: bool,
    after: bool,
}

/// The repositories that a set of changes touches.
pub(super) struct Repositories {
    /// Folders that are repositories in the workspace.
    old: HashSet<LayerPath>,
    /// Folders that would become one.
    new: HashSet<LayerPath>,
    /// Folders that have some pieces of one: nothing there may say what to run.
    partial: HashSet<LayerPath>,
    /// Folders that go altogether.
    gone: HashSet<LayerPath>,
    root_is_new: bool,
    root_is_old: bool,
}

impl Repositories {
    pub(super) fn among(changes: &[Change], workspace: &Tree) -> Self {
        let mut found = Self {
            old: HashSet::new(),
            new: HashSet::new(),
            partial: HashSet::new(),
            gone: HashSet::new(),
            root_is_new: false,
            root_is_old: false,
        };
        let mut coming: HashMap<Option<LayerPath>, Pieces> = HashMap::new();
        let mut folders: HashSet<Option<LayerPath>> = HashSet::new();
        for change in changes {
            if change.after.is_none() {
                found.gone.insert(change.path.clone());
            }
            if is_git(change.path.name()) {
                found.look_at_git(change);
            }
            let parent = change.path.parent();
            let name = folded(change.path.name());
            if let Some(piece) = PIECES.iter().find(|piece| **piece == name) {
                let pieces = coming.entry(parent.clone()).or_default();
                let piece = pieces.entry(piece).or_default();
                piece.before |= change.before.is_some();
                piece.after |= change.after.is_some();
            }
            let mut above = parent;
            while folders.insert(above.clone())
                && let Some(folder) = above
            {
                above = folder.parent();
            }
        }
        for folder in folders {
            let pieces = coming.get(&folder);
            found.look_at(folder, pieces, workspace);
        }
        found
    }

    /// A `.git` that was not there, or is another thing now.
    fn look_at_git(&mut self, change: &Change) {
        let is_folder = |node: &Option<Node>| node.as_ref().is_some_and(Node::is_folder);
        match (&change.before, &change.after) {
            (_, None) => {}
            _ if is_folder(&change.before) && is_folder(&change.after) => {}
            _ => {
                self.new.insert(change.path.clone());
            }
        }
    }

    fn look_at(&mut self, folder: Option<LayerPath>, coming: Option<&Pieces>, workspace: &Tree) {
        let opened = workspace.folder_if_any(folder.as_ref()).ok().flatten();
        let has = |name: &str| {
            opened.as_ref().is_some_and(|folder| {
                entry(folder.as_fd(), OsStr::new(name)).is_ok_and(|found| found.is_some())
            })
        };
        let mut before = SPELLED.map(has);
        let mut after = before;
        for (at, piece) in PIECES.iter().enumerate() {
            // Changes that are half applied, or applied, say what was there before.
            if let Some(piece) = coming.and_then(|coming| coming.get(piece)) {
                (before[at], after[at]) = (piece.before, piece.after);
            }
        }
        let is_named_git = folder.as_ref().is_some_and(|folder| is_git(folder.name()));
        let some = after.iter().filter(|is_there| **is_there).count() > 1;
        match (is_complete(before), is_complete(after), folder) {
            (false, true, None) => self.root_is_new = true,
            (true, _, None) => self.root_is_old = true,
            (false, true, Some(folder)) => {
                self.new.insert(folder);
            }
            (true, _, Some(folder)) => {
                self.old.insert(folder);
            }
            (false, false, Some(folder)) if is_named_git => {
                self.old.insert(folder);
            }
            (false, false, Some(folder)) if some => {
                self.partial.insert(folder);
            }
            _ => {}
        }
    }

    /// Why a change is not applied, if Git is the reason.
    pub(super) fn reason(&self, change: &Change) -> Option<Reason> {
        let path = &change.path;
        if self.new.contains(path) || path.folders().any(|folder| self.new.contains(&folder)) {
            return Some(Reason::Repository);
        }
        if self.root_is_new && is_part_of_root(path) {
            return Some(Reason::Repository);
        }
        // Git writes through the links that it finds among its own files.
        let is_link = matches!(change.after, Some(Node::Link { .. }));
        if self.root_is_old && (is_link || runs_something(path.as_bytes())) {
            return Some(Reason::Git);
        }
        for folder in path.folders() {
            let inner = &path.as_bytes()[folder.as_bytes().len() + 1..];
            let runs = || is_link || runs_something(inner);
            if self.old.contains(&folder) && !self.gone.contains(&folder) && runs() {
                return Some(Reason::Git);
            }
            if self.partial.contains(&folder) && change.after.is_some() && runs() {
                return Some(Reason::Git);
            }
        }
        None
    }
}

/// Whether a folder with these pieces is a repository.
fn is_complete([head, objects, refs, common]: [bool; 4]) -> bool {
    head && (common || objects && refs)
}

fn folded(name: &OsStr) -> String {
    fold(&name.to_string_lossy()).into_owned()
}

/// Whether some file system takes a name for `.git`.
fn is_git(name: &OsStr) -> bool {
    matches!(&*folded(name), ".git" | "git~1")
}

/// Of a workspace that would become a repository itself, only what makes it one is held back.
fn is_part_of_root(path: &LayerPath) -> bool {
    let text = String::from_utf8_lossy(path.as_bytes());
    let text = fold(&text);
    let first = text.split('/').next().unwrap_or_default();
    PIECES.contains(&first) || FILES.contains(&first) || FOLDERS.contains(&first)
}

/// Whether a path in a repository says what Git runs. Repositories of submodules and worktrees lie in others.
fn runs_something(inner: &[u8]) -> bool {
    let text = String::from_utf8_lossy(inner);
    let text = fold(&text);
    let parts: Vec<&str> = text.split('/').collect();
    let is_nested = matches!(parts[0], "modules" | "worktrees");
    let is_store =
        |at: usize| matches!(&parts[at..], ["objects", "info", last] if STORES.contains(last));
    let is_program = |at: usize| {
        FOLDERS.contains(&parts[at]) || parts.len() == at + 1 && FILES.contains(&parts[at])
    };
    let depth = if is_nested { parts.len() } else { 1 };
    (0..depth).any(|at| is_program(at) || is_store(at))
}
