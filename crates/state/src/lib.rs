//! Files that this program keeps for itself: records of runs, results, what was approved.
//!
//! A folder called `.agent` may have come with a clone, with anything in it. So state is reached in one way
//! only: through the handle of a [`Folder`].
//!
//! Invariants: no link is followed, neither at the end of a path nor on the way, and nothing outside the
//! folder is reached. What is read is a plain file of a bounded size; what is written to in place is also
//! ours and has one name only. Nothing that is opened can make this program wait.

mod beneath;
mod error;
mod file;
mod folder;
mod inner;
mod platform;
mod tree;

pub use error::{Cause, StateError};
pub use file::Durability;
pub use folder::{Access, Folder, Found};

/// The folder of a project or a home that holds state.
pub const STATE: &str = ".agent";
