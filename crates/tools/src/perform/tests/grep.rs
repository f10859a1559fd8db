use std::time::Duration;

use serde_json::{Value, json};

use super::World;

fn check(files: &[(&str, &str)], params: Value, expected: &str) {
    assert_eq!(World::new(files).shown("grep", params), expected);
}

#[test]
fn matches_come_in_the_order_of_their_paths() {
    let files = [("b.txt", "one\ntwo\n"), ("a/z.txt", "two"), ("a.txt", "two\r\nTwo\n")];
    check(&files, json!({"pattern": "two"}), "a.txt:1:two\na/z.txt:1:two\nb.txt:2:two\n");
    check(&files, json!({"pattern": "^t.o$", "path": "b.txt"}), "b.txt:2:two\n");
    check(
        &files,
        json!({"pattern": "TWO", "path": "a.txt", "ignore_case": true}),
        "a.txt:1:two\na.txt:2:Two\n",
    );
    check(&files, json!({"pattern": "two", "path": "a"}), "a/z.txt:1:two\n");
    check(&files, json!({"pattern": "three"}), "");
}

#[test]
fn the_result_counts() {
    let mut world = World::new(&[("a.txt", "x\nx\n"), ("b.txt", "y\n")]);
    assert_eq!(
        world.result("grep", json!({"pattern": "x"})),
        json!({"ok": true, "path": ".", "matches": 2, "files_with_matches": 1, "files_searched": 2,
               "content": "a.txt:1:x\na.txt:2:x\n", "truncated": false, "storage_ref": null})
    );
}

#[test]
fn a_glob_narrows_but_never_widens() {
    let files =
        [("a.rs", "x"), ("a.md", "x"), ("t/b.rs", "x"), (".gitignore", "*.log"), ("c.log", "x")];
    check(&files, json!({"pattern": "x", "glob": "*.rs"}), "a.rs:1:x\nt/b.rs:1:x\n");
    check(&files, json!({"pattern": "x", "glob": "!t/**"}), "a.md:1:x\na.rs:1:x\n");
    check(&files, json!({"pattern": "x", "glob": "*.log"}), "");
}

#[test]
fn ignore_files_of_the_workspace_count_and_those_above_it_do_not() {
    let files = [
        (".gitignore", "target\n*.log"),
        ("target/a.txt", "x"),
        ("b.log", "x"),
        ("src/c.log", "x"),
        ("d.txt", "x"),
    ];
    let mut world = World::new(&files);
    std::fs::write(world.folder.path().join(".gitignore"), "*\n").unwrap();
    assert_eq!(world.shown("grep", json!({"pattern": "x"})), "d.txt:1:x\n");
    assert_eq!(world.shown("grep", json!({"pattern": "x", "path": "src"})), "");
    assert_eq!(
        world.shown("grep", json!({"pattern": "x", "path": "src", "include_ignored": true})),
        "src/c.log:1:x\n"
    );
}

#[test]
fn hidden_files_are_searched_only_when_asked_for() {
    let files = [
        (".github/ci.yml", "x"),
        (".git/HEAD", "x"),
        ("a.txt", "x"),
        (".env", "x"),
        ("b/.ssh/key", "x"),
    ];
    check(&files, json!({"pattern": "x"}), "a.txt:1:x\n");
    check(
        &files,
        json!({"pattern": "x", "include_hidden": true}),
        ".github/ci.yml:1:x\na.txt:1:x\n",
    );
    check(&files, json!({"pattern": "x", "path": ".github"}), ".github/ci.yml:1:x\n");
}

#[test]
fn files_that_are_not_text_are_passed_over() {
    let mut world =
        World::new(&[("bin", "x\nx\n\0x\n"), ("late", &format!("x\n{}\0", "y\n".repeat(100_000)))]);
    world.write("latin", b"x caf\xe9\n");
    assert_eq!(world.shown("grep", json!({"pattern": "x"})), "latin:1:x caf\u{fffd}\n");
}

#[test]
fn links_are_not_followed() {
    let mut world = World::new(&[]);
    world.link("away", "../outside");
    world.link("secret.txt", "../outside/secret.txt");
    assert_eq!(world.result("grep", json!({"pattern": "."}))["files_searched"], 0);
}

#[test]
fn skills_are_searched() {
    check(
        &[],
        json!({"pattern": "guide", "path": "skill://outer"}),
        "skill://outer/guide.md:1:outer guide\n",
    );
    check(
        &[],
        json!({"pattern": "guide", "path": "skill://inner"}),
        ".agent/skills/inner/guide.md:1:inner guide\n",
    );
}

#[test]
fn long_lines_and_results_are_cut_and_handed_back_whole() {
    let mut world = World::new(&[("a", "xxxxxxxxxxxx\n"), ("b", "x\nx\n")]);
    world.workspace.limits.line_bytes = 8;
    world.workspace.limits.shown_bytes = 18;
    let outcome = world.call("grep", json!({"pattern": "x"})).unwrap();
    assert_eq!(outcome.content.as_deref(), Some("a:1:xxxx…\nb:1:x\n"));
    assert_eq!(outcome.full.as_deref(), Some(&b"a:1:xxxxxxxxxxxx\nb:1:x\nb:2:x\n"[..]));
    assert!(outcome.truncated);
}

#[test]
fn too_many_matches_leave_the_same_ones_every_time() {
    let names: Vec<String> = (100..400).map(|number| format!("{number}.txt")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x\nx\n")).collect();
    let mut world = World::new(&files);
    world.workspace.limits.kept_bytes = 100;
    let expected = "100.txt:1:x\n100.txt:2:x\n101.txt:1:x\n101.txt:2:x\n102.txt:1:x\n102.txt:2:x\n\
                    103.txt:1:x\n103.txt:2:x\n104.txt:1:x\n104.txt:2:x\n";
    for _ in 0..20 {
        let outcome = world.call("grep", json!({"pattern": "x"})).unwrap();
        assert_eq!(outcome.content.as_deref(), Some(expected));
        assert_eq!((&outcome.facts["matches"], outcome.truncated), (&json!(600), true));
    }
}

#[test]
fn what_cannot_be_searched_has_its_code() {
    let mut world = World::new(&[("a.txt", "x")]);
    assert_eq!(world.refused("grep", json!({"pattern": "("})), "InvalidAction");
    assert_eq!(world.refused("grep", json!({"pattern": "a\nb"})), "InvalidAction");
    assert_eq!(world.refused("grep", json!({"pattern": "x", "glob": "{"})), "InvalidAction");
    assert_eq!(world.refused("grep", json!({"pattern": "x", "path": "missing"})), "IOError");
    assert_eq!(
        world.refused("grep", json!({"pattern": "x", "path": "/etc"})),
        "PathTraversalBlocked"
    );
    world.workspace.limits.search_time = Duration::ZERO;
    assert_eq!(world.refused("grep", json!({"pattern": "x"})), "Timeout");
}
