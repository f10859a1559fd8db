//! Messages to a model provider's wire form and back, streaming.

pub mod decision;
pub mod early;
pub mod json;
pub mod offline;
#[cfg(test)]
mod rehearsal;
pub mod reply;
pub mod schema;
pub mod scripted;
pub mod sse;
