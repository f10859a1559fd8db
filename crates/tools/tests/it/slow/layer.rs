//! Real attempts to get through the layer: at the workspace itself, at what is closed in it, at the machine
//! behind it.

mod attempt;
mod closed;
mod copy;
mod mounts;
mod sockets;
mod together;

use crate::world::run_again_unprivileged;

#[test]
fn the_layer_holds_for_an_unprivileged_user_as_well() {
    run_again_unprivileged("slow::layer::");
}
