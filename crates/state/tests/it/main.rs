//! What in all crates reaches the disk, held to one list.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod places;
