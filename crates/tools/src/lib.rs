//! What an agent may do, and how it is contained: permissions, approvals, tools, sandbox.

pub mod call;
mod file;
pub mod grants;
pub mod network;
pub mod outcome;
pub mod perform;
mod platform;
pub mod sandbox;
pub mod script;
pub mod undo;
pub mod workspace;
