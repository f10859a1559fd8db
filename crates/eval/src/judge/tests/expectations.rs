//! What a case expects: met or not, in words and files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use basics::sha256::Sha256;
use serde_json::json;

use super::super::*;
use super::{case, good, place, wrong};
use crate::case::Place;
use crate::sample::said;

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
    fn read(&self, path: &Path, _: Place) -> Option<Vec<u8>> {
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
            &Evidence {
                events: &events,
                files: Some(&tree),
                expected: &[],
                touched: None,
                is_live: true,
            },
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
    let stored =
        Evidence { events: &events, files: None, expected: &[], touched: None, is_live: false };
    assert!(judge(&case, &stored).passed(), "deltas are not stored");
}
