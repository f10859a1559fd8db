use serde_json::json;

use super::*;

/// Events of these kinds with these data, one second apart.
fn summed(events: &[(EventKind, Value)]) -> RunSummary {
    let events: Vec<Event> = events
        .iter()
        .zip(1..)
        .map(|((kind, data), seq)| Event {
            v: VERSION,
            seq,
            ts: format!("2026-11-15T08:30:{seq:02}.000Z"),
            run_id: "20261115_083000_k3f9".to_owned(),
            turn: seq as u32 - 1,
            kind: *kind,
            data: data.clone(),
            prev: String::new(),
        })
        .collect();
    summary(&events)
}

fn started() -> (EventKind, Value) {
    let facts = json!({"model": "lines", "parent": "20261115_083000_aaaa"});
    (EventKind::RunStarted, json!({"setup": {"request": "do it", "facts": facts}, "tools": []}))
}

#[test]
fn a_run_that_was_cut_off_is_told_from_its_events() {
    assert_eq!(
        summed(&[started()]),
        RunSummary {
            v: 1,
            run_id: "20261115_083000_k3f9".to_owned(),
            parent: Some("20261115_083000_aaaa".to_owned()),
            request: "do it".to_owned(),
            model: Some("lines".to_owned()),
            started: "2026-11-15T08:30:01.000Z".to_owned(),
            ..RunSummary::default()
        }
    );
    assert_eq!(summary(&[]), RunSummary::default());
}

#[test]
fn a_run_waits_for_an_approval_until_something_else_happens() {
    let asked = (EventKind::ApprovalRequired, json!({"approval": {"id": "ap_1"}}));
    let waiting = summed(&[started(), asked.clone()]);
    assert_eq!(waiting.status, Some(Status::Blocked));
    assert_eq!(waiting.stop_reason, Some(StopReason::ApprovalRequired));
    let going_on = summed(&[started(), asked, (EventKind::ApprovalGranted, json!({}))]);
    assert_eq!((going_on.status, going_on.stop_reason, going_on.ended), (None, None, None));
}

#[test]
fn what_was_used_is_listed_with_how_it_went() {
    let validated = |permission: &str, patterns: Value| {
        let request = json!({"permission": permission, "patterns": patterns});
        (
            EventKind::ActionValidated,
            json!({"stage": "permission", "prepared": {"request": request}}),
        )
    };
    let executed = |action: &str, observation: Value| {
        (EventKind::ActionExecuted, json!({"action": action, "observation": observation}))
    };
    let summary = summed(&[
        started(),
        (
            EventKind::SkillLoaded,
            json!({"skill": {"name": "alpha", "source": "user", "hash": "h"}}),
        ),
        (EventKind::ResourceLoaded, json!({"skill": "alpha", "path": "guide.md"})),
        (EventKind::ResourceLoaded, json!({"skill": "alpha", "chunk": "c1"})),
        validated("run_script", json!(["alpha/scripts/go.sh"])),
        executed(
            "run_script",
            json!({"code": "ExitNonZero", "facts": {"exit_code": 3}, "storage_ref": "observations/x.txt"}),
        ),
        validated("skill", json!(["helper"])),
        executed("select_skills", json!({"facts": {"child_run": "20261115_083000_k3f9.1"}})),
        validated("read_file", json!(["a", "b"])),
        executed("call_tool", json!({"code": null, "facts": null})),
        (
            EventKind::RunFinished,
            json!({"status": "degraded", "stop_reason": "max_turns", "spent": {"turns": 4}}),
        ),
    ]);
    assert_eq!(
        summary.skills,
        [SkillUse { name: "alpha".into(), source: "user".into(), hash: "h".into() }]
    );
    let resource =
        |resource: &str| ResourceUse { skill: "alpha".into(), resource: resource.into() };
    assert_eq!(summary.resources, [resource("guide.md"), resource("c1")]);
    assert_eq!(
        summary.tools,
        [
            ToolUse {
                turn: 5,
                tool: "run_script".into(),
                targets: vec!["alpha/scripts/go.sh".into()],
                code: Some("ExitNonZero".into()),
                exit_code: Some(3),
                output: Some("observations/x.txt".into()),
            },
            ToolUse {
                turn: 9,
                tool: "read_file".into(),
                targets: vec!["a".into(), "b".into()],
                code: None,
                exit_code: None,
                output: None,
            },
        ]
    );
    assert_eq!(summary.children, ["20261115_083000_k3f9.1"]);
    assert_eq!(
        (summary.status, summary.stop_reason),
        (Some(Status::Degraded), Some(StopReason::MaxTurns))
    );
    assert_eq!((summary.spent.turns, summary.turns), (4, 10));
    assert_eq!(summary.ended.as_deref(), Some("2026-11-15T08:30:11.000Z"));
}
