//! What is never applied, whatever was approved, and how much a layer may hold.
//!
//! Invariants: the rules are asked for the very set that is to be applied, so no choice among its parts makes something
//! that the whole would not. A path counts as what it really is: by each name on the way, and by the folders that
//! those of agents lead to.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::change::Change;
use super::git::Repositories;
use super::node::Node;
use super::orphans::without_orphans;
use super::path::LayerPath;
use super::tree::Tree;
use crate::workspace::{Identity, PathPatterns, agent_state_in, git_settings, way_to};

/// What counts for the changes of a run.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Files that the run could not see: it cannot delete them, and nobody is shown what is in them.
    pub hidden: PathPatterns,
    /// Files and folders that stay as they are: those of skills, for one.
    pub closed: Vec<PathBuf>,
    /// How much the run may change.
    pub limits: LayerLimits,
    protected: PathPatterns,
}

/// How much a run may change.
#[derive(Clone, Copy, Debug)]
pub struct LayerLimits {
    /// How many files, folders and links.
    pub files: u64,
    /// How many bytes in files.
    pub bytes: u64,
}

impl Default for LayerLimits {
    fn default() -> Self {
        Self { files: 100_000, bytes: 2 << 30 }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            hidden: PathPatterns::secrets(),
            closed: Vec::new(),
            limits: LayerLimits::default(),
            protected: PathPatterns::protected_but_git(),
        }
    }
}

/// A change that is not applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Held {
    /// Where.
    pub path: LayerPath,
    /// Why not.
    pub reason: Reason,
}

