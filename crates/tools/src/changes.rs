//! Change sets: what a run changed in its layer, shown, applied to the workspace at once, and taken back.
//!
//! Invariants: nothing is mounted while this works, both folders are read through their handles, and no link is
//! followed. What is applied is what was shown. A kill at any moment leaves the workspace as it was or as it should be.

mod apply;
mod base;
mod carry;
mod change;
mod collect;
mod conflict;
mod diff;
mod disk;
mod error;
mod export;
mod git;
mod hash;
mod ignored;
mod layer;
mod merge;
mod node;
mod orphans;
mod patch;
mod path;
mod plan;
mod rules;
mod show;
mod stage;
mod store;
mod tree;
mod verify;
mod walk;

pub use apply::{Applied, Recovered, apply, check_undo, recover, undo};
pub use base::Base;
pub use change::{Change, ChangeSet};
pub use collect::collect;
pub use conflict::{Conflict, Way};
pub use disk::{Disk, Operation};
pub use error::ChangesError;
pub use export::{export, open_file};
pub use hash::Hashes;
pub use layer::Layer;
pub use node::{Kind, Node};
pub use patch::patch;
pub use path::{InvalidPath, LayerPath, LinkTarget};
pub use plan::{Plan, Selection};
pub use rules::{Held, LayerLimits, Reason, Rules};
pub use show::{ChangeKind, ChangeLine, Diff, Folded, Line, diff, summary};
pub use store::{Phase, Seal, Store};

#[cfg(test)]
mod tests;
