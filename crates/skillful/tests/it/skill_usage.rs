//! `skillful usage`

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::turns::{answer, last_run, run_script, select};
use crate::world::World;

/// A world in which runs answered, failed and waited.
fn used() -> World {
    let world = World::new();
    world.skill("home/.agent/skills/letters", "Write letters.");
    world.turns(&[select(&["letters"]), answer("done")]);
    let run = "skillful run --model scripted:turns.json x";
    world.run(run);
    world.run(run);
    // It says nothing more after the skill is loaded.
    world.turns(&[select(&["letters"])]);
    world.run(run);
    world.turns(&[select(&["csv-report"]), run_script("csv-report", "scripts/report.sh", &["x"])]);
    world.run(run);
    // What is not there is chosen, and not loaded.
    world.turns(&[select(&["invoices"]), answer("sorry")]);
    world.run(run);
    world
}

/// Without the day.
fn timeless(seen: &str) -> String {
    let lines = seen.lines().map(|line| match line.split_once("last used ") {
        Some((before, _)) => format!("{before}last used [day]"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn each_skill_is_counted_by_what_came_of_it() {
    assert_snapshot!(timeless(&used().run("skillful usage")), @"
    5 runs: 3 answered, 1 failed, 1 unfinished

    letters
      offered 5, chosen 3, loaded 3
      runs that loaded it: 2 answered, 1 failed
      last used [day]

    csv-report
      offered 5, chosen 1, loaded 1
      runs that loaded it: 0 answered, 1 unfinished
      last used [day]

    invoices  not there any more
      offered 0, chosen 1, loaded 0
      last used [day]

    Never chosen
      data-cleanup       offered 5
      file-organizer     offered 5
      git-release-notes  offered 5
      skill-author       offered 5
      text-stats         offered 5
    ");
}

#[test]
fn one_skill_has_its_own_figures() {
    let world = used();
    let mut one = world.json("skillful usage --json letters");
    let last = one["skills"][0]["last_used"].take();
    assert!(last.as_str().is_some_and(|last| last.ends_with('Z')), "{last}");
    assert_eq!(
        one,
        json!({
            "runs": 5, "answered": 3, "failed": 1, "cancelled": 0, "unfinished": 1, "elsewhere": 0,
            "skills": [{
                "name": "letters", "present": true, "offered": 5, "chosen": 3, "loaded": 3,
                "answered": 2, "failed": 1, "cancelled": 0, "unfinished": 0,
                "scripts": 0, "failed_scripts": 0, "last_used": null,
            }],
            "problems": [],
        })
    );
    assert_snapshot!(world.run("skillful usage leters"), @"
    [stderr]
    error: no skill and no run knows `leters`
    hint: did you mean `letters`?
    [exit 1]
    ");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn scripts_are_counted_with_those_that_failed() {
    let world = World::new();
    world.write("project/sales.csv", "a\n1\n").write("project/bad.csv", b"\xff\xfea\0");
    world.run("skillful run --yes 'Summarise sales.csv'");
    world.run("skillful run --yes 'Summarise bad.csv'");
    world.run("skillful run 'Summarise sales.csv'");
    let used = world.json("skillful usage --json csv-report");
    let skill = &used["skills"][0];
    assert_eq!((&skill["scripts"], &skill["failed_scripts"]), (&json!(2), &json!(1)), "{used}");
    assert_eq!(
        (&skill["answered"], &skill["failed"], &skill["unfinished"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[test]
fn without_runs_every_skill_is_unused() {
    let seen = World::new().run("skillful usage");
    assert!(
        seen.starts_with("0 runs: 0 answered\n\nNever chosen\n  csv-report         offered 0\n"),
        "{seen}"
    );
    assert!(seen.ends_with("[stderr]\nNo runs yet. `skillful run \"…\"` starts one.\n"), "{seen}");
}

#[test]
fn records_of_strangers_do_not_count_and_hide_nothing() {
    let world = used();
    let own = last_run(&world);
    let runs = world.path("project/.agent/runs");
    let foreign = runs.join("20200101_000000_abcd");
    fs::create_dir(&foreign).unwrap();
    for file in ["events.jsonl", "events.seal"] {
        fs::copy(runs.join(&own).join(file), foreign.join(file)).unwrap();
    }
    // A link, a folder in place of a file, nothing at all, and what is no JSON.
    world.link("project/.agent/runs/20200101_000000_link", "/etc");
    fs::create_dir_all(runs.join("20200101_000000_fold/events.jsonl")).unwrap();
    fs::create_dir(runs.join("20200101_000000_none")).unwrap();
    world.write(
        "project/.agent/runs/20200101_000000_junk/events.jsonl",
        "{\"type\":\"run_started\"}\n[[[\n",
    );
    let seen = world.json("skillful usage --json");
    assert_eq!(
        (&seen["runs"], &seen["elsewhere"], &seen["problems"]),
        (&json!(5), &json!(5), &json!([]))
    );
    assert!(
        world
            .run("skillful usage letters")
            .ends_with("[stderr]\n5 runs were not made on this machine, and not counted.\n")
    );
    // One of one's own that was damaged in the middle.
    let damaged = runs.join(&own).join("events.jsonl");
    let text = fs::read_to_string(&damaged).unwrap().replace("\"action\":", "\"action");
    fs::write(&damaged, text).unwrap();
    let seen = world.json("skillful usage --json");
    assert_eq!(seen["runs"], 4);
    assert!(
        seen["problems"][0].as_str().unwrap().starts_with(&format!("{own}: `events.jsonl`: ")),
        "{seen}"
    );
}
