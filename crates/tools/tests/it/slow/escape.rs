//! Real attempts to get out of the sandbox, as root and as an ordinary user, with and without
//! namespaces.

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

use crate::world::run_again_unprivileged;

#[test]
fn the_suite_holds_for_an_unprivileged_user_as_well() {
    run_again_unprivileged("slow::escape::");
}
