//! Files that both the run and somebody else changed, and what to do about them.

use schemars::JsonSchema;
use serde::Serialize;

use super::node::Node;
use super::path::LayerPath;

/// A file that both changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// Where.
    pub path: LayerPath,
    /// What it was when the run first saw it, as far as that is known.
    pub base: Option<Node>,
    /// What the run made of it.
    pub ours: Option<Node>,
    /// What it is in the workspace.
    pub theirs: Option<Node>,
}

/// What to do about conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Apply nothing.
    #[default]
    Refuse,
    /// The run's version counts.
    Ours,
    /// The workspace's version stays.
    Theirs,
    /// Both, where that is possible without choosing.
    Merge,
}
