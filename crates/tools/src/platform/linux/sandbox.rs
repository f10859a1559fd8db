//! The walls that the kernel of Linux puts around a program.

mod capture;
mod child;
mod disk;
mod filter;
mod kernel;
mod landlock;
mod launch;
mod memory;
mod mounts;
mod open_files;
mod patrol;
mod plan;
mod prepare;
mod raw;
mod reap;
mod report;
mod supervise;
mod system;
mod tree;
mod watch;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::containment::{Applied, Confinement, Exit, Invocation, Output, SandboxError};
pub use kernel::Kernel;
pub(crate) use system::is_system_folder;

/// See [`crate::sandbox::applied`].
pub(crate) fn applied(kernel: &Kernel, confinement: &Confinement) -> Result<Applied, SandboxError> {
    plan::plan(kernel, confinement).map(|(_, applied)| applied)
}

/// See [`crate::sandbox::run`].
pub(crate) fn run(
    kernel: &Kernel,
    confinement: &Confinement,
    invocation: &Invocation,
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    let started = Instant::now();
    let (plan, applied) = plan::plan(kernel, confinement)?;
    let launched = launch::launch(&plan, confinement, &invocation.folder, Some(invocation))?;
    let watch = watch::Watch::new(&launched, &plan, confinement, invocation);
    let (ending, stdout, stderr) = watch.run(output, cancelled)?;
    Ok(Exit { ending, stdout, stderr, duration: started.elapsed(), applied })
}
