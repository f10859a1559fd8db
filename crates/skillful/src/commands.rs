//! The commands, one file each. A command's doc comment is its help.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod inspect;
pub(crate) mod install;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod new;
pub(crate) mod origin;
pub(crate) mod pack;
pub(crate) mod permissions;
pub(crate) mod refresh;
pub(crate) mod rule_flags;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod scan;
pub(crate) mod schema;
pub(crate) mod search;
pub(crate) mod sign;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod update;
pub(crate) mod validate;
pub(crate) mod verify;
pub(crate) mod why;
