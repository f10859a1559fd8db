//! Changes of a folder of skills: whatever interrupts them, the old state or the new one is there, whole.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

mod kept;
mod slow;
mod support;
