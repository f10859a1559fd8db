//! The record vouches for all that is done with it, and can be followed.

use super::*;

fn written() -> World {
    let world = scripted(json!([write("a", "two"), write("b", "new"), answer("done")]));
    world.write("project/a", "one").write("project/c", "mine");
    run(&world, "--approve write_file");
    assert_sound(&world);
    world
}

/// After this change of `changes/`, the record is not intact and nothing is taken back.
fn check(change: impl Fn(&World, &str)) {
    let world = written();
    change(&world, &format!("{}/changes", last(&world)));
    let seen = world.run("skillful runs verify last");
    assert!(seen.starts_with("changed") && seen.ends_with("[exit 4]\n"), "{seen}");
    let seen = world.run("skillful runs undo last");
    assert!(seen.ends_with("[exit 4]\n"), "{seen}");
    assert_eq!(
        ["a", "b", "c"].map(|name| world.read(&format!("project/{name}"))),
        ["two", "new", "mine"]
    );
}

#[test]
fn changes_that_were_edited_are_not_followed() {
    check(|world, changes| {
        let path = format!("{changes}/000001.json");
        world.write(&path, world.read(&path).replace("\"a\"", "\"c\""));
    });
}

#[test]
fn changes_that_were_removed_are_missed() {
    check(|world, changes| std::fs::remove_dir_all(world.path(changes)).unwrap());
    check(|world, changes| {
        std::fs::remove_file(world.path(&format!("{changes}/000001.json"))).unwrap();
    });
}

#[test]
fn changes_that_were_added_are_not_followed() {
    check(|world, changes| {
        let added = json!({"path": "c", "previous": null, "sha256_after": null}).to_string();
        world.write(&format!("{changes}/000003.json"), added);
    });
}

#[test]
fn following_a_run_that_was_killed_ends() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "echo started > \"$HOME/started\"; while :; do sleep 1; done\n");
    let mut writer =
        world.command("exec skillful run --model scripted:turns.json --yes x").spawn().unwrap();
    let began = || world.run("ls .agent/runs/*/sandbox/started 2> /dev/null").contains("started");
    while !began() {
        assert!(writer.try_wait().unwrap().is_none(), "it ended too early");
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    let seen = world.run("skillful runs show last --follow");
    assert!(
        seen.contains("run_script")
            && seen.contains("It did not end; `skillful run --resume last` goes on."),
        "{seen}"
    );
}
