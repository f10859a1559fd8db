use std::process::Command;

use super::*;

fn text_of(world: &World, name: &str) -> Diff {
    let set = world.collect();
    let change = set.get(&path(name)).unwrap();
    diff(change, (&world.layer(), &world.workspace), &world.rules).unwrap()
}

#[test]
fn a_difference_shows_lines_and_no_secrets() {
    let mut world = World::new();
    let lines: Vec<String> = (1..=20).map(|number| format!("{number}\n")).collect();
    let old = lines.concat();
    world.file("t", &old).file(".env", "KEY=1").file("m", "x");
    world.upper("t", old.replace("\n5\n", "\nfive\n").replace("\n20\n", "\n20")).upper("m", "x");
    world.upper("b", "\0").upper(".env", "KEY=2").upper("l", vec![b'x'; (1 << 20) + 1]);
    set_mode(&world.upper.join("m"), 0o755);
    world.note();
    let Diff::Text(text) = text_of(&world, "t") else { panic!() };
    assert_eq!(
        text,
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
         @@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
    );
    assert_eq!(text_of(&world, "b"), Diff::Binary);
    assert_eq!(text_of(&world, "m"), Diff::Nothing);
    assert_eq!(text_of(&world, "l"), Diff::TooLarge);
    assert_eq!(text_of(&world, ".env"), Diff::Hidden);
}

/// Few different lines, in an order without a pattern.
fn noise(seed: u64, count: usize) -> String {
    let mut state = seed;
    let mut line = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if state >> 63 == 0 { "a\n" } else { "b\n" }
    };
    (0..count).map(|_| line()).collect()
}

#[test]
fn hostile_texts_are_compared_in_a_moment() {
    for count in [19_000, 300_000] {
        let mut world = World::new();
        world.file("t", noise(1, count)).upper("t", noise(2, count));
        world.note();
        let start = std::time::Instant::now();
        assert!(matches!(text_of(&world, "t"), Diff::Text(_)));
        assert!(start.elapsed().as_secs() < 10, "{:?} for {count}", start.elapsed());
    }
}

#[test]
fn a_merge_keeps_both_changes_or_fails() {
    let check = |base: &str, ours: &str, theirs: &str, merged: Option<&str>| {
        let found = merge::merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        assert_eq!(found.as_deref(), merged.map(str::as_bytes), "{base:?} {ours:?} {theirs:?}");
    };
    check("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", Some("A\nb\nc\nD\n"));
    check("a\nb\nc\n", "A\nb\nc\n", "X\nb\nc\n", None);
    check("a\nb\nc\n", "A\nb\nc\n", "A\nb\nc\n", Some("A\nb\nc\n"));
    check("a\nb\n", "a\nb\nours\n", "a\nb\ntheirs\n", None);
    check("a\nb\nc\n", "b\nc\n", "a\nb\n", Some("b\n"));
    check("a\nb\n", "A\nb\n", "a\nB\n", None);
    check("a\nb\nc\n", "a\nb\nc\nd", "0\na\nb\nc\n", Some("0\na\nb\nc\nd"));
    check("", "x\n", "", Some("x\n"));
    check("a\0", "b\0", "a\0", None);
}

