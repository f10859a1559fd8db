//! The walls that the kernel of Linux puts around a program.

mod build;
mod capture;
mod child;
mod disk;
mod filter;
mod inside;
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
mod room;
mod supervise;
mod system;
mod tree;
mod trees;
mod watch;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::containment::{Applied, Closing, Confinement, Exit, Invocation, Output, SandboxError};
pub(crate) use inside::{Built, build};
pub use kernel::Kernel;
use launch::Setting;
pub(crate) use system::is_system_folder;

/// See [`crate::sandbox::applied`].
pub(crate) fn applied(kernel: &Kernel, confinement: &Confinement) -> Result<Applied, SandboxError> {
    plan::plan(kernel, confinement).map(|(_, applied)| applied)
}

/// See [`crate::sandbox::run`]; `watched` is where the program fills the disk.
pub(crate) fn run(
    kernel: &Kernel,
    confinement: &Confinement,
    invocation: &Invocation,
    watched: &[PathBuf],
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    let started = Instant::now();
    let (plan, applied) = plan::plan(kernel, confinement)?;
    let setting = Setting::Machine(&invocation.folder);
    let launched = launch::launch(&plan, confinement, setting, Some(invocation))?;
    let watch = watch::Watch::new(&launched, &plan, confinement, invocation, watched);
    let (ending, stdout, stderr) = watch.run(output, cancelled)?;
    Ok(Exit { ending, stdout, stderr, duration: started.elapsed(), applied })
}

/// The walls that would stand around a program in these namespaces.
pub(crate) fn applied_inside(
    kernel: &Kernel,
    built: &Built,
    confinement: &Confinement,
) -> Result<Applied, SandboxError> {
    plan::plan_inside(kernel, confinement, built.has_network()).map(|(_, applied)| applied)
}

/// The same as [`run`] in the namespaces of a view, where `closing` is closed.
pub(crate) fn run_inside(
    kernel: &Kernel,
    (built, closing): (&Built, &Closing),
    confinement: &Confinement,
    invocation: &Invocation,
    watched: &[PathBuf],
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, SandboxError> {
    let started = Instant::now();
    let (plan, applied) = plan::plan_inside(kernel, confinement, built.has_network())?;
    let inside = inside::inside(built, &plan, confinement, closing, invocation)?;
    let launched =
        launch::launch(&plan, confinement, Setting::Room(inside.into()), Some(invocation))?;
    let watch = watch::Watch::new(&launched, &plan, confinement, invocation, watched);
    let (ending, stdout, stderr) = watch.run(output, cancelled)?;
    Ok(Exit { ending, stdout, stderr, duration: started.elapsed(), applied })
}
