use std::os::unix::fs::PermissionsExt;
use std::{fs, io};

use basics::failure::Explain;
use basics::sha256::Sha256;
use serde_json::json;

use super::World;
use crate::error::ToolError;
use crate::perform::perform;
use crate::undo::{Previous, Restoration, Undo, Undoing};
use crate::workspace::Workspace;

fn undo(change: &Undo, workspace: &Workspace) -> Result<Restoration, ToolError> {
    Undoing::new(workspace, false).undo(change)
}

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
    undo(&world.recorded[0], &world.workspace).unwrap();
    assert!(!world.path("new/deep/a.txt").exists());
}

#[test]
fn a_file_is_replaced_and_can_be_restored() {
    let mut world = World::new(&[("run.sh", "old")]);
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    world.call("write_file", json!({"path": "run.sh", "content": "new"})).unwrap();
    assert_eq!((world.content("run.sh"), mode(&world, "run.sh")), ("new".to_owned(), 0o750));
    undo(&world.recorded[0], &world.workspace).unwrap();
    assert_eq!((world.content("run.sh"), mode(&world, "run.sh")), ("old".to_owned(), 0o750));
    let left = fs::read_dir(world.path(".")).unwrap().count();
    assert_eq!(left, 2, "no temporary file stays behind");
}

#[test]
fn a_file_is_deleted_and_can_be_restored() {
    let mut world = World::new(&[]);
    world.write("a.bin", b"\xff\0");
    world.call("delete_file", json!({"path": "a.bin"})).unwrap();
    assert!(!world.path("a.bin").exists());
    undo(&world.recorded[0], &world.workspace).unwrap();
    assert_eq!(fs::read(world.path("a.bin")).unwrap(), b"\xff\0");
}

#[test]
fn changes_are_undone_one_after_the_other() {
    let mut world = World::new(&[("a.txt", "1")]);
    world.call("write_file", json!({"path": "a.txt", "content": "2"})).unwrap();
    world.call("delete_file", json!({"path": "a.txt"})).unwrap();
    world.call("write_file", json!({"path": "a.txt", "content": "3"})).unwrap();
    assert_eq!(undo(&world.recorded[0], &world.workspace).unwrap_err().code(), "FileChanged");
    let mut imagining = Undoing::new(&world.workspace, true);
    assert_eq!(imagining.undo(&world.recorded[1]).unwrap_err().code(), "FileChanged");
    for change in world.recorded.iter().rev() {
        imagining.undo(change).unwrap();
    }
    assert_eq!(world.content("a.txt"), "3", "nothing was written");
    for change in world.recorded.iter().rev() {
        undo(change, &world.workspace).unwrap();
    }
    assert_eq!(world.content("a.txt"), "1");
}

#[test]
fn a_change_that_was_announced_and_never_made_needs_no_undo() {
    for (tool, params, before) in [
        ("write_file", json!({"path": "a.txt", "content": "2"}), Some("1")),
        ("write_file", json!({"path": "a.txt", "content": "2"}), None),
        ("delete_file", json!({"path": "a.txt"}), Some("1")),
    ] {
        let mut world = World::new(&[]);
        before.into_iter().for_each(|before| world.write("a.txt", before));
        world.call(tool, params).unwrap();
        match before {
            Some(before) => world.write("a.txt", before),
            None => fs::remove_file(world.path("a.txt")).unwrap(),
        }
        let imagined = Undoing::new(&world.workspace, true).undo(&world.recorded[0]).unwrap();
        assert_eq!(imagined, Restoration::NotNeeded);
        let undone = undo(&world.recorded[0], &world.workspace).unwrap();
        assert_eq!(undone, Restoration::NotNeeded);
        assert_eq!(fs::read_to_string(world.path("a.txt")).ok().as_deref(), before);
    }
}

#[test]
fn a_recorded_mode_gives_nobody_more_than_permissions() {
    let world = World::new(&[("a.sh", "2")]);
    let previous = Previous { bytes: b"1".to_vec(), mode: 0o6755 };
    let sha256_after = Some(Sha256::of(b"2").to_string());
    let change = Undo { path: "a.sh".to_owned(), previous: Some(previous), sha256_after };
    assert_eq!(undo(&change, &world.workspace).unwrap(), Restoration::Done);
    let found = fs::metadata(world.path("a.sh")).unwrap().permissions().mode();
    assert_eq!((world.content("a.sh").as_str(), found & 0o7777), ("1", 0o755));
}

#[test]
fn what_somebody_changed_since_is_not_undone() {
    let mut world = World::new(&[("a.txt", "1"), ("b.txt", "1")]);
    world.call("write_file", json!({"path": "a.txt", "content": "2"})).unwrap();
    world.call("delete_file", json!({"path": "b.txt"})).unwrap();
    world.write("a.txt", "mine");
    world.write("b.txt", "mine");
    for change in &world.recorded {
        assert_eq!(undo(change, &world.workspace).unwrap_err().code(), "FileChanged");
    }
    assert_eq!(
        (world.content("a.txt"), world.content("b.txt")),
        ("mine".to_owned(), "mine".to_owned())
    );
}

#[test]
fn nothing_changes_when_it_cannot_be_recorded() {
    for (tool, params) in [
        ("write_file", json!({"path": "a.txt", "content": "2"})),
        ("write_file", json!({"path": "new/b.txt", "content": "2"})),
        ("delete_file", json!({"path": "a.txt"})),
    ] {
        let world = World::new(&[("a.txt", "1")]);
        let call = world.approve(world.resolve(tool, params).unwrap());
        let mut fails = |_: &Undo| Err(io::ErrorKind::StorageFull.into());
        let error = perform(call, &world.engine, &world.workspace, &mut fails).unwrap_err();
        assert_eq!(error.code(), "IOError");
        assert_eq!((world.content("a.txt"), world.path("new").exists()), ("1".to_owned(), false));
    }
}

#[test]
fn the_file_is_recorded_before_it_is_changed() {
    let world = World::new(&[("a.txt", "1")]);
    let call = world
        .approve(world.resolve("write_file", json!({"path": "a.txt", "content": "2"})).unwrap());
    let mut seen = None;
    let mut record = |undo: &Undo| {
        seen = Some((undo.previous.clone().unwrap().bytes, world.content("a.txt")));
        Ok(())
    };
    perform(call, &world.engine, &world.workspace, &mut record).unwrap();
    assert_eq!(seen, Some((b"1".to_vec(), "1".to_owned())));
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
    assert_eq!(world.recorded, []);
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
    // What was written can be taken back, whoever adds what is missing.
    world.write("docs/HEAD.new", "ref: refs/heads/a\n");
    fs::rename(world.path("docs/HEAD.new"), world.path("docs/HEAD")).unwrap();
    for folder in ["docs/objects", "docs/refs"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    for change in world.recorded.iter().rev() {
        assert_eq!(undo(change, &world.workspace).unwrap(), Restoration::Done, "{order:?}");
    }
    let left = ["docs/config", "docs/objects/a", "docs/refs/a", "docs/commondir"];
    assert!(left.iter().all(|path| !world.path(path).exists()), "{order:?}");
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
