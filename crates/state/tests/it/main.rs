//! What in all crates reaches the disk, held to one list.

#![allow(clippy::unwrap_used, reason = "a test fails where it finds nothing")]

mod places;
