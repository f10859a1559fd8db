//! Real attempts to get out of the sandbox, as root and as an ordinary user, with and without namespaces.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed step fails the test, and a skipped one says so"
)]

mod attempt;
mod environment;
mod files;
mod kernel;
mod network;
mod processes;
mod resources;
#[path = "../world/mod.rs"]
mod world;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The user and group that own nothing.
const NOBODY: u32 = 65534;

#[test]
fn the_suite_holds_for_an_unprivileged_user_as_well() {
    if !world::is_root() {
        println!("skipped: this is the unprivileged user already");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let suite = folder.path().join("escape");
    fs::copy(std::env::current_exe().unwrap(), &suite).unwrap();
    let output = Command::new(&suite)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .env("HOME", "/")
        .output()
        .unwrap();
    let said = world::text(&output.stdout) + &world::text(&output.stderr);
    assert!(output.status.success(), "as an unprivileged user: {said}");
    println!("as an unprivileged user: {said}");
}
