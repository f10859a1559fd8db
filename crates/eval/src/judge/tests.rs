#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

mod doctored;
mod expectations;
mod hands;

use serde_json::{Value, json};

use super::*;
use crate::case::Case;
use crate::sample::{is, raw, said};

fn spent(turns: u32) -> Value {
    let usage =
        json!({"input_tokens": 30, "cached_tokens": 10, "output_tokens": 5, "cost_usd": 0.5});
    json!({"turns": turns, "tool_calls": 1, "wall_milliseconds": 12, "usage": usage})
}

/// A log that grows by one event at a time.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    turn: u32,
}

impl Log {
    fn add(&mut self, kind: &str, data: Value) -> &mut Self {
        // Deltas have no number of their own.
        let number =
            self.events.iter().filter(|event| !is(event, "assistant_delta")).count() as u64;
        let seq = if kind == "assistant_delta" { number } else { number + 1 };
        self.events.push(Event {
            v: 2,
            seq,
            ts: "2026-11-15T08:30:00.000Z".to_owned(),
            run_id: "20261115_083000_k3f9".to_owned(),
            turn: self.turn,
            data: said(kind, data),
            prev: String::new(),
        });
        self
    }

    fn begin(&mut self) -> &mut Self {
        self.turn += 1;
        self.add("turn_started", json!({}))
            .add("model_request", json!({}))
            .add("model_response", json!({}))
    }

    fn plan(&mut self, kind: &str, payload: Value) -> &mut Self {
        self.add(
            "action_planned",
            json!({"action": {"type": kind, "payload": payload}, "initiator": "model"}),
        )
    }

    fn validate(&mut self, verdict: &str) -> &mut Self {
        let word = match verdict {
            "allow" => "allowed",
            "deny" => "denied",
            verdict => verdict,
        };
        let prepared = json!({"verdict": word, "decision": {"action": verdict},
            "request": {"patterns": ["a/scripts/x.sh"]}});
        self.add(
            "action_validated",
            json!({"ok": verdict != "deny", "stage": "permission", "prepared": prepared}),
        )
    }

    fn execute(&mut self, code: Option<&str>) -> &mut Self {
        self.add("action_executed", json!({"observation": {"code": code}}))
    }

    fn observe(&mut self, code: Option<&str>) -> &mut Self {
        let spent = spent(self.turn);
        self.add("observation_recorded", json!({"code": code}))
            .add("budget_updated", json!({"spent": spent}))
            .add("turn_finished", json!({}))
    }

    fn finish(&mut self, stop_reason: &str, answer: &str) -> &mut Self {
        self.add("turn_finished", json!({}));
        let spent = spent(self.turn.saturating_sub(1));
        let data = json!({"stop_reason": stop_reason, "answer": answer, "spent": spent});
        self.add("run_finished", data)
    }
}

/// Selects a skill, loads a resource, runs a script that was asked for, and answers in two pieces.
fn good() -> Vec<Event> {
    let mut log = Log::default();
    let budget = json!({"max_turns": 12, "max_tool_calls": 30, "max_script_runs": 6});
    log.add("run_started", json!({"setup": {"request": "go", "budget": budget, "preloaded": []}}));
    log.begin().plan("select_skills", json!({"skills": [{"name": "alpha"}], "reason": "fits"}));
    log.validate("allow")
        .execute(None)
        .add("skill_loaded", json!({"skill": {"name": "alpha"}}))
        .observe(None);
    log.begin().plan("load_resource", json!({"skill": "alpha", "relative_path": "reference/a.md"}));
    log.validate("allow").execute(None).add("resource_loaded", json!({})).observe(None);
    log.begin().plan(
        "run_script",
        json!({"skill": {"name": "alpha"}, "relative_path": "scripts/x.sh", "args": []}),
    );
    log.validate("ask").add("approval_required", json!({})).add("approval_granted", json!({}));
    log.execute(None).observe(None);
    log.begin()
        .add("assistant_delta", json!({"content": "all "}))
        .add("assistant_delta", json!({"content": "done"}));
    log.plan("final_answer", json!({"content": "all done"}));
    log.add("action_validated", json!({"ok": true, "stage": "guard"}))
        .finish("final_answer", "all done");
    log.events
}

