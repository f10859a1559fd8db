//! Taking back what was applied, also after the process was killed in the middle of it.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::*;

#[test]
fn undo_restores_content_mode_and_deleted_files() {
    let world = plain(&[
        write("a", "two\n"),
        call("delete_file", json!({"path": "bytes"})),
        write("deep/er/new", "new\n"),
        answer("done"),
    ]);
    let bytes: Vec<u8> = (0..=255).collect();
    world.write("project/a", "one\n").write("project/bytes", &bytes);
    for (file, mode) in [("project/a", 0o640), ("project/bytes", 0o755)] {
        std::fs::set_permissions(world.path(file), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    run(&world, "--apply");
    assert!(!world.path("project/bytes").exists() && world.path("project/deep/er/new").exists());
    let imagined = world.json("skillful runs undo last --dry-run --json");
    assert_eq!(imagined["written"], false);
    assert!(!world.path("project/bytes").exists(), "nothing was changed");
    let undone = world.json("skillful runs undo last --json");
    assert_eq!(undone["restored"], imagined["restored"]);
    assert_eq!(undone["written"], true);
    assert_eq!((world.read("project/a"), world.mode("project/a")), ("one\n".into(), 0o640));
    assert_eq!(std::fs::read(world.path("project/bytes")).unwrap(), bytes);
    assert_eq!(world.mode("project/bytes"), 0o755);
    assert!(!world.path("project/deep").exists());
    assert_sound(&world);
    let again = world.run("skillful runs undo last");
    assert_eq!(again, "[stderr]\nThe run changed none of your files.\n");
}

#[test]
fn undo_refuses_when_a_file_changed_since() {
    let world = plain(&[write("a", "two\n"), write("b", "new\n"), answer("done")]);
    world.write("project/a", "one\n");
    run(&world, "--apply");
    world.write("project/a", "mine\n");
    let seen = world.run("skillful runs undo last");
    assert!(seen.contains("`a`") && seen.ends_with("[exit 1]\n"), "{seen}");
    assert_eq!(
        (world.read("project/a"), world.read("project/b")),
        ("mine\n".into(), "new\n".into())
    );
    assert_eq!(world.json("skillful runs undo last --json")["error"]["code"], "Conflict");
    assert_sound(&world);
    // As it was after the run, it can be taken back.
    world.write("project/a", "two\n");
    assert!(!world.run("skillful runs undo last").contains("[exit"));
    assert_eq!(world.read("project/a"), "one\n");
    assert!(!world.path("project/b").exists());
}

#[test]
fn what_was_taken_back_can_be_applied_again_with_the_rest() {
    let world = plain(&[write("a", "two\n"), write("b", "new\n"), answer("done")]);
    world.write("project/a", "one\n");
    run(&world, "");
    world.run("skillful runs apply last a");
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "one\n");
    let seen = world.run("skillful runs apply last");
    assert!(!seen.contains("[exit"), "{seen}");
    assert_eq!(
        (world.read("project/a"), world.read("project/b")),
        ("two\n".into(), "new\n".into())
    );
    assert_sound(&world);
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "one\n");
}

#[test]
fn a_kill_while_changes_are_applied_leaves_all_of_them_or_none() {
    let text = "new\n".repeat(500);
    let names: Vec<String> = (0..36).map(|number| format!("sub/{number:02}")).collect();
    let turns: Vec<Value> =
        names.iter().map(|name| write(name, &text)).chain([answer("done")]).collect();
    for round in 0..6u64 {
        let world = plain(&turns);
        world.write("project/sub/other.txt", "mine\n").write("project/sub/00", "one\n");
        world.write("home/.agent/config.json", r#"{"budget": {"max_turns": 50}}"#);
        run(&world, "-q");
        let line = "exec skillful runs apply last";
        let mut applying =
            world.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Each time the kill comes a little later.
        std::thread::sleep(std::time::Duration::from_millis(20 + round * 15));
        applying.kill().unwrap();
        applying.wait().unwrap();
        // The next command finds out, finishes it or takes it back.
        let said = world.run("skillful runs changes last");
        assert!(!said.contains("half done"), "{said}");
        let there = names[1..]
            .iter()
            .filter(|name| world.path(&format!("project/{name}")).exists())
            .count();
        assert!(
            there == 0 || there == names.len() - 1,
            "round {round}: {there} of {}",
            names.len()
        );
        let is_applied = there > 0;
        assert_eq!(
            world.read("project/sub/00"),
            if is_applied { text.clone() } else { "one\n".to_owned() }
        );
        let seen = world.run("skillful runs undo last");
        assert!(!seen.contains("[exit"), "{seen}");
        assert_eq!(world.run("ls -A sub; cat sub/00"), "00\nother.txt\none\n", "round {round}");
        assert_eq!(
            world.run("ls -A"),
            ".agent\n.git\nsub\nturns.json\n",
            "nothing is left beside it"
        );
        assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    }
}

#[test]
fn a_run_killed_while_it_writes_leaves_the_workspace_as_it_was() {
    let text = "new\n".repeat(1 << 15);
    for round in 0..4u64 {
        let world = plain(&[write("sub/a.txt", &text), answer("done")]);
        world.write("project/sub/a.txt", "one\n");
        let line = "exec skillful run --model scripted:turns.json -q x";
        let mut writer =
            world.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30 + round * 20));
        writer.kill().unwrap();
        writer.wait().unwrap();
        assert_eq!(world.run("ls -A sub; cat sub/a.txt"), "a.txt\none\n");
    }
}

#[test]
fn what_undo_needs_is_for_the_user_alone() {
    let world = plain(&[write("a", "two\n"), answer("done")]);
    world.write("project/a", "password = hunter42x\n");
    run(&world, "--apply");
    let folder = last(&world);
    // The file that was there has kept its mode; nobody else gets to it.
    let lines =
        format!("cd ../{folder} && find applied observations -type d -printf '%m\\n' | sort -u");
    assert_eq!(world.run(&lines), "700\n");
    let lines = format!(
        "cd ../{folder} && find observations applied/*/*.json -type f -printf '%m\\n' | sort -u"
    );
    assert_eq!(world.run(&lines), "600\n");
    let events = world.read(&format!("{folder}/events.jsonl"));
    assert!(!events.contains("hunter42x"), "not in the record itself");
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "password = hunter42x\n");
}

#[test]
fn nothing_makes_a_repository_of_a_folder() {
    let world = plain(&[
        write("docs/config", "[core]\n"),
        write("docs/objects/a", "a\n"),
        write("docs/refs/heads/a", "a\n"),
        write("docs/HEAD", "ref: refs/heads/a\n"),
        write("fine", "x\n"),
        answer("done"),
    ]);
    run(&world, "--apply");
    assert_eq!(world.read("project/fine"), "x\n");
    let found = world.run("cd docs && git rev-parse --is-bare-repository --git-dir");
    assert!(!found.contains("true"), "{found}");
    world.run("skillful runs undo last");
    assert!(!world.path("project/fine").exists());
}
