//! `skillful mcp --http unix:PATH`: a socket file for one's own processes.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use insta::assert_snapshot;
use serde_json::json;

use super::server::{Server, connect_file, exchange, initialize};
use crate::world::World;

/// With a folder of the user's own.
fn world() -> World {
    let world = World::new();
    fs::create_dir(world.path("own")).unwrap();
    fs::set_permissions(world.path("own"), Permissions::from_mode(0o700)).unwrap();
    world
}

const START: &str = "--http unix:../own/mcp.sock";

#[test]
fn a_socket_file_is_its_users_alone_and_goes_with_the_server() {
    let world = world();
    let server = Server::start(&world, START);
    assert!(server.first.ends_with("/project/../own/mcp.sock, at /mcp"), "{}", server.first);
    let path = world.path("own/mcp.sock");
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket());
    assert_eq!(world.mode("own/mcp.sock"), 0o600);
    let (status, answer) = exchange(connect_file(&path), &[], &initialize(json!({})));
    assert_eq!(status, 200, "{answer}");
    assert_snapshot!(world.run(&format!("skillful mcp {START}")), @"
    [stderr]
    error: another server already uses `[world]/project/../own/mcp.sock`
    hint: stop that server, or use another file
    [exit 1]
    ");
    assert!(server.interrupt().success());
    assert!(!path.exists());
}

#[test]
fn the_socket_of_a_server_that_is_gone_is_replaced() {
    let world = world();
    let path = world.path("own/mcp.sock");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let _server = Server::start(&world, START);
    assert_eq!(exchange(connect_file(&path), &[], &initialize(json!({}))).0, 200);
    assert_eq!(world.mode("own/mcp.sock"), 0o600);
}

#[test]
fn what_is_no_socket_stays_and_no_link_is_followed() {
    let world = world();
    world.write("own/mcp.sock", "a letter");
    assert_snapshot!(world.run(&format!("skillful mcp {START}")), @"
    [stderr]
    error: `[world]/project/../own/mcp.sock` already exists and is not your socket
    hint: use a file name that does not exist
    [exit 1]
    ");
    assert_eq!(world.read("own/mcp.sock"), "a letter");
    fs::remove_file(world.path("own/mcp.sock")).unwrap();
    let elsewhere = world.path("elsewhere.sock");
    drop(UnixListener::bind(&elsewhere).unwrap());
    world.link("own/mcp.sock", "../elsewhere.sock");
    let seen = world.run(&format!("skillful mcp {START}"));
    assert!(seen.contains("is not your socket"), "{seen}");
    assert!(elsewhere.exists() && world.path("own/mcp.sock").is_symlink());
    world.link("linked", "own");
    assert_snapshot!(world.run("skillful mcp --http unix:../linked/new.sock"), @"
    [stderr]
    error: cannot open the folder `[world]/project/../linked`: Not a directory (os error 20)
    hint: use a folder that exists and is not a link
    [exit 1]
    ");
    assert!(!world.path("own/new.sock").exists());
}

#[test]
fn a_folder_that_others_can_enter_is_refused() {
    let world = world();
    for mode in [0o755, 0o710, 0o701, 0o770] {
        fs::set_permissions(world.path("own"), Permissions::from_mode(mode)).unwrap();
        let seen = world.run(&format!("skillful mcp {START}"));
        assert!(
            seen.contains("error: other users can enter") && seen.contains("[exit 2]"),
            "{seen}"
        );
        assert!(!world.path("own/mcp.sock").exists(), "{mode:o}");
    }
    assert_snapshot!(world.run("skillful mcp --http unix:../own/mcp.sock"), @"
    [stderr]
    error: other users can enter `[world]/project/../own`
    hint: use your own folder, such as $XDG_RUNTIME_DIR, or create one with `mkdir -m 700`
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http unix:nowhere/mcp.sock"), @"
    [stderr]
    error: cannot open the folder `[world]/project/nowhere`: No such file or directory (os error 2)
    hint: use a folder that exists and is not a link
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful mcp --http unix:s --token-file t"), @"
    [stderr]
    error: a socket file needs no token: only your own processes can connect
    hint: leave out --token-file
    [exit 2]
    ");
}
