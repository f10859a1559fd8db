//! However a run ends, its folder holds its record and nothing that was on the way.

use super::*;

/// What was left on the way by any run, its children included.
fn leftovers(world: &World) -> String {
    // What programs of a run find as /tmp is in its own folder.
    world.run("find .agent/runs -path '*/sandbox/tmp' -prune -o '(' -name '*.tmp*' -o -name '*~' ')' -print")
}

/// A run of these turns ends with this exit code and leaves nothing behind.
fn check(turns: Value, options: &str, ending: &str) -> World {
    let world = scripted(turns);
    skill(&world, "s", "echo ran\n");
    let seen = run(&world, &format!("-q {options}"));
    assert!(seen.ends_with(ending), "{seen}");
    let state = format!("{}/state.json", last(&world));
    assert!(world.path(&state).exists(), "{ending}");
    assert_eq!(leftovers(&world), "", "{ending}");
    world
}

#[test]
fn a_run_that_ends_leaves_no_temporary_file() {
    let work = json!([select(&["s"]), script("s", &[]), answer("done")]);
    check(work.clone(), "--yes", "done\n");
    check(json!([select(&["s"]), {"text": ""}, {"text": ""}, {"text": ""}]), "", "[exit 1]\n");
    check(json!([select(&["s"])]), "", "[exit 1]\n");
    // It waits, goes on, and ends.
    let world = check(work, "", "[exit 3]\n");
    let seen = resume(&world, "-q --yes");
    assert!(seen.starts_with("done"), "{seen}");
    assert_eq!(leftovers(&world), "");
}

#[test]
fn a_run_that_is_stopped_leaves_no_temporary_file() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "echo ran\n");
    let line = "skillful run --model scripted:turns.json x";
    assert!(world.dialogue(line, "[?] ", "\u{3}").ends_with("[exit 130]\n"));
    assert_eq!(leftovers(&world), "");
}

#[test]
fn a_child_run_that_ends_leaves_no_temporary_file() {
    let turns = json!([select(&["sub"]), answer("done")]);
    let child = json!([select(&["s"]), answer("the child is done")]);
    let world = played(json!({"turns": turns, "subagents": {"sub": child}}));
    skill(&world, "s", "echo ran\n");
    world.write(
        "home/.agent/skills/sub/SKILL.md",
        "---\nname: sub\ndescription: Helps.\nrun-mode: subagent\n---\nThe body of sub.\n",
    );
    assert!(run(&world, "-q").starts_with("done"));
    assert_eq!(leftovers(&world), "");
}

#[test]
fn what_a_killed_run_left_goes_when_it_is_taken_up_and_ends() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "echo ran\n");
    run(&world, "-q");
    world.write(&format!("{}/state.json.tmp", last(&world)), "{");
    world.write(&format!("{}/run.json.tmp", last(&world)), "{");
    assert!(resume(&world, "-q --yes").starts_with("done"));
    assert_eq!(leftovers(&world), "");
}
