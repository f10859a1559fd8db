//! Taking a run's changes back, also after the run was killed in the middle of one.

use std::process::Stdio;

use super::*;

#[test]
fn a_run_killed_while_it_writes_leaves_the_file_whole_and_nothing_beside_it() {
    let text = "new\n".repeat(1 << 15);
    for round in 0..8 {
        let before = [None, Some("one\n")][round % 2];
        let world = scripted(json!([write("sub/a.txt", &text), answer("done")]));
        world.write("project/sub/other.txt", "mine\n");
        if let Some(before) = before {
            world.write("project/sub/a.txt", before);
        }
        let line = "exec skillful run --model scripted:turns.json --approve write_file -q x";
        let mut writer = world.command(line).stdout(Stdio::null()).spawn().unwrap();
        // The change is announced before it is made; each time the kill comes a little later.
        while !is_announced(&world) {
            assert!(writer.try_wait().unwrap().is_none(), "it ended too early");
        }
        (0..round * 20).for_each(|_| assert!(is_announced(&world)));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let found = || std::fs::read_to_string(world.path("project/sub/a.txt")).ok();
        let is_whole = found().as_deref() == before || found().as_ref() == Some(&text);
        assert!(is_whole, "{:?}", found().map(|found| found.len()));
        let seen = world.run("skillful runs undo last");
        assert!(!seen.contains("[exit") && !seen.contains("changed since"), "{seen}");
        assert_eq!(found().as_deref(), before);
        let expected = if before.is_some() { "a.txt\nother.txt\n" } else { "other.txt\n" };
        assert_eq!(world.run("ls -A sub"), expected);
    }
}

fn is_announced(world: &World) -> bool {
    let runs = std::fs::read_dir(world.path("project/.agent/runs")).into_iter().flatten();
    let mut runs = runs.map(|run| run.unwrap().path());
    runs.any(|run| run.join("changes/000001.json").exists())
}

#[test]
fn a_change_that_was_never_made_needs_no_undo_and_is_said_so() {
    let world = scripted(json!([write("a", "two\n"), write("b", "new\n"), answer("done")]));
    world.write("project/a", "one\n").write("project/c", "mine\n");
    run(&world, "--approve write_file");
    // What a kill before the change leaves, with the last bytes of an earlier one still about.
    world.run("echo one > a; rm b; echo one > .skillful-1-0.tmp; chmod 600 .skillful-1-0.tmp");
    let imagined = world.run("skillful runs undo last --dry-run");
    let expected =
        "unchanged  b  already as before the run\nunchanged  a  already as before the run\n";
    assert_eq!(imagined, expected);
    assert!(world.path("project/.skillful-1-0.tmp").exists(), "nothing was changed");
    let undone = world.json("skillful runs undo last --json");
    let expected = json!({"restored": [], "unchanged": ["b", "a"], "failed": [], "written": true});
    assert_eq!(undone, expected);
    assert_eq!(world.run("ls -A | grep skillful; cat a"), "one\n");
}

#[test]
fn what_undo_needs_is_for_the_user_alone() {
    let world = scripted(json!([write("a", "two\n"), answer("done")]));
    world.write("project/a", "password = hunter42x\n");
    run(&world, "--approve write_file");
    let folder = last(&world);
    let lines = format!("cd ../{folder} && find changes observations -printf '%m %y\\n' | sort -u");
    assert_eq!(world.run(&lines), "600 f\n700 d\n");
    assert!(
        world.run(&format!("grep -r hunter42x ../{folder}/observations")).contains("hunter42x")
    );
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "password = hunter42x\n");
}

#[test]
fn what_a_run_wrote_where_git_now_sees_a_repository_can_be_taken_back() {
    let world = scripted(json!([
        write("docs/config", "[core]\n"),
        write("docs/objects/a", "a\n"),
        write("docs/refs/heads/a", "a\n"),
        write("docs/HEAD", "ref: refs/heads/a\n"),
        answer("done"),
    ]));
    run(&world, "--approve write_file");
    assert_eq!(codes(&world), [Value::Null, Value::Null, Value::Null, json!("ToolNotAllowed")]);
    world.run("echo 'ref: refs/heads/a' > docs/HEAD");
    let undone = world.json("skillful runs undo last --json");
    assert_eq!(undone["restored"], json!(["docs/refs/heads/a", "docs/objects/a", "docs/config"]));
    assert_eq!(world.run("find docs -type f"), "docs/HEAD\n");
}
