//! Which changes are to be applied, and in what steps.
//!
//! Invariants: each step moves one thing between the workspace and a numbered slot of the kept folder, or makes, removes
//! or changes the mode of one folder; so it can be seen whether it was done, and its inverse takes it back. Done in
//! order, no step needs a later one.

use std::collections::BTreeMap;
use std::path::Path;

use basics::sha256::Sha256;
use serde::{Deserialize, Serialize};
use state::Folder;

use super::base::Base;
use super::change::{Change, ChangeSet};
use super::conflict::{Conflict, Way};
use super::error::ChangesError;
use super::layer::Layer;
use super::merge::merge;
use super::node::{Node, Stamp};
use super::path::LayerPath;
use super::rules::Rules;
use super::walk::Trees;

/// How large a file may be that is merged.
const MERGED: u64 = 1 << 20;

/// Changes that are ready to be applied.
#[derive(Debug)]
pub struct Plan {
    /// The set that they come from.
    pub set: Sha256,
    pub(super) parts: Vec<Part>,
}

/// One change, and where its content is.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) change: Change,
    /// The content that a merge made; else it is in the layer.
    pub(super) merged: Option<Vec<u8>>,
}

/// Which changes of a set are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Only these paths and what is in them; all where there are none.
    pub paths: &'a [LayerPath],
    /// What to do about conflicts.
    pub way: Way,
}

impl Plan {
    /// Chooses what is to be applied from a set that was shown.
    pub fn new(
        set: &ChangeSet,
        selection: &Selection<'_>,
        (layer, workspace): (&Layer<'_>, &Path),
        (base, rules, run): (&Base, &Rules, &Folder),
    ) -> Result<Self, ChangesError> {
        let trees = Trees::open(layer, workspace)?;
        let chosen = chosen(set, selection.paths)?;
        let conflicts: BTreeMap<&LayerPath, &Conflict> =
            set.conflicts.iter().map(|conflict| (&conflict.path, conflict)).collect();
        let mut merged = BTreeMap::new();
        let (mut kept, mut open) = (Vec::new(), Vec::new());
        for change in chosen {
            match (conflicts.get(&change.path), selection.way) {
                (None, _) | (Some(_), Way::Ours) => kept.push(change),
                (Some(_), Way::Theirs) => {}
                (Some(conflict), Way::Refuse) => open.push((*conflict).clone()),
                (Some(conflict), Way::Merge) => {
                    match merged_content(conflict, &trees, (base, run)) {
                        Some(content) => {
                            let after = Some(file(&content, conflict));
                            merged.insert(change.path.clone(), content);
                            kept.push(Change { after, ..change });
                        }
                        None => open.push((*conflict).clone()),
                    }
                }
            }
        }
        if !open.is_empty() {
            return Err(ChangesError::Conflict { conflicts: open });
        }
        // What the whole set would not do, a part of it may: a repository without what completes it.
        let (kept, held) = rules.hold(kept, &trees.workspace);
        let wanted = |held: &&super::rules::Held| selection.paths.contains(&held.path);
        if let Some(held) = held.iter().find(wanted) {
            return Err(ChangesError::Held { path: held.path.clone(), reason: held.reason });
        }
        let kept = kept.into_iter().filter(|change| change.before != change.after);
        let part = |change: Change| Part { merged: merged.remove(&change.path), change };
        Ok(Self { set: set.sha256(), parts: kept.map(part).collect() })
    }

    /// What would be applied, in order.
    pub fn changes(&self) -> impl ExactSizeIterator<Item = &Change> {
        self.parts.iter().map(|part| &part.change)
    }
}

/// The changes with these paths, what is in them, and the folders that they need.
fn chosen(set: &ChangeSet, paths: &[LayerPath]) -> Result<Vec<Change>, ChangesError> {
    if paths.is_empty() {
        return Ok(set.changes.clone());
    }
    let mut chosen = BTreeMap::new();
    for path in paths {
        let start = set.changes.partition_point(|change| change.path < *path);
        let inside = set.changes[start..].iter().take_while(|change| change.path.is_within(path));
        let before = chosen.len();
        chosen.extend(inside.map(|change| (change.path.clone(), change.clone())));
        if chosen.len() == before && !chosen.contains_key(path) {
            if let Some(held) = set.held.iter().find(|held| held.path == *path) {
                return Err(ChangesError::Held { path: path.clone(), reason: held.reason });
            }
            return Err(ChangesError::NotChanged { path: path.clone() });
        }
        let needed = path.folders().filter_map(|folder| set.get(&folder));
        let needed = needed.filter(|change| change.after.as_ref().is_some_and(Node::is_folder));
        let needed: Vec<Change> = needed.cloned().collect();
        chosen.extend(needed.into_iter().map(|change| (change.path.clone(), change)));
    }
    Ok(chosen.into_values().collect())
}

fn file(content: &[u8], conflict: &Conflict) -> Node {
    let mode = |node: &Option<Node>| node.as_ref().and_then(Node::mode);
    // The mode that one of them changed counts, and of two changes that of the run.
    let mode = match mode(&conflict.ours) == mode(&conflict.base) {
        true => mode(&conflict.theirs),
        false => mode(&conflict.ours),
    };
    Node::File {
        size: content.len() as u64,
        mode: mode.unwrap_or(0o644),
        sha256: Sha256::of(content),
    }
}

/// Both changes of a text in one, if they are in different places.
fn merged_content(
    conflict: &Conflict,
    trees: &Trees,
    (base, run): (&Base, &Folder),
) -> Option<Vec<u8>> {
    let hash = |node: &Option<Node>| node.as_ref().and_then(Node::sha256);
    let (was, ours, theirs) =
        (hash(&conflict.base)?, hash(&conflict.ours)?, hash(&conflict.theirs)?);
    let read = |tree: &super::tree::Tree, expected| {
        let content = tree.read(&conflict.path, MERGED).ok().flatten()?;
        (Sha256::of(&content) == expected).then_some(content)
    };
    merge(&base.text(run, &was)?, &read(&trees.layer, ours)?, &read(&trees.workspace, theirs)?)
}

/// One step on one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: LayerPath,
    pub(super) act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    /// From the workspace into an empty slot.
    Take {
        slot: u32,
        was: Node,
    },
    /// From a slot to where nothing is.
    Put {
        slot: u32,
        becomes: Node,
    },
    /// What is in the slot takes the place of what is there.
    Swap {
        slot: u32,
        was: Node,
        becomes: Node,
    },
    MakeFolder {
        mode: u32,
    },
    RemoveFolder {
        mode: u32,
    },
    Mode {
        was: u32,
        becomes: u32,
    },
}

