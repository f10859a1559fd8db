//! What is kept of a run, taken up and taken back.

use serde_json::{Value, json};

use super::{sales, scripted};
use crate::turns::{answer, call, last_run};

#[test]
fn events_are_json_lines_in_a_chain() {
    let world = scripted(json!([answer("done")]));
    let lines = world.output("skillful run --events --model scripted:turns.json x").stdout;
    let lines = String::from_utf8(lines).unwrap();
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["type"], "run_started");
    assert_eq!(events.last().unwrap()["type"], "run_finished");
    // A piece of the answer is shown after the event before it, and is not stored.
    let (pieces, stored): (Vec<&Value>, Vec<&Value>) =
        events.iter().partition(|event| event["type"] == "assistant_delta");
    assert_eq!(pieces.iter().map(|piece| &piece["data"]["content"]).collect::<Vec<_>>(), ["done"]);
    for (place, event) in stored.iter().enumerate() {
        assert_eq!(event["seq"], place as u64 + 1);
        assert_eq!(event["prev"].as_str().unwrap().is_empty(), place == 0);
    }
}

#[test]
fn a_changed_record_is_found_with_exit_code_4() {
    let world = scripted(json!([answer("done")]));
    world.run("skillful run --model scripted:turns.json x");
    let run = last_run(&world);
    let events = format!("project/.agent/runs/{run}/events.jsonl");
    world.write(&events, world.read(&events).replace("\"done\"", "\"gone\""));
    let seen = world.run(&format!("skillful runs verify {run}"));
    assert!(seen.starts_with("changed") && seen.ends_with("[exit 4]\n"), "{seen}");
}

#[test]
fn a_written_file_can_be_restored() {
    let write = |text: &str| call("write_file", json!({"path": "note.txt", "content": text}));
    let world = scripted(json!([write("two"), write("three"), answer("done")]));
    world
        .write("project/note.txt", "one")
        .write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let run = "skillful run --approve write_file:note.txt --apply --model scripted:turns.json x";
    world.run(run);
    assert_eq!(world.read("project/note.txt"), "three");
    world.run("skillful runs undo last --dry-run");
    assert_eq!(world.read("project/note.txt"), "three");
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/note.txt"), "one");
    world.run(run);
    world.write("project/note.txt", "mine");
    let refused = world.run("skillful runs undo last");
    assert!(refused.ends_with("[exit 1]\n"), "{refused}");
    assert_eq!(world.read("project/note.txt"), "mine");
}

#[test]
fn a_run_is_gone_on_with_and_taken_back_where_it_worked() {
    let world =
        scripted(json!([call("write_file", json!({"path": "a", "content": "new"})), answer("ok")]));
    world.write("project/.git/HEAD", "").write("project/a", "root").write("project/sub/a", "sub");
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    world.run("cp turns.json sub");
    let run = "skillful run --approve write_file --apply --model scripted:turns.json x";
    world.run(&format!("cd sub && {run}"));
    assert_eq!(world.read("project/sub/a"), "new");
    let elsewhere = world.run("skillful runs undo last 2>&1; echo $?");
    assert!(elsewhere.contains("worked in `") && elsewhere.ends_with("4\n"), "{elsewhere}");
    assert_eq!(world.read("project/a"), "root");
    let imagined = world.run("cd sub && echo mine > a && skillful runs undo last --dry-run; cat a");
    assert!(
        imagined.contains("somebody else changed `a`") && imagined.starts_with("mine\n"),
        "{imagined}"
    );
    world.run("cd sub && printf new > a && skillful runs undo last");
    assert_eq!(world.read("project/sub/a"), "sub");
    world.run("cd sub && skillful run --model scripted:turns.json x");
    let resumed = world.run("skillful run --resume last --approve write_file 2>&1; echo $?");
    assert!(resumed.contains("worked in `") && resumed.ends_with("4\n"), "{resumed}");
    // Another model than before goes on only where it is named.
    let resumed =
        world.run("cd sub && skillful run --resume last --approve write_file 2>&1; echo $?");
    assert!(resumed.contains("used scripted:turns.json; now it would use offline"), "{resumed}");
    assert!(
        resumed.contains("--model scripted:turns.json") && resumed.ends_with("4\n"),
        "{resumed}"
    );
    assert_eq!(world.read("project/sub/a"), "sub");
    let named =
        "skillful run -q --resume last --model scripted:turns.json --approve write_file --apply";
    let resumed = world.run(&format!("cd sub && {named}"));
    assert_eq!((resumed.as_str(), world.read("project/sub/a").as_str()), ("ok\n", "new"));
    assert_eq!(world.read("project/a"), "root");
}