#[test]
fn ignored_folders_are_one_line_and_moved_files_are_seen() {
    let mut world = World::new();
    world.file(".gitignore", "node_modules/\n*.log\n").file("sub/.gitignore", "/out\n");
    world.file("node_modules/a", "1").file("moved.txt", "the same").file("x", "x");
    world.upper("node_modules/a", "22").upper("node_modules/p/b", "333").upper("a.log", "l");
    world.upper("sub/out/x", "x").upper("new/moved.txt", "the same").deletes("moved.txt");
    world.upper(".gitignore", "*\n").upper("x", "y");
    world.note();
    let lines = summary(&world.collect(), &world.workspace).unwrap();
    let shown: Vec<String> = lines
        .iter()
        .map(|line| match line {
            Line::Change(line) => format!("{} {:?}", line.path, line.change),
            Line::Folded(folded) => folded.to_string(),
        })
        .collect();
    assert_eq!(
        shown,
        [
            ".gitignore Changed",
            "a.log Added",
            "moved.txt Deleted",
            "new Added",
            "new/moved.txt Added",
            "node_modules/ 2 files, 5 bytes (1 added, 1 changed)",
            "sub/out/ 1 file, 1 bytes (1 added)",
            "x Changed",
        ]
    );
    let json = serde_json::to_value(&lines[4]).unwrap();
    assert_eq!(json["renamed_from"], "moved.txt");
    assert_eq!((&json["change"], &json["mode"]), (&"added".into(), &"0644".into()));
    let json = serde_json::to_value(&lines[5]).unwrap();
    assert_eq!((&json["folded"], &json["files"]), (&"node_modules".into(), &2.into()));
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments).env_clear().env("PATH", "/usr/bin:/bin");
    command.env("HOME", folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn git_applies_a_patch_to_the_same_end() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let mut world = World::new();
    world.file("t", "1\n2\n3\n").file("no end", "x").file("gone", "bye\n").file("bin", "\0old");
    world.file("mode", "m\n").file("to_link", "f\n").file("to_folder", "f\n").file("d/x", "x\n");
    world.file("gone.bin", b"\0\xff").file("end", "e\n");
    symlink("t", world.workspace.join("link")).unwrap();
    let all: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    world.upper("t", "1\ntwo\n3\n").upper("no end", "y").deletes("gone").upper("bin", "\0new");
    world.upper("mode", "m\n").upper("to_folder/x", "f").upper("new/empty", "").upper("all", &all);
    world.deletes("gone.bin").deletes("d").upper("link", "plain\n").upper("end", "e");
    symlink("t", world.upper.join("to_link")).unwrap();
    symlink("nowhere", world.upper.join("new/link")).unwrap();
    set_mode(&world.upper.join("mode"), 0o755);
    let odd = OsStr::from_bytes(b"o\xffdd\t\"name\\ \xc3\xa4\n");
    fs::write(world.upper.join(odd), "odd\n").unwrap();
    fs::write(world.upper.join("with space"), "s\n").unwrap();
    world.note();
    let mut text = Vec::new();
    let places = (&world.layer(), &*world.workspace);
    patch(&world.collect(), places, &world.rules, &mut text).unwrap();
    let copy = tempfile::tempdir().unwrap();
    assert!(
        Command::new("cp")
            .arg("-a")
            .arg(world.workspace.join("."))
            .arg(copy.path())
            .status()
            .unwrap()
            .success()
    );
    let file = copy.path().with_extension("patch");
    fs::write(&file, &text).unwrap();
    git(copy.path(), &["apply", file.to_str().unwrap()]);
    fs::remove_file(&file).unwrap();
    world.apply(&Disk::default()).unwrap();
    let content = |folder: &Path| -> Vec<_> {
        let facts = |(path, (mode, content, _))| (path, mode, content);
        snapshot(folder).into_iter().map(facts).collect()
    };
    assert_eq!(content(copy.path()), content(&world.workspace));
}

#[test]
fn changes_can_be_put_into_another_folder() {
    let mut world = World::new();
    world.file("a", "1").upper("a", "2").upper("d/b", "3").deletes("c");
    symlink("a", world.upper.join("l")).unwrap();
    world.note();
    let to = tempfile::tempdir().unwrap();
    let plan = world.plan(&Selection::default()).unwrap();
    export(&plan, &world.layer(), to.path()).unwrap();
    assert_eq!(fs::read(to.path().join("a")).unwrap(), b"2");
    assert_eq!(fs::read(to.path().join("d/b")).unwrap(), b"3");
    assert!(to.path().join("l").is_symlink());
    let again = export(&plan, &world.layer(), to.path());
    assert!(matches!(again, Err(ChangesError::Conflict { .. })));
    assert_eq!(fs::read(world.workspace.join("a")).unwrap(), b"1");
}