/// Why a change is not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A device, a pipe, a socket.
    Special,
    /// Its mode keeps even its owner from reading it.
    Unreadable,
    /// No system call takes such a path.
    TooLong,
    /// It belongs to an agent or to version control, or it starts programs.
    Agent,
    /// It is in a folder that the user or the program closed.
    Closed,
    /// Git would run something because of it.
    Git,
    /// Git would take the folder for a repository.
    Repository,
    /// The run could not see the file.
    Hidden,
    /// The folder that it is in is not applied or cannot be replaced.
    Folder,
    /// It was moved to a place that is never applied.
    Moved,
    /// Only this bit of the mode is left out; the file itself is applied.
    SetId,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Special => "devices, pipes and sockets are never applied",
            Self::Unreadable => "it cannot be read",
            Self::TooLong => "the path is too long",
            Self::Agent => "agents and version control keep their settings there",
            Self::Closed => "skills and other closed folders stay as they are",
            Self::Git => "Git could run a program because of it",
            Self::Repository => {
                "Git would take the folder for a repository, and its settings can run programs"
            }
            Self::Hidden => "the file is hidden from the run, so the run cannot delete it",
            Self::Folder => "the folder that it belongs to stays as it is",
            Self::Moved => {
                "it was moved to a place that is never applied, so it stays where it was"
            }
            Self::SetId => {
                "the file is applied without the bit that lets it run as its owner or group"
            }
        })
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Reason {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Reason".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

impl Rules {
    /// Whether the run could not see a file.
    pub(super) fn is_hidden(&self, path: &LayerPath) -> bool {
        self.hidden.matching(&String::from_utf8_lossy(path.as_bytes())).is_some()
    }

    /// Takes what is never applied out of a set of changes.
    pub(super) fn hold(&self, changes: Vec<Change>, workspace: &Tree) -> (Vec<Change>, Vec<Held>) {
        let repositories = Repositories::among(&changes, workspace);
        let mut guard = Guard::new(self, workspace, &changes);
        let mut held = Vec::new();
        let mut kept = Vec::with_capacity(changes.len());
        let mut unborn = HashSet::new();
        for change in changes {
            let reason = guard.reason(&change).or_else(|| repositories.reason(&change));
            match reason {
                None => kept.push(change),
                Some(reason) => {
                    unborn.extend(change.after.as_ref().and_then(Node::sha256));
                    held.push(Held { path: change.path, reason });
                }
            }
        }
        // What was moved to where it never arrives stays where it was.
        let is_moved = |change: &mut Change| {
            let content = change.before.as_ref().and_then(Node::sha256);
            change.after.is_none() && content.is_some_and(|content| unborn.contains(&content))
        };
        let moved = kept.extract_if(.., is_moved);
        held.extend(moved.map(|change| Held { path: change.path, reason: Reason::Moved }));
        // A repository goes as a whole or stays as a whole.
        let torn: Vec<LayerPath> = held.iter().filter_map(repository_of_moved).collect();
        let is_torn = |change: &mut Change| {
            change.after.is_none() && torn.iter().any(|folder| change.path.is_within(folder))
        };
        let left: Vec<Change> = kept.extract_if(.., is_torn).collect();
        held.extend(
            left.into_iter().map(|change| Held { path: change.path, reason: Reason::Moved }),
        );
        let kept = without_orphans(kept, workspace, &mut held);
        (kept, held)
    }

    /// The first of some changes that is never applied, by whatever leads there.
    pub(super) fn first_held(&self, changes: &[Change], workspace: &Tree) -> Option<Held> {
        let repositories = Repositories::among(changes, workspace);
        let mut guard = Guard::new(self, workspace, changes);
        changes.iter().find_map(|change| {
            let reason = guard.reason(change).or_else(|| repositories.reason(change))?;
            Some(Held { path: change.path.clone(), reason })
        })
    }

    /// The places that are closed to these changes.
    fn places(&self, workspace: &Tree, changes: &[Change]) -> Places {
        let mut places = Places::default();
        let root = workspace.root_path();
        for path in agent_state_in(root) {
            places.add(&path, root, Reason::Agent);
        }
        for path in &self.closed {
            places.add(path, root, Reason::Closed);
        }
        // Git looks for a repository in each folder above.
        let folders: HashSet<LayerPath> =
            changes.iter().flat_map(|change| change.path.folders().collect::<Vec<_>>()).collect();
        let inner = folders.iter().map(|folder| workspace.full(folder));
        for folder in root.ancestors().map(Path::to_owned).chain(inner) {
            for path in git_settings(&folder.join(".git")) {
                places.add(&path, root, Reason::Git);
            }
        }
        places
    }
}

/// The repository that something was moved out of.
fn repository_of_moved(held: &Held) -> Option<LayerPath> {
    let is_git = |folder: &LayerPath| folder.name() == ".git";
    (held.reason == Reason::Moved).then(|| held.path.folders().find(is_git)).flatten()
}

/// Files and folders that are closed, by where they are and by what they are.
#[derive(Default)]
struct Places {
    paths: HashMap<LayerPath, Reason>,
    /// The folders that they are in: none of them may become a link.
    above: HashMap<LayerPath, Reason>,
    identities: HashMap<Identity, Reason>,
}

impl Places {
    fn add(&mut self, path: &Path, root: &Path, reason: Reason) {
        let way = way_to(path);
        let Some(real) = way.last() else { return };
        if root.starts_with(real) {
            // All of the workspace: then there would be no use for a run.
            return;
        }
        for place in &way {
            if let Ok(inner) = place.strip_prefix(root)
                && let Ok(inner) = LayerPath::new(inner.as_os_str().as_bytes())
            {
                self.above.extend(inner.folders().map(|folder| (folder, reason)));
                self.paths.insert(inner, reason);
            }
        }
        if let Ok(stat) = rustix::fs::stat(real) {
            self.identities.insert(Identity::new(&stat), reason);
        }
    }
}

/// The verdicts on folders, remembered.
struct Guard<'a> {
    rules: &'a Rules,
    places: Places,
    workspace: &'a Tree,
    folders: HashMap<LayerPath, Option<Reason>>,
}

impl<'a> Guard<'a> {
    fn new(rules: &'a Rules, workspace: &'a Tree, changes: &[Change]) -> Self {
        Self { rules, places: rules.places(workspace, changes), workspace, folders: HashMap::new() }
    }

    fn reason(&mut self, change: &Change) -> Option<Reason> {
        let path = &change.path;
        let above = path.parent().and_then(|parent| self.folder(&parent));
        let is_link = matches!(change.after, Some(Node::Link { .. }));
        let leads_away = || self.places.above.get(path).filter(|_| is_link).copied();
        above.or_else(|| self.own(path)).or_else(leads_away)
    }

    fn folder(&mut self, path: &LayerPath) -> Option<Reason> {
        if let Some(known) = self.folders.get(path) {
            return *known;
        }
        let above = path.parent().and_then(|parent| self.folder(&parent));
        let identity = || {
            let folder = self.workspace.folder(Some(path)).ok()?;
            self.places.identities.get(&Identity::new(&fstat(folder).ok()?)).copied()
        };
        let reason = above.or_else(|| self.own(path)).or_else(identity);
        self.folders.insert(path.clone(), reason);
        reason
    }

    /// By its own name, when the folders that it is in are open.
    fn own(&self, path: &LayerPath) -> Option<Reason> {
        let name = String::from_utf8_lossy(path.as_bytes());
        if self.rules.protected.matching_entry(&name).is_some() {
            return Some(Reason::Agent);
        }
        self.places.paths.get(path).copied()
    }
}