impl Step {
    pub(super) fn inverse(&self) -> Self {
        let act = match self.act.clone() {
            Act::Take { slot, was } => Act::Put { slot, becomes: was },
            Act::Put { slot, becomes } => Act::Take { slot, was: becomes },
            Act::Swap { slot, was, becomes } => Act::Swap { slot, was: becomes, becomes: was },
            Act::MakeFolder { mode } => Act::RemoveFolder { mode },
            Act::RemoveFolder { mode } => Act::MakeFolder { mode },
            Act::Mode { was, becomes } => Act::Mode { was: becomes, becomes: was },
        };
        Self { path: self.path.clone(), act }
    }

    /// What must be at the path before this step, as the first one there.
    pub(super) fn expects(&self) -> Option<Node> {
        match &self.act {
            Act::Take { was, .. } | Act::Swap { was, .. } => Some(was.clone()),
            Act::Put { .. } | Act::MakeFolder { .. } => None,
            Act::RemoveFolder { mode } | Act::Mode { was: mode, .. } => {
                Some(Node::Folder { mode: *mode })
            }
        }
    }
}

/// The changes that steps make, all of those on one path together.
pub(super) fn changes_of(steps: &[Step]) -> Vec<Change> {
    let mut changes: BTreeMap<&LayerPath, Change> = BTreeMap::new();
    for step in steps {
        let (before, after) = (step.expects(), step.inverse().expects());
        let new = || Change { path: step.path.clone(), before, after: None, seen: None };
        changes.entry(&step.path).or_insert_with(new).after = after;
    }
    changes.into_values().collect()
}

/// The owner must be able to work in a folder.
const OWNER: u32 = 0o700;

/// The steps of a plan, in an order in which each of them is possible. What the file system says about folders keeps
/// the bits of their modes that are none of a run's business.
pub(super) fn steps(parts: &[Part]) -> Vec<Step> {
    let (mut opens, mut takes, mut removes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut makes, mut puts, mut closes) = (Vec::new(), Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let slot = u32::try_from(number).unwrap_or(u32::MAX);
        let Change { path, before, after, seen } = &part.change;
        let step = |act| Step { path: path.clone(), act };
        let special = seen.as_ref().map_or(0, |seen: &Stamp| seen.mode & !super::node::PERMISSIONS);
        match (before.clone(), after.clone()) {
            (Some(Node::Folder { mode: was }), Some(Node::Folder { mode: becomes })) => {
                let act = Act::Mode { was: was | special, becomes: becomes | special };
                match becomes & OWNER == OWNER {
                    true => opens.push(step(act)),
                    false => closes.push(step(act)),
                }
            }
            (Some(was), Some(becomes)) if !was.is_folder() && !becomes.is_folder() => {
                puts.push(step(Act::Swap { slot, was, becomes }));
            }
            (before, after) => {
                match before {
                    Some(Node::Folder { mode }) => {
                        if mode & OWNER != OWNER {
                            let act =
                                Act::Mode { was: mode | special, becomes: mode | special | OWNER };
                            opens.push(step(act));
                        }
                        removes.push(step(Act::RemoveFolder { mode: mode | special | OWNER }));
                    }
                    Some(was) => takes.push(step(Act::Take { slot, was })),
                    None => {}
                }
                match after {
                    Some(Node::Folder { mode }) => {
                        makes.push(step(Act::MakeFolder { mode: mode | OWNER }));
                        if mode & OWNER != OWNER {
                            closes.push(step(Act::Mode { was: mode | OWNER, becomes: mode }));
                        }
                    }
                    Some(becomes) => {
                        // The slot may get what was there, too.
                        let slot = slot + u32::try_from(parts.len()).unwrap_or(0);
                        puts.push(step(Act::Put { slot, becomes }));
                    }
                    None => {}
                }
            }
        }
    }
    removes.reverse();
    closes.reverse();
    [opens, takes, removes, makes, puts, closes].concat()
}
