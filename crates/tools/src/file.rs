//! The file tools. Each takes a [`crate::workspace::WorkspacePath`], so a path has been checked before it gets here.

pub(crate) mod change;
pub(crate) mod grep;
pub(crate) mod list;
pub(crate) mod read;
