//! Whole runs with their records: recorded, replayed, cut off anywhere and taken up again, killed, forged.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

mod record;
mod slow;
mod support;
mod verify;
mod work;
