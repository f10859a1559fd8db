//! What all crates share: names and hashes, texts, paths inside a skill, and what is said of skills.
//!
//! Invariant: nothing here opens a file or a socket.

pub mod failure;
pub mod inner_path;
pub mod run_id;
pub mod sha256;
pub mod skill;
pub mod text;
