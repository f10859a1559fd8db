use std::fs;
use std::time::{Duration, Instant};

use basics::failure::Explain;
use serde_json::json;

use super::World;
use crate::call::Call;

#[test]
fn a_file_is_read_by_any_spelling_of_its_path() {
    let mut world = World::new(&[("src/a.txt", "one\ntwo\n")]);
    let absolute = world.path("src/a.txt");
    for path in ["src/a.txt", "./src//a.txt", "src/../src/./a.txt", absolute.to_str().unwrap()] {
        let result = world.result("read_file", json!({"path": path}));
        assert_eq!(
            result,
            json!({"ok": true, "path": "src/a.txt", "size": 8, "first_line": 1, "last_line": 2, "total_lines": 2,
                   "content": "one\ntwo\n", "truncated": false, "storage_ref": null})
        );
    }
}

#[test]
fn skills_are_read_by_their_name_and_have_one_name_each() {
    let mut world = World::new(&[]);
    let mut name = |path: &str| world.result("read_file", json!({"path": path}))["path"].clone();
    assert_eq!(name("skill://outer/guide.md"), "skill://outer/guide.md");
    assert_eq!(name("skill://inner/./guide.md"), ".agent/skills/inner/guide.md");
    for path in ["skill://outer/../../outside/secret.txt", "skill://unknown/guide.md"] {
        let refused = Call::parse("read_file", json!({"path": path}))
            .map_err(|error| error.code())
            .and_then(|call| call.resolve(&world.workspace).map_err(|error| error.code()));
        assert_eq!(refused, Err("PathTraversalBlocked"), "{path}");
    }
}

