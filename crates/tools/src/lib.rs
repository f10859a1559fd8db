//! What an agent may do, and how it is contained: permissions, approvals, tools, sandbox.

pub mod grants;
pub mod permission;
