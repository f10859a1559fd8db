//! Real attempts to get out of the sandbox, as root and as an ordinary user, with and without
//! namespaces.
#![cfg(all(target_os = "linux", not(portable)))]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod attempt;
mod disk;
mod environment;
mod files;
mod kernel;
mod memory;
mod network;
mod processes;
mod resources;
mod scripts;
#[path = "../world/mod.rs"]
mod world;

#[test]
fn the_suite_holds_for_an_unprivileged_user_as_well() {
    world::run_again_unprivileged();
}
