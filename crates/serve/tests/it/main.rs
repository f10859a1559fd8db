//! The MCP server, seen by its clients.

#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

mod changes;
mod conversation;
mod http;
mod support;
mod trouble;
mod visibility;
