//! Runs a program so that it can only touch what it was given, and ends with everything it started.
//!
//! The walls are the kernel's: Landlock for files, seccomp for system calls, no new privileges,
//! limits, and either private namespaces or, where a container or distribution does not allow them,
//! a supervisor and a tracer. No helper program, no privileges, no container.
//!
//! What stays visible outside the granted paths: that a file exists, its size and its times; the
//! names (not the contents) in a readable folder, hidden ones included; with namespaces also the
//! host's network statistics in `/proc`. Without namespaces a program cannot read `/proc/self` and
//! has no shared memory or semaphores in `/dev/shm`.
//!
//! Memory and disk space of the whole tree are sampled (see `patrol`), so several processes together can
//! exceed them for a moment. What a sample could not see is refused: memory without an owner, larger
//! buffers, open files on their way through a socket, processes that hide. Not counted is what the kernel
//! itself keeps for a process, such as the list of its mappings, and, with a network, files that were
//! removed and are on their way through a socket.
//!
//! Only Linux has these walls. Elsewhere nothing is run, whatever the settings say.
//!
//! Invariant: the program's first instruction runs behind all the walls that its [`Applied`] names,
//! or not at all.

mod applied;
mod confinement;
mod error;
mod feature;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::platform::sandbox as walls;
pub use applied::{Applied, Isolation};
pub use confinement::{Confinement, Limits, Network, SandboxMode};
pub use error::SandboxError;
pub use feature::{Availability, Feature};
pub use walls::Kernel;
pub(crate) use walls::is_system_folder;

/// A program and what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The executable's path; nothing is searched.
    pub program: PathBuf,
    /// The arguments after the program's name.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, without symbolic links on its way.
    pub folder: PathBuf,
    /// What the program can read from standard input.
    pub stdin: Vec<u8>,
}

/// Where the whole output goes while it arrives.
pub struct Output<'a> {
    /// Standard output.
    pub stdout: &'a mut dyn Write,
    /// Standard error.
    pub stderr: &'a mut dyn Write,
}

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
    /// It filled its working folder beyond what it may.
    Disk,
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

/// The walls that would stand around a program.
///
/// # Errors
///
/// If the kernel cannot contain it as demanded.
pub fn applied(kernel: &Kernel, confinement: &Confinement) -> Result<Applied, SandboxError> {
    walls::applied(kernel, confinement)
}

/// Runs `invocation` behind the walls of `confinement` and waits until its whole process tree is
/// gone.
///
/// Blocks the thread. Setting `cancelled` kills the tree within a few hundredths of a second.
///
/// # Errors
///
/// If the kernel cannot contain it as demanded, a path cannot be granted, the program cannot be
/// started, or its output cannot be stored.
pub fn run(
    kernel: &Kernel,
    confinement: &Confinement,
    invocation: &Invocation,
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    walls::run(kernel, confinement, invocation, output, cancelled)
}
