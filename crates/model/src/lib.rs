//! Messages to a model provider's wire form and back, streaming.

pub mod decision;
pub mod early;
pub mod json;
pub mod reply;
pub mod schema;
pub mod sse;
