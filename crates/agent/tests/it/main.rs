//! What a run is made of, seen from outside.

#![allow(clippy::unwrap_used, reason = "a test fails where it finds nothing")]

mod pure;
