//! What an agent may do, and how it is contained: permissions, approvals, tools, sandbox.

pub mod call;
mod file;
pub mod grants;
pub mod network;
pub mod outcome;
pub mod perform;
pub mod permission;
pub mod undo;
pub mod workspace;
