#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use serde_json::json;

use super::*;

fn events(list: Vec<(&str, Value)>) -> Vec<Event> {
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(place, (kind, data))| {
            serde_json::from_value(json!({"v": 1, "seq": place + 1, "ts": "", "run_id": "r", "turn": 1, "type": kind, "data": data, "prev": ""})).unwrap()
        })
        .collect()
}

#[test]
fn a_case_makes_the_same_decisions_and_expects_the_same() {
    let run = json!({"type": "run_script", "payload": {"skill": {"name": "alpha"}, "relative_path": "scripts/x.sh", "args": ["-v", "sales.csv", "/etc/passwd"]}});
    let answer = json!({"type": "final_answer", "payload": {"content": "\n# Report\nall"}});
    let events = events(vec![
        ("run_started", json!({"setup": {"request": "Summarise sales.csv", "invoked": null}})),
        ("model_response", json!({"reply": {"outcome": "invalid", "raw": {"text": "hm"}}})),
        ("model_response", json!({"reply": {"decision": {"action": run, "plan_update": null}}})),
        ("skill_loaded", json!({"skill": {"name": "alpha"}})),
        ("action_planned", json!({"action": run, "initiator": "model"})),
        (
            "action_validated",
            json!({"ok": true, "prepared": {"decision": {"action": "ask"}, "request": {"patterns": ["alpha/scripts/x.sh"]}}}),
        ),
        ("approval_granted", json!({})),
        ("action_executed", json!({"observation": {"code": null}})),
        ("model_response", json!({"reply": {"decision": {"action": answer}}})),
        ("run_finished", json!({"stop_reason": "final_answer", "answer": "\n# Report\nall"})),
    ]);
    let case = case_of("sales", &events);
    assert_eq!(case.input, "Summarise sales.csv");
    assert_eq!(
        case.setup.files,
        [PathBuf::from("sales.csv")],
        "neither options nor absolute paths"
    );
    assert_eq!(case.setup.approve, ["run_script:alpha/scripts/x.sh"]);
    assert_eq!(case.expect.skills_all_of, ["alpha"]);
    assert_eq!(case.expect.output.contains_all, ["# Report"]);
    assert_eq!(case.expect.stop_reason.as_deref(), Some("final_answer"));
    let turns = case.mock.unwrap().turns;
    assert_eq!(turns.len(), 3);
    assert_eq!(turns[0].text.as_deref(), Some("hm"));
    assert_eq!(turns[1].action, Some(run));
    assert_eq!(turns[2].action, Some(answer));
}
