//! What a run changed, compared with the workspace as it is now.
//!
//! Invariants: what is the same in both is no change, so nothing is left after applying. What the run only looked at
//! is none either, even if somebody else changed it since.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use basics::sha256::Sha256;

use super::base::{Base, Known};
use super::change::{Change, ChangeSet};
use super::conflict::Conflict;
use super::error::{ChangesError, Doing};
use super::hash::{Hashes, Job, hash_all};
use super::layer::Layer;
use super::node::{Kind, Node, PERMISSIONS, Stamp};
use super::path::LayerPath;
use super::rules::{Held, Reason, Rules};
use super::tree::Tree;
use super::walk::{Touched, Trees, walk};

/// Collects what a run changed. [`Base::note`] must have seen the layer before.
pub fn collect(
    layer: &Layer<'_>,
    workspace: &Path,
    (base, rules): (&Base, &Rules),
    hashes: &mut Hashes,
) -> Result<ChangeSet, ChangesError> {
    let trees = Trees::open(layer, workspace)?;
    let walked = walk(layer, &trees, base, &rules.limits)?;
    let contents = Contents::read(&trees, &walked.touched, base, hashes)?;
    let mut gathering = Gathering { base, rules, set: ChangeSet::default(), unchanged: Vec::new() };
    gathering.set.held = walked.held;
    for (at, touched) in walked.touched.into_iter().enumerate() {
        let before =
            contents.node(&trees.workspace, touched.before, (at, Side::Before), &touched.path)?;
        let after = contents.node(&trees.layer, touched.after, (at, Side::After), &touched.path)?;
        gathering.compare(touched, before, after);
    }
    gathering.bring_back_folders();
    let mut set = gathering.set;
    let (changes, held) = rules.hold(set.changes, &trees.workspace);
    set.changes = changes;
    set.held.extend(held);
    set.held.sort_by(|one, other| one.path.cmp(&other.path));
    let conflicts = std::mem::take(&mut set.conflicts);
    set.conflicts =
        conflicts.into_iter().filter(|conflict| set.get(&conflict.path).is_some()).collect();
    set.conflicts.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(set)
}

#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The hashes of all files, by the number of what was touched.
struct Contents(Vec<[Option<Sha256>; 2]>);

impl Contents {
    fn read(
        trees: &Trees,
        all: &[Touched],
        base: &Base,
        hashes: &mut Hashes,
    ) -> Result<Self, ChangesError> {
        let mut known = vec![[None; 2]; all.len()];
        let (mut jobs, mut places) = (Vec::new(), Vec::new());
        let is_file = |stamp: &Stamp| stamp.kind == Kind::File;
        for (at, touched) in all.iter().enumerate() {
            if let Some(stamp) = touched.after.filter(is_file) {
                known[at][1] = hashes.get(&stamp);
                if known[at][1].is_none() {
                    jobs.push(Job { tree: &trees.layer, path: &touched.path, stamp });
                    places.push((at, 1));
                }
            }
            if let Some(stamp) = touched.before.filter(is_file) {
                known[at][0] = match base.known(&touched.path) {
                    Known::Was(Some(node), was) if was == stamp => node.sha256(),
                    _ => None,
                };
                if known[at][0].is_none() {
                    jobs.push(Job { tree: &trees.workspace, path: &touched.path, stamp });
                    places.push((at, 0));
                }
            }
        }
        let now = SystemTime::now();
        for ((job, (at, side)), hash) in jobs.iter().zip(places).zip(hash_all(&jobs)) {
            let hash = match hash {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => continue,
                hash => hash.doing("read", job.tree.full(job.path))?,
            };
            known[at][side] = Some(hash);
            if side == 1 {
                hashes.remember(&job.stamp, hash, now);
            }
        }
        Ok(Self(known))
    }

