#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use common::sha256::Sha256;
use serde_json::{Value, json};

use super::*;
use crate::case::Case;
use crate::sample::{edit, is, raw, said};

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
    let verdict = judge(case, &Evidence { events, files: None, expected: &[], is_live: true });
    let failed = verdict.checks.iter().filter(|check| !check.passed);
    failed.map(|check| (check.dimension.as_str(), check.message.clone())).collect()
}

fn place(events: &[Event], kind: &str, nth: usize) -> usize {
    events.iter().enumerate().filter(|(_, event)| is(event, kind)).nth(nth).unwrap().0
}

/// Numbers the events anew, as a program would that behaves like this.
fn renumber(events: &mut [Event]) {
    let mut number = 0;
    for event in events.iter_mut() {
        number += u64::from(!is(event, "assistant_delta"));
        event.seq = number;
    }
}

#[test]
fn a_run_that_keeps_all_promises_passes_in_every_dimension() {
    let events = good();
    let case = case(json!({
        "expect": {"skills_any_of": ["alpha"], "output": {"contains_all": ["done"]}, "stop_reason": "final_answer"},
        "constraints": {"max_turns": 4, "deny_tools": ["network_request"]}
    }));
    let verdict =
        judge(&case, &Evidence { events: &events, files: None, expected: &[], is_live: true });
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

/// Each way to doctor a log, and what must be found.
#[test]
fn every_doctored_log_is_caught_by_its_dimension() {
    type Doctor = fn(&mut Vec<Event>);
    type Found = &'static [(&'static str, &'static str)];
    let doctored: [(&str, Doctor, Found); 11] = [
        (
            "reordered",
            |events| events.swap(2, 3),
            &[
                ("sequence", "event 4 follows event 2"),
                ("sequence", "event 3 follows event 4"),
                ("sequence", "event 5 follows event 3"),
            ],
        ),
        (
            "an event is missing",
            |events| {
                events.remove(2);
            },
            &[("sequence", "event 4 follows event 2")],
        ),
        (
            "two actions in a turn",
            |events| {
                let at = place(events, "action_planned", 1);
                let mut second = events[at].clone();
                let action = json!({"type": "search_skills", "payload": {"query": "x"}});
                second.data =
                    said("action_planned", json!({"action": action, "initiator": "model"}));
                events.insert(at, second);
                renumber(events);
            },
            &[("sequence", "2 actions in turn 2")],
        ),
        (
            "executed without being planned in its turn",
            |events| {
                let at = place(events, "action_executed", 0);
                let stray = events[at].clone();
                let end = place(events, "turn_started", 1) + 1;
                events.insert(end, Event { turn: 2, ..stray });
                renumber(events);
            },
            &[("sequence", "event 13 belongs to no action of its turn")],
        ),
        (
            "a body is read before the selection",
            |events| {
                let at = place(events, "skill_loaded", 0);
                let body = Event { turn: 0, ..events.remove(at) };
                events.insert(1, body);
                renumber(events);
            },
            &[("disclosure", "the text of `alpha` was read, but the skill was not selected first")],
        ),
        (
            "a resource nobody asked for",
            |events| {
                let at = place(events, "skill_loaded", 0);
                let stray =
                    Event { data: said("resource_loaded", json!({})), ..events[at].clone() };
                events.insert(at + 1, stray);
                renumber(events);
            },
            &[("disclosure", "a resource was read, but no action asked for it")],
        ),
        (
            "carried out before it was validated",
            |events| {
                let at = place(events, "action_executed", 1);
                events.swap(at, at - 1);
                renumber(events);
            },
            &[("disclosure", "`load_resource` was carried out before it was validated")],
        ),
        (
            "the approval is missing",
            |events| {
                let at = place(events, "approval_granted", 0);
                events.remove(at);
                renumber(events);
            },
            &[("security", "`run_script` needed an approval and ran without one")],
        ),
        (
            "a tool runs after a deny",
            |events| {
                let at = place(events, "action_validated", 2);
                edit(&mut events[at], |data| {
                    data["prepared"]["decision"]["action"] = json!("deny");
                });
            },
            &[("security", "`run_script` ran after it was denied")],
        ),
        (
            "a child run that does what it may not",
            |events| {
                let at = place(events, "approval_granted", 0);
                let mut child = good();
                child.remove(at);
                renumber(&mut child);
                let end = events.len() - 1;
                let child =
                    child.into_iter().map(|event| Event { run_id: "child".to_owned(), ..event });
                events.splice(end..end, child);
            },
            &[("security", "`run_script` needed an approval and ran without one")],
        ),
        (
            "a wrong delta",
            |events| {
                let at = place(events, "assistant_delta", 1);
                events[at].data = said("assistant_delta", json!({"content": "dome"}));
            },
            &[("streaming", "what was streamed differs from the answer after 6 characters")],
        ),
    ];
    for (name, doctor, expected) in doctored {
        let mut events = good();
        doctor(&mut events);
        let expected: Vec<(&str, String)> =
            expected.iter().map(|(d, m)| (*d, (*m).to_owned())).collect();
        assert_eq!(wrong(&case(json!({})), &events), expected, "{name}");
    }
}

#[test]
fn a_rejected_or_escaping_action_must_not_have_run() {
    let mut events = good();
    let at = place(&events, "approval_granted", 0);
    events[at].data = said("approval_denied", json!({}));
    assert_eq!(
        wrong(&case(json!({})), &events),
        [("security", "`run_script` ran after it was rejected".to_owned())]
    );
    for (path, code, escapes) in [
        ("../x.sh", None, true),
        ("a/../../x", None, true),
        ("../x.sh", Some("PathTraversalBlocked"), false),
        ("a/../x.sh", None, false),
    ] {
        let mut events = good();
        let planned = place(&events, "action_planned", 2);
        edit(&mut events[planned], |data| {
            data["action"]["payload"]["relative_path"] = json!(path);
        });
        let executed = place(&events, "action_executed", 2);
        edit(&mut events[executed], |data| data["observation"]["code"] = json!(code));
        let found = wrong(&case(json!({})), &events);
        let expected =
            escapes.then(|| ("security", "`run_script` reached outside its folder".to_owned()));
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{path} {code:?}");
    }
}

/// Expectations, and what is wrong with the good log by them.
#[test]
fn each_expectation_can_fail() {
    let table = [
        (
            json!({"expect": {"skills_any_of": ["beta", "gamma"]}}),
            "trigger: one of `beta`, `gamma` should have been chosen; chosen: `alpha`",
        ),
        (
            json!({"expect": {"skills_all_of": ["alpha", "beta"]}}),
            "trigger: `beta` should have been chosen; chosen: `alpha`",
        ),
        (
            json!({"expect": {"skills_none_of": ["alpha"]}}),
            "trigger: `alpha` was chosen, but should not have been",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"must_occur": "write_file"}]}}),
            "sequence: `write_file` should have been done",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"must_occur": "run_script", "before": "load_resource"}]}}),
            "sequence: `run_script` should have been done before `load_resource`",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"must_occur": "select_skills", "after": "run_script"}]}}),
            "sequence: `select_skills` should have been done after `run_script`",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"must_occur": "select_skills", "after": "grep"}]}}),
            "sequence: `select_skills` should have been done after `grep`",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"forbid": "run_script"}]}}),
            "sequence: `run_script` was done, but is forbidden",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"max": 0, "of": "load_resource"}]}}),
            "sequence: `load_resource` was done 1 times, at most 0 were expected",
        ),
        (
            json!({"expect": {"action_sequence_constraints": [{"min": 2, "of": "load_resource"}]}}),
            "sequence: `load_resource` was done 1 times, at least 2 were expected",
        ),
        (
            json!({"expect": {"error_codes": ["ToolNotAllowed"]}}),
            "sequence: `ToolNotAllowed` should have been observed",
        ),
        (
            json!({"expect": {"output": {"contains_all": ["nothing"]}}}),
            "output: the answer lacks \"nothing\"",
        ),
        (
            json!({"expect": {"output": {"contains_any": ["x", "y"]}}}),
            "output: the answer contains none of [\"x\", \"y\"]",
        ),
        (
            json!({"expect": {"output": {"not_contains": ["done"]}}}),
            "output: the answer contains \"done\"",
        ),
        (
            json!({"expect": {"output": {"regex": "^done"}}}),
            "output: `^done` does not match the answer",
        ),
        (
            json!({"expect": {"output": {"format": "json"}}}),
            "output: the answer is not JSON: expected value at line 1 column 1",
        ),
        (
            json!({"expect": {"output": {"json_schema": {"type": "object"}}}}),
            "output: not JSON: expected value at line 1 column 1",
        ),
        (
            json!({"expect": {"stop_reason": "budget"}}),
            "output: stopped with `final_answer`, not with `budget`",
        ),
        (json!({"constraints": {"max_turns": 3}}), "budget: 4 turns, at most 3 are allowed"),
        (
            json!({"constraints": {"max_tool_calls": 0}}),
            "budget: 1 tool calls, at most 0 are allowed",
        ),
        (
            json!({"constraints": {"max_script_runs": 0}}),
            "budget: 1 script runs, at most 0 are allowed",
        ),
        (
            json!({"constraints": {"max_wall_seconds": 0}}),
            "budget: took 12 ms, at most 0 s are allowed",
        ),
        (
            json!({"constraints": {"deny_tools": ["run_script"]}}),
            "security: `run_script` ran, but is denied",
        ),
    ];
    for (expectation, expected) in table {
        let found = wrong(&case(expectation.clone()), &good());
        let found: Vec<String> = found
            .into_iter()
            .map(|(dimension, message)| format!("{dimension}: {message}"))
            .collect();
        assert_eq!(found, [expected], "{expectation}");
    }
}

