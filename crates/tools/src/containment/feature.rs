//! What a kernel may have to contain a program with.

use serde::{Deserialize, Serialize};

/// Something that a kernel may or may not offer to an ordinary user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Refuses files, ports and signals that were not granted.
    Landlock,
    /// Refuses system calls.
    Seccomp,
    /// Hands system calls to a supervisor, and new processes to a tracer.
    Supervision,
    /// Private processes and mounts.
    Namespaces,
    /// Counts the processes of a namespace, also those of root.
    ProcessLimit,
    /// Lets programs write to a workspace that stays as it is.
    Overlay,
    /// A loopback and Unix sockets that lead nowhere else.
    PrivateNetwork,
}

/// One line of what a kernel offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Availability {
    /// Which feature.
    pub feature: Feature,
    /// Whether it worked.
    pub available: bool,
    /// What was found, or why it did not work.
    pub detail: String,
}
