#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use serde_json::json;

use super::*;
use crate::sample::said;

fn events(list: Vec<(&str, Value)>) -> Vec<Event> {
    let numbered = list.into_iter().enumerate();
    numbered
        .map(|(place, (kind, data))| Event {
            v: 2,
            seq: place as u64 + 1,
            ts: String::new(),
            run_id: "r".to_owned(),
            turn: 1,
            data: said(kind, data),
            prev: String::new(),
        })
        .collect()
}

fn raw(text: &str) -> Value {
    json!({"sha256": "", "bytes": text.len(), "text": text})
}

fn decided(action: &Value) -> Value {
    let decision = json!({"action": action, "plan_update": null});
    json!({"reply": {"outcome": "decided", "decision": decision, "usage": {}, "raw": raw("")}})
}

#[test]
fn a_case_makes_the_same_decisions_and_expects_the_same() {
    let run = json!({"type": "run_script", "payload": {"skill": {"name": "alpha"}, "relative_path": "scripts/x.sh", "args": ["-v", "sales.csv", "/etc/passwd"]}});
    let answer = json!({"type": "final_answer", "payload": {"content": "\n# Report\nall"}});
    let events = events(vec![
        ("run_started", json!({"setup": {"request": "Summarise sales.csv", "invoked": null}})),
        (
            "model_response",
            json!({"reply": {"outcome": "invalid", "problem": "", "usage": {}, "raw": raw("hm")}}),
        ),
        ("model_response", decided(&run)),
        ("skill_loaded", json!({"skill": {"name": "alpha"}})),
        ("action_planned", json!({"action": run, "initiator": "model"})),
        (
            "action_validated",
            json!({"stage": "permission", "ok": true, "prepared": {"verdict": "ask", "decision": {"action": "ask"},
                "request": {"patterns": ["alpha/scripts/x.sh"]}}}),
        ),
        ("approval_granted", json!({})),
        ("action_executed", json!({"observation": {"code": null}})),
        ("model_response", decided(&answer)),
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
