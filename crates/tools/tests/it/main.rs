//! The sandbox: nothing gets out of it, everything useful works in it, and without it nothing runs.

#![cfg(all(target_os = "linux", not(portable)))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod refusal;
mod slow;
mod view;
mod world;
