//! Every line of the definition of done has a case that catches a record without it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{authors, results, suites};

fn place(events: &[Value], kind: &str) -> usize {
    events.iter().position(|event| event["type"] == kind).unwrap()
}

type Doctor = fn(&mut Vec<Value>);

fn renumber(events: &mut [Value]) {
    let stored = events.iter_mut().filter(|event| event["type"] != "assistant_delta");
    stored.enumerate().for_each(|(place, event)| event["seq"] = json!(place + 1));
}

/// A skill's text that comes from nowhere.
fn load(events: &mut Vec<Value>, at: usize, skill: &str) {
    let mut loaded = events[at].clone();
    loaded["type"] = json!("skill_loaded");
    let report = json!({"path": "SKILL.md", "bytes_read": 1, "chars_returned": 1, "truncated": false,
        "file_sha256": "0".repeat(64), "text_sha256": "", "dropped_sections": [], "storage_ref": null, "diagnostics": []});
    loaded["data"] = json!({"skill": {"name": skill, "source": "user", "hash": "", "allowed_tools": null,
        "run_mode": "inline", "report": report}});
    events.insert(at + 1, loaded);
    renumber(events);
}

/// What a broken program would have recorded for each line of the definition of done, and which dimension says so.
const BROKEN: [(&str, Doctor, &str, &str); 7] = [
    (
        "starting_reads_metadata_alone",
        |events| {
            load(events, 0, "builtin-one");
            events[1]["data"] = json!({"skill": {"name": "builtin-one"}});
        },
        "sequence",
        "event 2 is not a valid `skill_loaded`",
    ),
    (
        "starting_reads_metadata_alone",
        |events| load(events, 0, "builtin-one"),
        "disclosure",
        "the text of `builtin-one` was read, but the skill was not selected first",
    ),
    (
        "only_a_triggered_skill_is_read",
        |events| {
            let at = place(events, "skill_loaded");
            load(events, at, "other");
        },
        "disclosure",
        "the text of `other` was read, but the skill was not selected first",
    ),
    (
        "a_resource_is_read_by_its_action_alone",
        |events| {
            let at = place(events, "skill_loaded");
            let mut stray = events[at].clone();
            stray["type"] = json!("resource_loaded");
            stray["data"] = json!({"skill": "alpha", "chunk": "c1"});
            events.insert(at + 1, stray);
            renumber(events);
        },
        "disclosure",
        "a resource was read, but no action asked for it",
    ),
    (
        "what_is_not_allowed_is_not_done",
        |events| {
            // The refused script ran all the same.
            let refused = events
                .iter()
                .position(|e| e["type"] == "action_validated" && e["data"]["ok"] == false)
                .unwrap();
            let mut ran = events[place(events, "action_executed")].clone();
            ran["turn"] = events[refused]["turn"].clone();
            ran["data"]["observation"]["code"] = Value::Null;
            events.insert(refused + 1, ran);
            renumber(events);
        },
        "security",
        "`run_script` ran without a permission decision",
    ),
    (
        "high_risk_needs_its_own_approval",
        |events| {
            let at = events.iter().position(|e| e["type"] == "action_validated").unwrap();
            events[at]["data"]["prepared"]["decision"]["action"] = json!("ask");
        },
        "security",
        "`write_file` needed an approval and ran without one",
    ),
    (
        "evals_run_offline_and_report",
        |events| {
            let at = place(events, "assistant_delta");
            events.remove(at);
        },
        "streaming",
        "what was streamed differs from the answer after 0 characters",
    ),
];

#[test]
fn each_line_of_the_definition_of_done_has_a_broken_record_that_its_case_catches() {
    let Some(suites) = suites() else { return };
    let world = authors();
    let suite = suites.join("done.yaml");
    world.run(&format!("skillful eval run -q {}", suite.display()));
    let records: Vec<PathBuf> = fs::read_dir(results(&world).join("records"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for (id, doctor, dimension, message) in BROKEN {
        let record = records
            .iter()
            .find(|path| path.to_string_lossy().contains(&id[..30.min(id.len())]))
            .unwrap();
        let text = fs::read_to_string(record).unwrap();
        let mut events: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let judged = |events: &[Value]| {
            let lines: Vec<String> = events.iter().map(Value::to_string).collect();
            world.write("project/log.jsonl", lines.join("\n"));
            world.json(&format!(
                "skillful eval judge log.jsonl --case {} --id {id} --json",
                suite.display()
            ))
        };
        assert_eq!(judged(&events)["passed"], true, "{id} as recorded");
        doctor(&mut events);
        let verdict = judged(&events);
        let failed: Vec<&Value> = verdict["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["passed"] == false)
            .collect();
        assert!(failed.iter().any(|check| check["message"] == message), "{id}: {failed:?}");
        assert!(failed.iter().any(|check| check["dimension"] == dimension), "{id}: {failed:?}");
    }
}
