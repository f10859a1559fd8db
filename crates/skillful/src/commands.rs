//! The commands, one file each. A command's doc comment is its help.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod permissions;
pub(crate) mod refresh;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod trust;
pub(crate) mod validate;
pub(crate) mod why;
