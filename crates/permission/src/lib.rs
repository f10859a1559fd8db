//! Who may do what: ordered rules in layers, questions for people, and proof of what was let through.
//!
//! Invariant: nothing here reads a file, a variable or the clock, and only the engine makes an
//! [`Approved`], so whatever takes one cannot run without permission.

mod approval;
mod command_line;
mod denial;
mod engine;
mod grant;
mod mode;
pub mod params;
mod pattern;
mod permission;
mod rule;
mod rule_list;
mod toolset;
mod verdict;

pub use approval::{
    ApprovalId, ApprovalRequest, InvalidApprovalId, Invocation, argument, shell_quoted,
};
pub use command_line::{CommandLine, InvalidRule};
pub use denial::Denial;
pub use engine::{Configuration, Decision, Engine, Layer, Reason, Ruling};
pub use grant::{Grant, SkillHash};
pub use mode::{Mode, UnknownMode};
pub use pattern::Pattern;
pub use permission::Permission;
pub use rule::{Effect, Rule, Rules, UnknownPermission};
pub use toolset::{Risk, Tool, ToolSet};
pub use verdict::{Answer, Approved, Granted, Pending, Request, Scope, Verdict};
