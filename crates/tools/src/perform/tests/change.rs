use std::fs;
use std::os::unix::fs::PermissionsExt;

use basics::failure::Explain;
use serde_json::json;

use super::World;

fn mode(world: &World, path: &str) -> u32 {
    fs::metadata(world.path(path)).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_is_created_with_its_directories() {
    let mut world = World::new(&[]);
    assert_eq!(
        world.result("write_file", json!({"path": "new/deep/a.txt", "content": "hello"})),
        json!({"ok": true, "path": "new/deep/a.txt", "size": 5, "created": true, "truncated": false, "storage_ref": null})
    );
    assert_eq!(world.content("new/deep/a.txt"), "hello");
}

#[test]
fn a_file_is_replaced_and_keeps_its_mode() {
    let mut world = World::new(&[("run.sh", "old")]);
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    world.call("write_file", json!({"path": "run.sh", "content": "new"})).unwrap();
    assert_eq!((world.content("run.sh"), mode(&world, "run.sh")), ("new".to_owned(), 0o750));
    let left = fs::read_dir(world.path(".")).unwrap().count();
    assert_eq!(left, 2, "no temporary file stays behind");
}

#[test]
fn a_file_is_deleted() {
    let mut world = World::new(&[]);
    world.write("a.bin", b"\xff\0");
    world.call("delete_file", json!({"path": "a.bin"})).unwrap();
    assert!(!world.path("a.bin").exists());
}

#[test]
fn what_must_not_be_changed_is_not() {
    let mut world = World::new(&[
        ("a/b.txt", "12345"),
        ("locked.txt", "x"),
        (".env", "x"),
        (".git/hooks/x", "x"),
    ]);
    fs::set_permissions(world.path("locked.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    world.link("dangling", "../outside/new.txt");
    world.link("away", "../outside");
    world.workspace.limits.file_bytes = 4;
    let mut code = |path: &str| world.refused("write_file", json!({"path": path, "content": "x"}));
    assert_eq!(code("skill://outer/guide.md"), "ToolNotAllowed");
    assert_eq!(code(".env"), "ToolNotAllowed");
    assert_eq!(code(".git/hooks/x"), "ToolNotAllowed");
    assert_eq!(code(".agent/config.json"), "ToolNotAllowed");
    assert_eq!(code(".agent/runs/1/events.jsonl"), "ToolNotAllowed");
    assert_eq!(code("away/new.txt"), "PathTraversalBlocked");
    assert_eq!(code("dangling"), "PathTraversalBlocked");
    assert_eq!(code("a/b.txt"), "FileTooLarge");
    assert_eq!(code("locked.txt"), "IOError");
    assert_eq!(code("a"), "IOError");
    assert_eq!(code("locked.txt/x"), "IOError");
    assert_eq!(
        world.refused("write_file", json!({"path": "c", "content": "12345"})),
        "FileTooLarge"
    );
    assert!(!world.folder.path().join("outside/new.txt").exists());
}

#[test]
fn what_a_closed_folder_really_is_is_closed() {
    let mut world = World::new(&[("dot/config.json", "{}"), ("home/.agent/x", "{}")]);
    world.link(".claude", "dot");
    world.link(".codex", "../outside");
    world.workspace.protect_state(&world.path("home"));
    world.workspace.protect_skills(&world.path("shelf"));
    world.workspace.protect_skills(&world.path("."));
    fs::hard_link(world.path("home/.agent/x"), world.path("twin")).unwrap();
    world.write("shelf/s/SKILL.md", "");
    for path in ["dot/config.json", "dot/new/a", "twin", "shelf/s/SKILL.md", "shelf/new/a"] {
        let code = world.refused("write_file", json!({"path": path, "content": "x"}));
        assert_eq!(code, "ToolNotAllowed", "{path}");
        let code = world.refused("delete_file", json!({"path": path}));
        assert_eq!(code, "ToolNotAllowed", "{path}");
    }
    assert!(!world.path("dot/new").exists() && !world.path("shelf/new").exists());
    world.call("write_file", json!({"path": "free", "content": "x"})).unwrap();
    // A workspace inside of what is closed is closed as a whole.
    world.workspace.protect(&world.path(".."));
    assert_eq!(
        world.refused("write_file", json!({"path": "free", "content": "y"})),
        "ToolNotAllowed"
    );
}

#[test]
fn only_files_are_deleted() {
    let mut world = World::new(&[("a/b.txt", "x"), (".git/config", "x")]);
    world.link("link", "a/b.txt");
    let mut code = |path: &str| world.refused("delete_file", json!({"path": path}));
    assert_eq!(code("a"), "IOError");
    assert_eq!(code("missing"), "IOError");
    assert_eq!(code("link"), "PathTraversalBlocked");
    assert_eq!(code("."), "IOError");
    assert_eq!(code("skill://outer/guide.md"), "ToolNotAllowed");
    assert_eq!(code(".git/config"), "ToolNotAllowed");
    assert_eq!(world.content("a/b.txt"), "x");
}

#[test]
fn a_link_put_in_the_way_of_a_write_is_not_followed() {
    let mut world = World::new(&[("folder/a.txt", "x")]);
    let write = world
        .resolve("write_file", json!({"path": "folder/secret.txt", "content": "evil"}))
        .unwrap();
    let delete = world.resolve("delete_file", json!({"path": "folder/secret.txt"})).unwrap();
    fs::rename(world.path("folder"), world.path("moved")).unwrap();
    world.link("folder", "../outside");
    world.perform(write).unwrap_err();
    world.perform(delete).unwrap_err();
    assert_eq!(
        fs::read_to_string(world.folder.path().join("outside/secret.txt")).unwrap(),
        "outside"
    );
}

/// Writes files in every order; at the end Git must not take `docs` for a repository.
fn check_pieces(files: &[&str], done: &mut Vec<usize>) {
    if done.len() < files.len() {
        for next in 0..files.len() {
            if !done.contains(&next) {
                done.push(next);
                check_pieces(files, done);
                done.pop();
            }
        }
        return;
    }
    let mut world = World::new(&[]);
    let order: Vec<&str> = done.iter().map(|next| files[*next]).collect();
    let write = |path: &&&str| {
        let written = json!({"path": format!("docs/{path}"), "content": "ref: refs/heads/a\n"});
        world.call("write_file", written).is_err_and(|error| error.code() == "ToolNotAllowed")
    };
    let refused: Vec<_> = order.iter().filter(write).collect();
    assert!(!refused.is_empty(), "{order:?}");
    let has = |name: &str| world.path("docs").join(name).exists();
    let is_repository = has("HEAD") && (has("commondir") || has("objects") && has("refs"));
    assert!(!is_repository, "{order:?}");
}

#[test]
fn no_order_of_writes_makes_a_repository() {
    check_pieces(&["HEAD", "objects/a", "refs/a", "config"], &mut Vec::new());
    check_pieces(&["HEAD", "commondir", "config"], &mut Vec::new());
    check_pieces(&["HEAD", "commondir", "objects/a", "config"], &mut Vec::new());
}

#[test]
fn a_folder_that_is_almost_a_repository_is_changed_only_where_that_is_harmless() {
    let files = [("docs/objects/a", "x"), ("docs/refs/a", "x"), ("docs/config/a", "x")];
    let mut world = World::new(&files);
    let mut code = |path: &str| match world.call("write_file", json!({"path": path, "content": ""}))
    {
        Ok(_) => "",
        Err(error) => error.code(),
    };
    for path in ["docs/HEAD", "docs/head", "docs/HEAD.", "docs/HEAD/a", "docs/config.worktree"] {
        assert_eq!(code(path), "ToolNotAllowed", "{path}");
    }
    for path in ["docs/a", "docs/objects/b", "docs/refs/b", "docs/config/b", "HEAD", "config"] {
        assert_eq!(code(path), "", "{path}");
    }
}

#[test]
fn a_text_is_replaced_where_it_stands() {
    let mut world = World::new(&[("a.txt", "one\ntwo\nthree\ntwo\n")]);
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "old": old, "new": new});
    world.call("edit_file", edit("one\ntwo", "1\n2")).unwrap();
    assert_eq!(world.content("a.txt"), "1\n2\nthree\ntwo\n");
    world.call("edit_file", json!({"path": "a.txt", "old": "e", "new": "E", "all": true})).unwrap();
    assert_eq!(world.content("a.txt"), "1\n2\nthrEE\ntwo\n");
}

#[test]
fn an_edit_says_why_nothing_was_replaced() {
    let mut world = World::new(&[("a.txt", "let x = 1;\nlet y = 2;\nlet y = 2;\n")]);
    let mut error = |old: &str| {
        let params = json!({"path": "a.txt", "old": old, "new": "z"});
        world.call("edit_file", params).unwrap_err().to_string()
    };
    assert_eq!(error("let y = 2;"), "`a.txt` holds the text to be replaced 2 times, at lines 2, 3");
    let missing = error("let x = 1 ;");
    assert!(missing.contains("does not hold") && missing.contains("1: let x = 1;"), "{missing}");
    assert!(error("").contains("empty"));
    assert_eq!(world.content("a.txt"), "let x = 1;\nlet y = 2;\nlet y = 2;\n");
    for path in [".env", ".git/hooks/x", "skill://outer/guide.md"] {
        let code = world.refused("edit_file", json!({"path": path, "old": "a", "new": "b"}));
        assert_eq!(code, "ToolNotAllowed", "{path}");
    }
}
