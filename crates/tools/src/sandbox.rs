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

use std::sync::atomic::AtomicBool;

pub use crate::containment::{
    Applied, Availability, Captured, Confinement, Ending, Exit, Feature, Invocation, Isolation,
    Limits, Network, Output, Reason, SandboxError, SandboxMode, Stdin,
};
use crate::platform::sandbox as walls;
pub use walls::Kernel;
pub(crate) use walls::is_system_folder;

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
    let watched = [invocation.folder.clone()];
    walls::run(kernel, confinement, invocation, &watched, output, cancelled)
}
