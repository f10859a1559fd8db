//! What a run is made of, seen from outside.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod pure;
