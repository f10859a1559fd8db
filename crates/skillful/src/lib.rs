#![doc = include_str!("../README.md")]
//!
//! The parts, to take one or all of them:
//!
//! - [`skill`] finds skills, shows a model their names and descriptions, and hands the rest over on demand.
//! - [`permission`] decides what may be done, and what a person is asked.
//! - [`tools`] does it: tools, and scripts in a sandbox.
//! - [`agent`] is one run as a state machine that does nothing by itself; [`runtime`] carries it out and keeps its
//!   record, and has skills as tools for any other loop.
//! - [`basics`] is what all of them share.
//! - [`state`] reaches the files that these keep, never through a link.
//! - [`model`] reads what language models say.
//! - [`serve`] offers skills to other agents over MCP.
//! - [`eval`] measures whether a skill helps, [`pack`] looks through skills that others made.

pub use agent::context::Prompt;
pub use agent::event::Event;
pub use agent::model::{Cancel, Model};
pub use agent::reply::Reply;
pub use basics::failure::Failure;
pub use permission::{Answer, ApprovalRequest};
pub use runtime::driver::{Approver, Listener};
pub use runtime::open::{Runtime, Start};
pub use runtime::runner::{Finished, Runner};

pub use agent;
pub use basics;
pub use eval;
pub use model;
pub use pack;
pub use permission;
pub use runtime;
pub use serve;
pub use skill;
pub use state;
pub use tools;