#[test]
fn a_name_belongs_to_the_first_skill_that_has_it() {
    let mut world = World::new(&[]);
    let outer = world.folder.path().join("skills/outer");
    world.workspace.select_skill("outer", &outer).unwrap();
    let error =
        world.workspace.select_skill("outer", &world.folder.path().join("outside")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(
        world.shown("read_file", json!({"path": "skill://outer/guide.md"})),
        "outer guide\n"
    );
}

#[test]
fn some_lines_of_a_file_are_read() {
    let mut world = World::new(&[("a.txt", "1\n2\n3\n4")]);
    let mut lines = |first: u64, lines: Option<u64>| {
        let result = world
            .result("read_file", json!({"path": "a.txt", "first_line": first, "lines": lines}));
        (result["content"].clone(), result["last_line"].clone(), result["truncated"].clone())
    };
    assert_eq!(lines(2, Some(2)), (json!("2\n3\n"), json!(3), json!(false)));
    assert_eq!(lines(4, None), (json!("4"), json!(4), json!(false)));
    assert_eq!(lines(0, Some(1)), (json!("1\n"), json!(1), json!(false)));
    assert_eq!(lines(9, None), (json!(""), json!(8), json!(false)));
    assert_eq!(lines(u64::MAX, Some(u64::MAX)).0, json!(""));
}

#[test]
fn a_long_text_is_cut_at_a_line_and_handed_back_whole() {
    let mut world = World::new(&[("a.txt", "one\ntwo\nthree\n"), ("b.txt", "ééé")]);
    world.workspace.limits.shown_bytes = 9;
    let outcome = world.call("read_file", json!({"path": "a.txt"})).unwrap();
    assert_eq!(outcome.content.as_deref(), Some("one\ntwo\n"));
    assert_eq!(outcome.full.as_deref(), Some(&b"one\ntwo\nthree\n"[..]));
    assert!(outcome.truncated);
    world.workspace.limits.shown_bytes = 3;
    assert_eq!(world.shown("read_file", json!({"path": "b.txt"})), "é");
}

#[test]
fn what_cannot_be_read_has_its_code() {
    let mut world = World::new(&[("big.txt", "12345"), ("nul.txt", "a\0b"), ("folder/a.txt", "")]);
    world.write("latin.txt", b"caf\xe9");
    world.workspace.limits.file_bytes = 4;
    let mut code = |path: &str| world.refused("read_file", json!({"path": path}));
    assert_eq!(code("big.txt"), "FileTooLarge");
    assert_eq!(code("nul.txt"), "NotText");
    assert_eq!(code("latin.txt"), "NotText");
    assert_eq!(code("missing.txt"), "IOError");
    assert_eq!(code("folder"), "IOError");
    assert_eq!(code("."), "IOError");
    assert_eq!(code("big.txt/x"), "IOError");
}

#[test]
fn a_pipe_does_not_block() {
    let mut world = World::new(&[]);
    let pipe = world.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(world.refused("read_file", json!({"path": "pipe"})), "IOError");
    assert_eq!(world.result("grep", json!({"pattern": "x"}))["files_searched"], 0);
}

#[test]
fn links_lead_to_what_they_point_to_if_that_is_inside() {
    let mut world = World::new(&[("real/a.txt", "inside\n"), (".env", "KEY=1")]);
    world.link("file", "real/a.txt");
    world.link("folder", "real");
    world.link("innocent.txt", ".env");
    world.link("away.txt", "../outside/secret.txt");
    world.link("loop", "loop");
    let mut read = |path: &str| match world.call("read_file", json!({"path": path})) {
        Ok(outcome) => outcome.facts["path"].as_str().unwrap().to_owned(),
        Err(error) => error.code().to_owned(),
    };
    assert_eq!(read("file"), "real/a.txt");
    assert_eq!(read("folder/a.txt"), "real/a.txt");
    assert_eq!(read("innocent.txt"), "ToolNotAllowed");
    assert_eq!(read("away.txt"), "PathTraversalBlocked");
    assert_eq!(read("loop"), "IOError");
}

#[test]
fn a_link_put_in_place_after_the_check_is_not_followed() {
    let mut world = World::new(&[("folder/secret.txt", "inside"), ("a.txt", "inside")]);
    let file = world.resolve("read_file", json!({"path": "a.txt"})).unwrap();
    let nested = world.resolve("read_file", json!({"path": "folder/secret.txt"})).unwrap();
    let listed = world.resolve("list_dir", json!({"path": "folder"})).unwrap();
    let searched = world.resolve("grep", json!({"path": "folder", "pattern": "."})).unwrap();
    fs::remove_file(world.path("a.txt")).unwrap();
    world.link("a.txt", "../outside/secret.txt");
    fs::rename(world.path("folder"), world.path("moved")).unwrap();
    world.link("folder", "../outside");
    for call in [file, nested, listed, searched] {
        assert_eq!(world.perform(call).unwrap_err().code(), "PathTraversalBlocked");
    }
}

#[test]
fn a_call_that_was_not_resolved_cannot_get_around_anything() {
    let mut world = World::new(&[("private/a.txt", "x")]);
    world.link("folder", "private");
    let absolute = world.path("private/a.txt");
    for path in ["folder/a.txt", absolute.to_str().unwrap(), "skill://inner/guide.md"] {
        let call = Call::parse("read_file", json!({"path": path})).unwrap();
        assert!(world.perform(call).is_err(), "{path}");
    }
    for path in
        ["private//a.txt", "./private/a.txt", "private/../private/a.txt", "../outside/secret.txt"]
    {
        let call =
            permission::params::ReadFile { path: path.to_owned(), first_line: 1, lines: None };
        assert_eq!(
            world.perform(Call::ReadFile(call)).unwrap_err().code(),
            "PathTraversalBlocked",
            "{path}"
        );
    }
}

#[test]
fn secrets_are_hidden() {
    let secrets = [
        ".env",
        ".env.local",
        "app/.ENV",
        ".ssh/config",
        "keys/id_rsa",
        "tls/server.key",
        "cert.pem",
        ".git/config",
        "sub/.git/config",
        ".netrc",
        ".npmrc",
        ".aws/credentials",
    ];
    let others = [".git/HEAD", "env.txt", "git/config", "keys.txt", "id_card.txt"];
    let mut world = World::new(&[]);
    for path in secrets.iter().chain(&others) {
        world.write(path, "x");
    }
    for path in secrets {
        assert_eq!(world.refused("read_file", json!({"path": path})), "ToolNotAllowed", "{path}");
        assert_eq!(
            world.refused("grep", json!({"path": path, "pattern": "."})),
            "ToolNotAllowed",
            "{path}"
        );
    }
    for path in others {
        assert_eq!(world.shown("read_file", json!({"path": path})), "x", "{path}");
    }
    world.workspace.secrets = crate::workspace::PathPatterns::new(["git/config"]);
    assert_eq!(world.shown("read_file", json!({"path": ".env"})), "x");
    assert_eq!(world.refused("read_file", json!({"path": "git/config"})), "ToolNotAllowed");
}

#[test]
fn a_namespace_is_part_of_a_skills_name_and_never_a_folder_of_the_workspace() {
    let mut world = World::new(&[("skill:/acme/deploy/notes.md", "forged\n")]);
    let skill = world.folder.path().join("skills/deploy");
    fs::create_dir_all(&skill).unwrap();
    fs::write(skill.join("notes.md"), "real\n").unwrap();
    let forged = world.path("skill:/acme/deploy/notes.md");
    let forged = [
        forged.to_str().unwrap(),
        "skill:/acme/deploy/notes.md",
        "./skill://acme/deploy/notes.md",
        "skill://acme/deploy/notes.md",
    ];
    for path in forged {
        assert_eq!(world.refused("read_file", json!({"path": path})), "PathTraversalBlocked");
        let written = json!({"path": path, "content": "x"});
        assert_eq!(world.refused("write_file", written), "PathTraversalBlocked", "{path}");
    }
    world.workspace.select_skill("acme/deploy", &skill).unwrap();
    for path in [skill.join("notes.md").to_str().unwrap(), "skill://acme/deploy/notes.md"] {
        assert_eq!(world.shown("read_file", json!({"path": path})), "real\n", "{path}");
        let written = json!({"path": path, "content": "x"});
        assert_eq!(world.refused("write_file", written), "ToolNotAllowed", "{path}");
    }
    // Its folder `deploy` would have the names of the other skill.
    let above = world.folder.path().join("outside");
    assert!(world.workspace.select_skill("acme", &above).is_err());
    assert!(world.workspace.select_skill("acme/deploy/x", &above).is_err());
    world.workspace.select_skill("acme/deployment", &above).unwrap();
}

#[test]
fn a_path_of_any_length_is_answered_quickly() {
    let mut world = World::new(&[]);
    let started = Instant::now();
    for path in ["a/".repeat(1500), "a".repeat(4000), "a/".repeat(2048)] {
        assert_eq!(world.refused("read_file", json!({"path": path})), "IOError");
    }
    for long in ["a/".repeat(2049), "a/".repeat(100_000), "../".repeat(100_000)] {
        let error = Call::parse("read_file", json!({"path": long})).unwrap_err();
        assert_eq!(error.code(), "InvalidAction");
        assert!(error.to_string().contains("more than the limit of 4096"), "{error}");
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
