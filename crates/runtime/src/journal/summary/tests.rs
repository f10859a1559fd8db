use agent::action::Action;
use agent::event::{ActionValidated, Answered, RunStarted, SkillLoaded, VERSION};
use agent::observation::Facts;
use agent::request::Request;
use agent::setup::Provenance;
use basics::skill::{LoadReport, RunMode, Source};
use permission::{Answer, ApprovalId, Decision, Effect, Permission, SkillHash};

use super::super::sample::{asked, finished, started};
use super::*;

/// Events that say this, one second apart.
fn summed(events: Vec<EventData>) -> RunSummary {
    let events: Vec<Event> = events
        .into_iter()
        .zip(1..)
        .map(|(data, seq)| Event {
            seq,
            ts: format!("2026-11-15T08:30:{seq:02}.000Z"),
            turn: seq as u32 - 1,
            data,
            ..event_of_the_run()
        })
        .collect();
    summary(&events)
}

/// The first event, which says what the run began with.
fn event_of_the_run() -> Event {
    Event {
        v: VERSION,
        seq: 1,
        ts: "2026-11-15T08:30:01.000Z".to_owned(),
        run_id: "20261115_083000_k3f9".to_owned(),
        turn: 0,
        data: beginning(),
        prev: String::new(),
    }
}

fn beginning() -> EventData {
    let EventData::RunStarted(started) = started("do it") else { unreachable!() };
    let facts = Provenance {
        model: Some("lines".to_owned()),
        parent: Some("20261115_083000_aaaa".to_owned()),
        ..Provenance::default()
    };
    let RunStarted { setup, tools } = *started;
    EventData::RunStarted(Box::new(RunStarted { setup: Setup { facts, ..setup }, tools }))
}

#[test]
fn a_run_that_was_cut_off_is_told_from_its_events() {
    assert_eq!(
        summed(vec![beginning()]),
        RunSummary {
            v: 2,
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
    let waiting = summed(vec![beginning(), asked()]);
    assert_eq!(waiting.status, Some(Status::Blocked));
    assert_eq!(waiting.stop_reason, Some(StopReason::ApprovalRequired));
    let granted = EventData::ApprovalGranted(Answered {
        elapsed_ms: 1,
        id: ApprovalId::numbered(1),
        tool: "run_script".to_owned(),
        answer: Answer::Once,
    });
    let going_on = summed(vec![beginning(), asked(), granted]);
    assert_eq!((going_on.status, going_on.stop_reason, going_on.ended), (None, None, None));
}

fn validated(permission: &str, patterns: &[&str]) -> EventData {
    let permission = Permission::from_name(permission).unwrap();
    let decision = Decision { permission, action: Effect::Allow, rulings: Vec::new() };
    let request = Request {
        patterns: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(),
        ..Request::new(Action::FinalAnswer { content: String::new() }, permission)
    };
    let prepared = Prepared::Allowed { request, decision };
    let validated =
        ActionValidated::Permission { elapsed_ms: 1, ok: true, prepared: Box::new(prepared) };
    EventData::ActionValidated(Box::new(validated))
}

fn executed(action: ActionKind, observation: Observation) -> EventData {
    let ok = observation.code.is_none();
    EventData::ActionExecuted(Box::new(ActionExecuted { elapsed_ms: 1, action, ok, observation }))
}

#[test]
fn what_was_used_is_listed_with_how_it_went() {
    let skill = SelectedSkill {
        name: "alpha".to_owned(),
        source: Source::User,
        hash: SkillHash("h".to_owned()),
        allowed_tools: None,
        allowed_commands: None,
        run_mode: RunMode::Inline,
        report: LoadReport::of_file("SKILL.md", b""),
    };
    let loaded = |loaded| EventData::ResourceLoaded(Box::new(loaded));
    let file = agent::observation::LoadedFile {
        skill: "alpha".to_owned(),
        path: "guide.md".to_owned(),
        report: LoadReport::of_file("SKILL.md", b""),
    };
    let chunk =
        ResourceLoaded::Chunk { skill: "alpha".to_owned(), chunk: "c1".to_owned(), report: None };
    let child_run = Some("20261115_083000_k3f9.1".to_owned());
    let summary = summed(vec![
        beginning(),
        EventData::SkillLoaded(Box::new(SkillLoaded { skill })),
        loaded(ResourceLoaded::File(Box::new(file))),
        loaded(chunk),
        validated("run_script", &["alpha/scripts/go.sh"]),
        executed(
            ActionKind::RunScript,
            Observation {
                code: Some("ExitNonZero".to_owned()),
                facts: Facts { exit_code: Some(3), ..Facts::default() },
                storage_ref: Some("observations/x.txt".to_owned()),
                ..Observation::of("")
            },
        ),
        validated("skill", &["helper"]),
        executed(
            ActionKind::SelectSkills,
            Observation { facts: Facts { child_run, ..Facts::default() }, ..Observation::of("") },
        ),
        validated("read_file", &["a", "b"]),
        executed(ActionKind::CallTool, Observation::of("")),
        finished(StopReason::MaxTurns, 4),
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
                summary: None,
                output: Some("observations/x.txt".into()),
            },
            ToolUse {
                turn: 9,
                tool: "read_file".into(),
                targets: vec!["a".into(), "b".into()],
                code: None,
                exit_code: None,
                summary: None,
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

#[test]
fn what_a_tool_wrote_is_summed_up_but_for_records_of_version_1() {
    let (long, noisy) = ("x".repeat(1_000), "e".repeat(1_000));
    let written = serde_json::json!({"stdout": long, "stderr": noisy}).to_string();
    for (text, expected) in [
        ("a list", "a list".to_owned()),
        (r#"{"stdout": "12 rows\n", "stderr": ""}"#, "12 rows".to_owned()),
        (
            &written,
            ["x", "e"].map(|c| format!("{} […] {}", c.repeat(160), c.repeat(60))).join("\n"),
        ),
    ] {
        let ran = || executed(ActionKind::RunScript, Observation::of(text));
        let summed_up = |v| {
            let event = |data| Event { v, data, ..event_of_the_run() };
            summary(&[event(beginning()), event(ran())]).tools[0].summary.clone()
        };
        assert_eq!(summed_up(2), Some(expected));
        assert_eq!(summed_up(1), None);
    }
}
