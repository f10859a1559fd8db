//! Skills that run as subagents, in child runs of their own.

use super::*;

/// A parent that selects `sub`, whose child run says these turns.
fn family(child: Value) -> World {
    let turns = json!([select(&["sub"]), answer("the parent is done")]);
    let world = played(json!({"turns": turns, "subagents": {"sub": child}}));
    subagent(&world);
    world
}

fn subagent(world: &World) {
    skill(world, "sub", "echo done > \"$HOME/made\"; cat \"$HOME/made\"\n");
    world.write(
        "home/.agent/skills/sub/SKILL.md",
        "---\nname: sub\ndescription: Helps.\nrun-mode: subagent\n---\nThe body of sub.\n",
    );
}

#[test]
fn a_subagent_is_selected_alone() {
    let world = scripted(json!([
        select(&["sub", "other"]),
        select(&["other"]),
        select(&["sub"]),
        answer("done")
    ]));
    subagent(&world);
    skill(&world, "other", "");
    run(&world, "");
    assert_eq!(codes(&world), ["InvalidAction".into(), Value::Null, Value::Null]);
    let loaded = events(&world);
    let loaded = loaded.iter().filter(|event| event["type"] == "skill_loaded");
    let names: Vec<&Value> = loaded.map(|event| &event["data"]["skill"]["name"]).collect();
    assert_eq!(names, ["other"]);
    assert_sound(&world);
}

#[test]
fn a_run_waits_where_its_child_waits_and_both_go_on() {
    let world = family(json!([script("sub", &[]), answer("the child is done")]));
    let asked = run(&world, "");
    assert!(asked.contains("--approve run_script:sub/scripts/a.sh"), "{asked}");
    assert!(asked.ends_with("[exit 3]\n"), "{asked}");
    let resumed = resume(&world, "--approve run_script:sub/scripts/a.sh");
    assert!(resumed.contains("the parent is done") && !resumed.contains("[exit"), "{resumed}");
    assert_sound(&world);
    let folder = format!("{}.1", last(&world));
    assert_eq!(world.read(&format!("{folder}/final.md")).trim(), "the child is done");
    let json = world.json("skillful run --json --model scripted:turns.json x");
    assert_eq!(
        (&json["status"], &json["approval"]["tool"]),
        (&json!("blocked"), &json!("run_script"))
    );
}

#[test]
fn what_a_child_run_wrote_is_taken_back_with_its_parent() {
    let script = json!({
        "turns": [write("a", "2"), select(&["sub"]), write("a", "4"), answer("done")],
        "subagents": {"sub": [write("a", "3"), write("b", "new"), answer("done")]},
    });
    let world = played(script);
    subagent(&world);
    world.write("project/a", "1");
    run(&world, "--approve write_file");
    assert_eq!(world.read("project/a"), "1", "nothing is applied unasked");
    run(&world, "--approve write_file --apply");
    assert_sound(&world);
    assert_eq!((world.read("project/a"), world.read("project/b")), ("4".into(), "new".into()));
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/a"), "1");
    assert!(!world.path("project/b").exists());
}

#[test]
fn a_change_in_the_record_of_a_child_run_is_found() {
    let world = family(json!([answer("the child is done")]));
    run(&world, "");
    assert_sound(&world);
    let events = format!("{}.1/events.jsonl", last(&world));
    let original = world.read(&events);
    world.write(&events, original.replace("the child is done", "the child is gone"));
    let seen = world.run("skillful runs verify last");
    assert!(seen.contains("child run") && seen.ends_with("[exit 4]\n"), "{seen}");
    world.write(&events, original);
    assert_sound(&world);
    std::fs::remove_dir_all(world.path(&events).parent().unwrap()).unwrap();
    let seen = world.run("skillful runs verify last");
    assert!(seen.contains("there is no child run") && seen.ends_with("[exit 4]\n"), "{seen}");
}
