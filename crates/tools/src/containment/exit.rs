//! How a program ended, and what it said.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::applied::Applied;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was killed for this reason.
    Killed(Reason),
}

/// Why a program was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It ran longer than it may.
    Time,
    /// It wrote more to its streams than it may.
    Output,
    /// It used more memory than it may.
    Memory,
    /// It had more processes than it may.
    Processes,
    /// It filled the folders that it writes to beyond what it may.
    Disk,
    /// It made more files there than it may.
    Files,
    /// The caller wanted it to stop.
    Cancelled,
}

/// What is known of a stream after it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The beginning; all of it unless something is [omitted](Self::omitted).
    pub head: Vec<u8>,
    /// The end, after what was omitted.
    pub tail: Vec<u8>,
    /// How many bytes there were.
    pub bytes: u64,
    /// The SHA-256 of all of them.
    pub sha256: [u8; 32],
}

impl Captured {
    /// How many bytes between head and tail are only in the caller's copy.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.bytes - (self.head.len() + self.tail.len()) as u64
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub ending: Ending,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// How long it took.
    pub duration: Duration,
    /// What contained it.
    pub applied: Applied,
}