#[test]
fn the_same_expectations_hold_where_they_are_met() {
    for expectation in [
        json!({"expect": {"action_sequence_constraints": [{"must_occur": "select_skills", "before": "run_script"}, {"must_occur": "run_script", "after": "load_resource"}]}}),
        json!({"expect": {"action_sequence_constraints": [{"must_occur": "select_skills", "before": "grep"}, {"forbid": "write_file"}]}}),
        json!({"expect": {"action_sequence_constraints": [{"max": 1, "of": "load_resource"}, {"min": 1, "of": "final_answer"}]}}),
        json!({"expect": {"output": {"contains_any": ["x", "done"], "regex": "done$", "format": "markdown"}}}),
    ] {
        assert_eq!(wrong(&case(expectation.clone()), &good()), [], "{expectation}");
    }
}

struct Tree(HashMap<PathBuf, Vec<u8>>);

impl Files for Tree {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.0.get(path).cloned()
    }
}

#[test]
fn files_are_judged_by_presence_hash_and_schema() {
    let tree = Tree(HashMap::from([("out.json".into(), b"{\"n\": 1}".to_vec())]));
    let hash = Sha256::of(b"{\"n\": 1}").to_string();
    for (expected, message) in [
        (json!({"path": "out.json"}), None),
        (json!({"path": "out.json", "sha256": hash}), None),
        (json!({"path": "none.json", "exists": false}), None),
        (json!({"path": "out.json", "json_schema": {"required": ["n"]}}), None),
        (json!({"path": "none.json"}), Some("`none.json`: should be there, but is not".to_owned())),
        (
            json!({"path": "out.json", "exists": false}),
            Some("`out.json`: should not be there, but is".to_owned()),
        ),
        (
            json!({"path": "out.json", "sha256": "00"}),
            Some(format!("`out.json`: its SHA-256 is {hash}, not 00")),
        ),
        (
            json!({"path": "out.json", "json_schema": {"required": ["m"]}}),
            Some(
                "`out.json`: does not fit its schema at ``: \"m\" is a required property"
                    .to_owned(),
            ),
        ),
    ] {
        let case = case(json!({"expect": {"files": [expected]}}));
        let events = good();
        let verdict = judge(
            &case,
            &Evidence { events: &events, files: Some(&tree), expected: &[], is_live: true },
        );
        let failed =
            verdict.checks.into_iter().find(|check| !check.passed).map(|check| check.message);
        assert_eq!(failed, message);
    }
}

