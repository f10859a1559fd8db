//! Skills for other agents: the MCP server.

pub mod http;
mod lines;
pub mod mcp;
mod session;
pub mod shelf;
mod skill_uri;

pub use lines::{Incoming, read_message};
