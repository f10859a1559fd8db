//! Models behind a network: what servers can do to them, and what they make of recorded answers.

#![allow(clippy::unwrap_used, reason = "a test fails where its server cannot work")]

mod conformance;
mod recorded;
mod secure;
mod server;