fn case(json: Value) -> Case {
    let mut whole = json!({"id": "c", "input": "go"});
    whole.as_object_mut().unwrap().extend(json.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

/// What the judges find wrong: dimension and message.
fn wrong(case: &Case, events: &[Event]) -> Vec<(&'static str, String)> {
    let verdict =
        judge(case, &Evidence { events, files: None, expected: &[], touched: None, is_live: true });
    let failed = verdict.checks.iter().filter(|check| !check.passed);
    failed.map(|check| (check.dimension.as_str(), check.message.clone())).collect()
}

fn place(events: &[Event], kind: &str, nth: usize) -> usize {
    events.iter().enumerate().filter(|(_, event)| is(event, kind)).nth(nth).unwrap().0
}

#[test]
fn a_run_that_keeps_all_promises_passes_in_every_dimension() {
    let events = good();
    let case = case(json!({
        "expect": {"skills_any_of": ["alpha"], "output": {"contains_all": ["done"]}, "stop_reason": "final_answer"},
        "constraints": {"max_turns": 4, "deny_tools": ["network_request"]}
    }));
    let verdict = judge(
        &case,
        &Evidence { events: &events, files: None, expected: &[], touched: None, is_live: true },
    );
    assert!(verdict.passed(), "{:?}", verdict.checks);
    let judged =
        [Dimension::Trigger, Dimension::Sequence, Dimension::Disclosure, Dimension::Security];
    for dimension in
        judged.into_iter().chain([Dimension::Budget, Dimension::Output, Dimension::Streaming])
    {
        assert_eq!(verdict.score(dimension), Some(1.0), "{dimension:?}");
    }
    assert_eq!(verdict.score(Dimension::Files), None);
    let cost = Cost {
        input_tokens: 30,
        cached_tokens: 10,
        output_tokens: 5,
        cost_usd: Some(0.5),
        milliseconds: 12,
        turns: 3,
        tool_calls: 1,
    };
    assert_eq!(verdict.cost, cost);
}

#[test]
fn a_run_that_waits_or_was_cut_off_has_no_answer() {
    for (last, reason) in
        [("approval_required", "approval_required"), ("action_executed", "cut_off")]
    {
        let mut events = good();
        let at = place(&events, last, 0);
        events.truncate(at + 1);
        assert_eq!(Trace::new(&events).stop_reason(), reason);
        let expected =
            case(json!({"expect": {"stop_reason": reason, "output": {"contains_all": ["done"]}}}));
        assert_eq!(wrong(&expected, &events), [("output", "the answer lacks \"done\"".to_owned())]);
    }
    assert!(
        wrong(&case(json!({})), &[]).is_empty(),
        "an empty log breaks no promise; the runner refuses it"
    );
}

#[test]
fn a_run_that_broke_passes_only_where_that_is_expected() {
    let check = |stop_reason: &str, expected: Value, error: Option<&str>| {
        let mut log = Log::default();
        log.add("run_started", json!({}));
        log.add("error", json!({"code": "ModelError", "message": "no route"}));
        log.finish(stop_reason, "nothing was done");
        let case = case(json!({"expect": expected}));
        let evidence = Evidence {
            events: &log.events,
            files: None,
            expected: &[],
            touched: None,
            is_live: false,
        };
        let verdict = judge(&case, &evidence);
        assert_eq!(verdict.error.as_deref(), error, "{stop_reason}");
        assert!(!verdict.passed() || error.is_none());
    };
    for stop_reason in ["model_error", "invalid_output", "max_wall_seconds"] {
        let error = format!("the run broke (`{stop_reason}`): no route");
        check(stop_reason, json!({}), Some(&error));
        check(stop_reason, json!({"stop_reason": "final_answer"}), Some(&error));
        check(stop_reason, json!({"stop_reason": stop_reason}), None);
    }
    for stop_reason in ["final_answer", "max_turns", "repeated_failure"] {
        check(stop_reason, json!({}), None);
    }
    let mut events = good();
    events.pop();
    let evidence =
        Evidence { events: &events, files: None, expected: &[], touched: None, is_live: false };
    let error = judge(&case(json!({})), &evidence).error;
    assert_eq!(error.as_deref(), Some("the run broke (`cut_off`)"));
}

#[test]
fn precision_and_recall_come_from_counts() {
    let counts = |expect: Value| {
        let events = good();
        let case = case(json!({"expect": expect}));
        let Triggered { right, wrong, missed } = Triggered::of(&case, &Trace::new(&events));
        (right, wrong, missed)
    };
    assert_eq!(counts(json!({})), (0, 0, 0));
    assert_eq!(counts(json!({"skills_any_of": ["alpha", "beta"]})), (1, 0, 0));
    assert_eq!(counts(json!({"skills_all_of": ["alpha", "beta"]})), (1, 0, 1));
    assert_eq!(counts(json!({"skills_any_of": ["beta"]})), (0, 1, 1));
    assert_eq!(counts(json!({"skills_none_of": ["alpha"]})), (0, 1, 0));
    let some = Triggered { right: 3, wrong: 1, missed: 2 };
    assert_eq!((some.precision(), some.recall()), (Some(0.75), Some(0.6)));
    assert!((some.f1().unwrap() - 2.0 * 0.75 * 0.6 / 1.35).abs() < 1e-9);
    assert_eq!(Triggered::default().precision(), None);
}

proptest::proptest! {
    /// Whatever a log holds, judging it ends and says something.
    #[test]
    fn no_log_makes_the_judges_fail(
        order in proptest::collection::vec(0_usize..36, 0..60),
        garbage in proptest::collection::vec(0_usize..60, 0..5),
    ) {
        let all = good();
        let mut events: Vec<Event> = order.iter().filter_map(|place| all.get(*place).cloned()).collect();
        for place in garbage {
            if let Some(event) = events.get_mut(place) {
                event.data = raw(event.data.kind(), json!([1, {"action": 3}]));
            }
        }
        let case = case(json!({"expect": {"skills_any_of": ["alpha"]}}));
        let verdict = judge(&case, &Evidence { events: &events, files: None, expected: &[], touched: None, is_live: true });
        proptest::prop_assert!(!verdict.checks.is_empty());
    }
}
