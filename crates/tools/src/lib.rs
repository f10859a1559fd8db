//! What an agent may do, and how it is contained: permissions, approvals, tools, sandbox.

mod beneath;
pub mod call;
pub mod changes;
pub mod command;
mod containment;
pub mod error;
mod file;
pub mod grants;
mod limits;
pub mod network;
pub mod outcome;
pub mod perform;
mod platform;
pub mod sandbox;
pub mod script;
mod sight;
pub mod view;
pub mod workspace;
