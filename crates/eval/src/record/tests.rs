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

#[test]
fn commands_questions_and_changes_become_part_of_a_case() {
    let planned = |action: &Value, initiator: &str| {
        ("action_planned", json!({"action": action, "initiator": initiator}))
    };
    let allowed = |patterns: Value| {
        let prepared = json!({"verdict": "allowed", "decision": {"action": "allow"}, "request": {"patterns": patterns}});
        ("action_validated", json!({"stage": "permission", "ok": true, "prepared": prepared}))
    };
    let run = |command: &str| json!({"type": "call_tool", "payload": {"tool": "run_command", "params": {"command": command}}});
    let (copy, unclear) = (run("cp -p in.csv out.csv && ls"), run("echo $(date)"));
    let ask = json!({"type": "ask_user", "payload": {"question": "Which?"}});
    let events = events(vec![
        ("run_started", json!({"setup": {"request": "go", "mode": "plan"}})),
        planned(&copy, "model"),
        allowed(json!(["cp -p in.csv out.csv"])),
        ("action_executed", json!({})),
        ("changes_made", json!({})),
        planned(&ask, "model"),
        ("question_asked", json!({})),
        ("question_answered", json!({"answer": {"said": ["A", "B"]}})),
        ("question_asked", json!({"about": "plan"})),
        ("question_answered", json!({"answer": {"carry_out": "ask"}})),
        planned(&json!({"type": "apply_changes", "payload": {}}), "run"),
        allowed(json!(["out.csv"])),
        ("action_executed", json!({})),
        ("changes_applied", json!({})),
    ]);
    let case = case_of("copy", &events);
    assert_eq!(case.setup.files, [PathBuf::from("in.csv"), PathBuf::from("out.csv")]);
    assert_eq!(case.setup.approve, ["run_command:cp -p in.csv out.csv"]);
    assert_eq!(case.setup.answers, ["A, B", "ask"]);
    assert!(case.setup.apply && !case.setup.yes && !case.setup.no_questions);
    assert_eq!(case.setup.config, *json!({"mode": "plan"}).as_object().unwrap());
    let order = json!(case.expect.action_sequence_constraints);
    assert_eq!(
        order,
        json!([
            {"must_occur": "run_command:cp -p in.csv out.csv", "before": "apply_changes"},
            {"must_occur": "apply_changes", "before": "changes_applied"},
            {"must_occur": "changes_applied"},
        ])
    );
    let events = self::events(vec![
        planned(&unclear, "model"),
        allowed(json!(["echo $(date)"])),
        ("action_executed", json!({})),
        ("question_answered", json!({"answer": "nobody"})),
    ]);
    let case = case_of("unclear", &events);
    assert!(case.setup.yes && case.setup.no_questions && !case.setup.apply);
}