#[test]
fn what_a_kill_at_the_very_end_left_out_is_written_when_the_run_is_taken_up() {
    let world = scripted(json!([answer("the answer")]));
    world.run("skillful run --model scripted:turns.json x && rm .agent/runs/*/final.md .agent/runs/*/run.json");
    let seen = world.run("skillful run --resume last");
    assert!(seen.contains("is finished") && seen.ends_with("[exit 1]\n"), "{seen}");
    assert_eq!(world.run("cat .agent/runs/*/final.md"), "the answer");
    assert!(world.run("cat .agent/runs/*/run.json").contains("\"stop_reason\": \"final_answer\""));
    assert!(world.run("skillful runs verify last").starts_with("intact, made here"));
}

#[test]
fn secrets_reach_neither_the_record_nor_the_answer() {
    let key = "sk-proj-q8Zr4LmT0vXy2NcB7dKw9PfGh3Js";
    let world = scripted(json!([
        call("read_file", json!({"path": "notes.txt"})),
        call("read_file", json!({"path": "long.txt"})),
        answer("ok")
    ]));
    world.write("project/notes.txt", format!("the key is {key}\n"));
    // Long enough to be kept whole beside the record.
    world.write("project/long.txt", format!("{}{key}\n", "a line of text\n".repeat(3_000)));
    world.run("skillful run --model scripted:turns.json \"look at notes.txt\"");
    let found = world.run(&format!("grep -rl {key} .agent || echo none"));
    assert_eq!(found, "none\n");
}

#[test]
fn prompts_are_recorded_only_where_the_configuration_says_so() {
    let said = answer("an answer of its own");
    let world = scripted(json!([call("list_dir", json!({"path": "."})), said]));
    // Words of the rules, and what the model wrote.
    let seen = |words: &str| {
        world.run(&format!("grep -rlF '{words}' .agent | sed 's/[^/]*_[^/]*_[^/]*/RUN/' | sort -u"))
    };
    let run = "skillful run -q --model scripted:turns.json go";
    world.run(run);
    assert_eq!(seen("exactly one JSON object"), "");
    assert_eq!(seen(r#"content\":\"an answer"#), "");
    world.write("home/.agent/config.json", r#"{"audit": {"store_prompts": true}}"#);
    world.run(run);
    assert_ne!(seen("exactly one JSON object"), "");
    assert_eq!(seen(r#"content\":\"an answer"#), ".agent/runs/RUN/events.jsonl\n");
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn a_dry_run_of_pruning_says_so_and_leaves_everything() {
    let world = sales();
    let run = world.json("skillful run --json --yes \"Summarise sales.csv\"")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let planned = world.run("skillful runs prune --older-than 0 --dry-run");
    assert_eq!(planned, format!("would remove  {run}\n[stderr]\n1 run would be removed.\n"));
    assert!(world.path(&format!("project/.agent/runs/{run}")).exists());
    let done = world.run("skillful runs prune --older-than 0");
    assert_eq!(done, format!("removed  {run}\n[stderr]\n1 run removed.\n"));
    assert!(!world.path(&format!("project/.agent/runs/{run}")).exists());
}

#[test]
fn a_variable_named_like_a_password_is_kept_out_of_the_record() {
    for name in ["DB_PASS", "PASS", "MY_PASSWD", "SMTP_PASSWORD", "GH_TOKEN"] {
        let world = sales().with(name, "horse-battery-9");
        world.run("skillful run --yes \"Summarise sales.csv with horse-battery-9\"");
        let record = world.run("cat .agent/runs/*/events.jsonl .agent/runs/*/texts/* 2>/dev/null");
        assert!(record.contains("[redacted") && !record.contains("horse-battery"), "{name}");
    }
    let world = sales().with("COMPASS", "horse-battery-9");
    world.run("skillful run --yes \"Summarise sales.csv with horse-battery-9\"");
    assert!(world.run("cat .agent/runs/*/events.jsonl").contains("horse-battery-9"));
}