    fn node(
        &self,
        tree: &Tree,
        stamp: Option<Stamp>,
        (at, side): (usize, Side),
        path: &LayerPath,
    ) -> Result<Option<Seen>, ChangesError> {
        let Some(stamp) = stamp else { return Ok(None) };
        let mode = stamp.permissions();
        let hash = self.0[at][side as usize];
        let node = match (stamp.kind, hash) {
            (Kind::File, Some(sha256)) => Some(Node::File { size: stamp.size, mode, sha256 }),
            (Kind::Link, _) => {
                let target = tree.link(path).doing("read", tree.full(path))?;
                Some(Node::Link { target })
            }
            (Kind::Folder, _) => Some(Node::Folder { mode }),
            (Kind::File, None) => return Ok(Some(Seen::Held(Reason::Unreadable))),
            _ => None,
        };
        Ok(Some(node.map_or(Seen::Held(Reason::Special), Seen::Node)))
    }
}

/// Something at a path.
enum Seen {
    Node(Node),
    Held(Reason),
}

struct Gathering<'a> {
    base: &'a Base,
    rules: &'a Rules,
    set: ChangeSet,
    /// Folders that the run did not change and that are not there any more, and what they were.
    unchanged: Vec<(Change, Node)>,
}

impl Gathering<'_> {
    fn compare(&mut self, touched: Touched, before: Option<Seen>, after: Option<Seen>) {
        let Touched { path, before: seen, after: stamp } = touched;
        let (before, after) = match (plain(before), plain(after)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(reason), _) | (_, Err(reason)) => {
                self.set.held.push(Held { path, reason });
                return;
            }
        };
        if before == after {
            return;
        }
        let base = self.base.known(&path);
        if let Known::Was(Some(was), _) = &base
            && after.as_ref() == Some(was)
        {
            if was.is_folder() {
                let was = was.clone();
                self.unchanged.push((Change { path, before, after, seen }, was));
            }
            return;
        }
        if after.is_none() && self.rules.is_hidden(&path) {
            self.set.held.push(Held { path, reason: Reason::Hidden });
            return;
        }
        let has_set_id = stamp.is_some_and(|stamp| {
            stamp.kind == Kind::File && stamp.mode & !PERMISSIONS & 0o6000 != 0
        });
        if has_set_id {
            self.set.held.push(Held { path: path.clone(), reason: Reason::SetId });
        }
        let change = Change { path, before, after, seen };
        if let Some(conflict) = conflict(&change, base) {
            self.set.conflicts.push(conflict);
        }
        self.set.changes.push(change);
    }

    /// A folder that somebody else deleted, and in which the run changed something, is a conflict itself.
    fn bring_back_folders(&mut self) {
        for (change, was) in std::mem::take(&mut self.unchanged) {
            let start = self.set.changes.partition_point(|other| other.path <= change.path);
            let mut inside = self.set.changes[start..]
                .iter()
                .take_while(|other| other.path.is_within(&change.path));
            if inside.any(|other| other.after.is_some()) {
                let Change { path, before, after, .. } = change.clone();
                let conflict = Conflict { path, base: Some(was), ours: after, theirs: before };
                self.set.conflicts.push(conflict);
                self.set.changes.insert(start, change);
            }
        }
    }
}

/// What can be applied, or why it cannot.
fn plain(seen: Option<Seen>) -> Result<Option<Node>, Reason> {
    match seen {
        None => Ok(None),
        Some(Seen::Node(node)) => Ok(Some(node)),
        Some(Seen::Held(reason)) => Err(reason),
    }
}

/// Whether somebody else changed what the run changed.
fn conflict(change: &Change, known: Known) -> Option<Conflict> {
    let Change { path, before, after, seen } = change;
    let is_same = match &known {
        // Nothing can be lost where nothing is.
        Known::Nothing | Known::Uncertain | Known::Absent => before.is_none(),
        Known::Was(node, stamp) => {
            let untouched = *seen == Some(*stamp);
            untouched || node.is_some() && before == node
        }
    };
    let base = match known {
        Known::Was(node, _) => node,
        _ => None,
    };
    let conflict =
        || Conflict { path: path.clone(), base, ours: after.clone(), theirs: before.clone() };
    (!is_same).then(conflict)
}
