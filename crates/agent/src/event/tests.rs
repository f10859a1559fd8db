use permission::{Risk, ToolSet};
use serde_json::{Value, json};

use super::*;
use crate::budget::Left;
use crate::freeform::Freeform;
use crate::setup::RunKind;

/// The beginning of a run.
fn started(request: &str) -> EventData {
    let setup = Setup::new("20261115_083000_k3f9", request);
    EventData::RunStarted(Box::new(RunStarted { setup, tools: ToolSet::from_names([]) }))
}

/// The end of a run after so many turns.
fn finished(stop_reason: StopReason, turns: u32) -> EventData {
    EventData::RunFinished(RunFinished {
        status: stop_reason.status(),
        stop_reason,
        answer: "done".to_owned(),
        usage: Usage::default(),
        spent: Spent { turns, ..Spent::default() },
    })
}

/// An account of so many turns.
fn budget_updated(turns: u32) -> EventData {
    EventData::BudgetUpdated(Box::new(BudgetUpdated {
        elapsed_ms: None,
        resumed: None,
        spent: Spent { turns, ..Spent::default() },
        left: Left { turns: 1, tool_calls: 2, script_runs: 3, context_chars: 4, seconds: 5 },
    }))
}

/// A question.
fn asked() -> EventData {
    let approval = ApprovalRequest {
        id: ApprovalId::numbered(1),
        tool: permission::Permission::RunScript,
        risk: Risk::Medium,
        reason: "because".to_owned(),
        params: Value::Null,
        always: None,
        patterns: Vec::new(),
        effect: "runs it".to_owned(),
        replay: "skillful run".to_owned(),
    };
    EventData::ApprovalRequired(Box::new(ApprovalRequired { approval }))
}

fn line(v: u32, kind: &str, data: Value) -> Value {
    json!({"v": v, "seq": 1, "ts": "2026-11-15T08:30:00.000Z", "run_id": "20261115_083000_k3f9",
        "turn": 1, "type": kind, "data": data, "prev": ""})
}

fn read(line: &Value) -> Event {
    serde_json::from_value(line.clone()).unwrap()
}

#[test]
fn what_is_written_is_read_back() {
    for data in [started("go"), finished(StopReason::MaxTurns, 3), budget_updated(2), asked()] {
        let event = Event { data, ..read(&line(2, "turn_finished", json!({}))) };
        let written = json!(event);
        assert_eq!(written["type"], event.data.kind());
        assert_eq!(read(&written), event);
    }
}

#[test]
fn what_is_unknown_is_kept_as_it_is() {
    for (kind, data) in [
        ("of_a_later_version", json!({"some": ["thing", 1.5]})),
        ("of_a_later_version", json!("no object")),
        // Known, but not with this.
        ("run_finished", json!({"status": "excellent"})),
        ("error", Value::Null),
    ] {
        let written = line(3, kind, data);
        let event = read(&written);
        assert!(matches!(&event.data, EventData::Unknown(unknown) if unknown.kind() == kind));
        assert_eq!(json!(event), written);
    }
}

#[test]
fn what_the_first_version_said_otherwise_is_understood() {
    let EventData::RunStarted(begun) = started("go") else { unreachable!() };
    let mut setup = json!(begun.setup);
    setup.as_object_mut().unwrap().remove("kind");
    for (flags, kind) in [
        (json!({"is_child": false}), RunKind::Own),
        (json!({"is_child": true}), RunKind::Child),
        (json!({"is_child": false, "is_served": true}), RunKind::Served),
    ] {
        let mut setup = setup.clone();
        setup.as_object_mut().unwrap().extend(flags.as_object().unwrap().clone());
        let event = read(&line(1, "run_started", json!({"setup": setup, "tools": []})));
        let EventData::RunStarted(started) = event.data else { panic!("{:?}", event.data) };
        assert_eq!(started.setup.kind, kind);
    }
    let action = json!({"type": "final_answer", "payload": {"content": "x"}});
    let reply = |diagnostics: Value| {
        let decision = json!({"action": action, "plan_update": null, "diagnostics": diagnostics});
        let (usage, raw) = (json!({}), json!({"sha256": "", "bytes": 0}));
        let reply = json!({"outcome": "decided", "decision": decision, "usage": usage, "raw": raw});
        let data = json!({"elapsed_ms": 1, "attempt": 1, "reply": reply});
        match read(&line(1, "model_response", data)).data {
            EventData::ModelResponse(response) => response.reply,
            other => panic!("{other:?}"),
        }
    };
    let Reply::Decided { again, plan_problem, decision, .. } =
        reply(json!({"again": true, "plan_update_error": "no", "mood": 1}))
    else {
        panic!()
    };
    assert_eq!((again, plan_problem.as_deref()), (true, Some("no")));
    assert_eq!(decision.diagnostics, Some(Freeform::of(&json!({"mood": 1}))));
    let Reply::Decided { decision, again, .. } = reply(json!({"again": true})) else { panic!() };
    assert_eq!((decision.diagnostics, again), (None, true));
}

#[test]
fn no_line_of_the_first_version_makes_reading_it_fail() {
    for data in [json!(null), json!([]), json!({"setup": 1}), json!({"reply": {"decision": []}})] {
        for kind in ["run_started", "model_response", "resource_loaded", "action_executed"] {
            assert_eq!(read(&line(1, kind, data.clone())).data.kind(), kind);
        }
    }
}

#[test]
fn every_type_of_event_has_its_name_in_the_list() {
    let schema = schemars::schema_for!(EventData).to_value();
    let names = schema["anyOf"].as_array().unwrap().iter();
    let names: Vec<&str> =
        names.map(|one| one["properties"]["type"]["const"].as_str().unwrap()).collect();
    assert_eq!(names, KINDS);
}
