use serde_json::json;

use super::World;

#[test]
fn a_directory_is_listed_in_order() {
    let mut world = World::new(&[
        ("b.txt", "12"),
        ("a/x.txt", ""),
        ("a/deep/y.txt", ""),
        (".env", ""),
        ("é.txt", ""),
    ]);
    world.link("link", "b.txt");
    assert_eq!(
        world.result("list_dir", json!({})),
        json!({"ok": true, "path": ".", "entries": 5, "hidden": 1, "truncated": false, "storage_ref": null,
               "content": ".agent/\na/\nb.txt  2 bytes\nlink@\né.txt  0 bytes\n"})
    );
}

#[test]
fn levels_are_listed_as_deep_as_asked() {
    let mut world = World::new(&[("a/x.txt", ""), ("a/deep/y.txt", ""), ("a/deep/.ssh/z", "")]);
    let mut listed = |depth: u64| world.shown("list_dir", json!({"path": "a", "depth": depth}));
    assert_eq!(listed(1), "deep/\nx.txt  0 bytes\n");
    assert_eq!(listed(2), "deep/\ndeep/y.txt  0 bytes\nx.txt  0 bytes\n");
    assert_eq!(listed(u64::MAX), listed(2));
    assert_eq!(listed(0), listed(1));
}

#[test]
fn links_to_directories_are_not_entered() {
    let mut world = World::new(&[]);
    world.link("away", "../outside");
    world.link("round", ".");
    assert_eq!(
        world
            .shown("list_dir", json!({"depth": 8}))
            .lines()
            .filter(|line| line.ends_with('@'))
            .count(),
        2
    );
}

#[test]
fn a_skill_is_listed() {
    let mut world = World::new(&[]);
    assert_eq!(world.shown("list_dir", json!({"path": "skill://outer"})), "guide.md  12 bytes\n");
}

#[test]
fn a_long_list_is_cut() {
    let mut world = World::new(&[("d/1", ""), ("d/2", ""), ("d/3", "")]);
    world.workspace.limits.entries = 2;
    let outcome = world.call("list_dir", json!({"path": "d"})).unwrap();
    assert_eq!(outcome.content.as_deref(), Some("1  0 bytes\n2  0 bytes\n"));
    assert!(outcome.truncated);
    world.workspace.limits.entries = 3;
    assert!(!world.call("list_dir", json!({"path": "d"})).unwrap().truncated);
    world.workspace.limits.shown_bytes = 12;
    let outcome = world.call("list_dir", json!({"path": "d"})).unwrap();
    assert_eq!(outcome.content.as_deref(), Some("1  0 bytes\n"));
    assert_eq!(outcome.full.as_deref(), Some(&b"1  0 bytes\n2  0 bytes\n3  0 bytes\n"[..]));
}

#[test]
fn what_is_no_directory_is_not_listed() {
    let mut world = World::new(&[("a.txt", "")]);
    assert_eq!(world.refused("list_dir", json!({"path": "a.txt"})), "IOError");
    assert_eq!(world.refused("list_dir", json!({"path": "missing"})), "IOError");
    assert_eq!(world.refused("list_dir", json!({"path": "/"})), "PathTraversalBlocked");
}
