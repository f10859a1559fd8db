//! One run of an agent as a state machine without I/O, and the driver that carries it out.

pub mod action;
pub mod budget;
pub mod context;
pub mod driver;
pub mod event;
pub mod journal;
pub mod outcome;
pub mod plan;
pub mod run;
pub mod skill_tool;
pub mod step;
pub mod workbench;

use sha2::{Digest, Sha256};

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
