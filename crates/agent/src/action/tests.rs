use serde_json::json;

use super::*;

fn check(action: Value) -> Action {
    let read: Action = serde_json::from_value(action.clone()).unwrap();
    assert_eq!(
        serde_json::from_value::<Action>(serde_json::to_value(&read).unwrap()).unwrap(),
        read,
        "{action}"
    );
    read
}

#[test]
fn every_action_of_the_protocol_is_understood() {
    let cases = [
        (
            json!({"type": "select_skills", "payload": {"skills": [{"name": "a", "source": "project"}], "reason": "r"}}),
            "select_skills a",
        ),
        (json!({"type": "search_skills", "payload": {"query": "q"}}), "search_skills q"),
        (
            json!({"type": "load_resource", "payload": {"skill": {"name": "a"}, "relative_path": "r.md", "section_hint": "## H"}}),
            "load_resource a/r.md ## H",
        ),
        (
            json!({"type": "load_chunk", "payload": {"skill": "a", "chunk_id": "c"}}),
            "load_chunk a c",
        ),
        (
            json!({"type": "run_script", "payload": {"skill": "a", "relative_path": "scripts/x", "args": ["1"]}}),
            "run_script a/scripts/x 1",
        ),
        (
            json!({"type": "call_tool", "payload": {"tool": "read_file", "params": {"path": "p"}}}),
            "call_tool read_file p",
        ),
        (json!({"type": "final_answer", "payload": {"content": "x"}}), "final_answer"),
    ];
    for (action, summary) in cases {
        assert_eq!(check(action).summary(), summary);
    }
}

#[test]
fn a_summary_is_one_short_line_whatever_the_model_wrote() {
    let query = format!("a\n\u{1b}[31m{}", "b".repeat(1_000));
    let summary = Action::SearchSkills { query, limit: None }.summary();
    assert!(!summary.contains(['\n', '\u{1b}']) && summary.chars().count() < 230);
}

#[test]
fn an_action_that_is_not_one_is_refused() {
    for action in [
        json!({"type": "delete_everything", "payload": {}}),
        json!({"type": "final_answer"}),
        json!({"type": "final_answer", "payload": {"content": 3}}),
        json!({"type": "select_skills", "payload": {"skills": "a"}}),
        json!({"payload": {"content": "x"}}),
    ] {
        assert!(serde_json::from_value::<Action>(action.clone()).is_err(), "{action}");
    }
}
