//! What a run changed: each path with what it was and what it would be.

use basics::sha256::Sha256;
use serde::Serialize;
use serde_json::json;

use super::conflict::Conflict;
use super::node::{Node, Stamp};
use super::path::LayerPath;
use super::rules::Held;

/// One path that is added, changed or deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where.
    pub path: LayerPath,
    /// What the workspace has there.
    pub before: Option<Node>,
    /// What it would have.
    pub after: Option<Node>,
    /// What the file system said about the workspace's when it was read.
    #[serde(skip)]
    pub(super) seen: Option<Stamp>,
}

/// Everything that a run changed, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeSet {
    /// What would be applied.
    pub changes: Vec<Change>,
    /// What is never applied, and why.
    pub held: Vec<Held>,
    /// Those changes whose file somebody else changed since the run first saw it.
    pub conflicts: Vec<Conflict>,
}

impl ChangeSet {
    /// Whether there is nothing to apply.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// A hash of everything in it: two sets with the same hash do the same.
    pub fn sha256(&self) -> Sha256 {
        Sha256::of(json!(self).to_string())
    }

    /// The change of one path.
    pub fn get(&self, path: &LayerPath) -> Option<&Change> {
        let found = self.changes.binary_search_by(|change| change.path.cmp(path));
        found.ok().map(|at| &self.changes[at])
    }
}