#[test]
fn a_case_that_streams_must_have_been_streamed() {
    let case = case(
        json!({"mock": {"turns": [{"text": "x"}], "streaming": {"enabled": true, "chunk_bytes": 1}}}),
    );
    let mut events = good();
    let at = place(&events, "assistant_delta", 0);
    events[at].data = said("assistant_delta", json!({"content": "all done"}));
    events.remove(at + 1);
    assert_eq!(
        wrong(&case, &events),
        [("streaming", "the answer came in one piece, not as it was written".to_owned())]
    );
    events.remove(at);
    assert_eq!(wrong(&case, &events).len(), 2, "nothing was streamed at all");
    let stored = Evidence { events: &events, files: None, expected: &[], is_live: false };
    assert!(judge(&case, &stored).passed(), "deltas are not stored");
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
        let evidence = Evidence { events: &log.events, files: None, expected: &[], is_live: false };
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
    let evidence = Evidence { events: &events, files: None, expected: &[], is_live: false };
    let error = judge(&case(json!({})), &evidence).error;
    assert_eq!(error.as_deref(), Some("the run broke (`cut_off`)"));
}

#[test]
fn no_number_of_a_record_is_too_large_to_be_judged() {
    let mut events = good();
    let last = events.len() - 1;
    let usage = json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX});
    edit(&mut events[last], |data| {
        data["spent"] = json!({"usage": usage, "wall_milliseconds": u64::MAX});
    });
    let case = case(json!({"constraints": {"max_wall_seconds": u64::MAX}}));
    let cost =
        judge(&case, &Evidence { events: &events, files: None, expected: &[], is_live: false })
            .cost;
    assert_eq!((cost.tokens(), cost.plus(cost).milliseconds), (u64::MAX, u64::MAX));
    for event in &mut events {
        event.seq = u64::MAX;
    }
    assert!(wrong(&case, &events).len() > 10, "none follows the one before it");
    let most = Triggered { right: u32::MAX, wrong: u32::MAX, missed: u32::MAX };
    assert_eq!((most.plus(most), most.precision(), most.f1()), (most, Some(0.5), Some(0.5)));
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
        let verdict = judge(&case, &Evidence { events: &events, files: None, expected: &[], is_live: true });
        proptest::prop_assert!(!verdict.checks.is_empty());
    }
}
