#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

use std::fs;

use basics::failure::Explain;
use serde_json::json;

use super::*;

fn names(file: &str, text: &str) -> Vec<String> {
    read(Path::new(file), text).unwrap().iter().map(Located::name).collect()
}

fn refusal(file: &str, text: &str) -> String {
    read(Path::new(file), text).unwrap_err().to_string()
}

#[test]
fn one_case_many_cases_and_yaml_are_read_alike() {
    let one = r#"{"id": "a", "input": "go"}"#;
    assert_eq!(names("evals/csv/a/case.json", one), ["csv/a"]);
    assert_eq!(names("evals/csv.json", &format!("[{one}]")), ["csv/a"]);
    assert_eq!(names("evals/csv.json", &format!(r#"{{"cases": [{one}]}}"#)), ["csv/a"]);
    assert_eq!(names("evals/csv/a/case.yaml", "id: a\ninput: go\n"), ["csv/a"]);
    let several =
        "cases:\n  - id: a\n    input: go\n  - id: b\n    input: |\n      two\n      lines\n";
    assert_eq!(names("evals/csv.yml", several), ["csv/a", "csv/b"]);
}

#[test]
fn the_case_of_the_contract_is_read_whole() {
    let text = r#"{"id": "basic_select_skill", "input": "Fill in this PDF form",
        "setup": {"skill_roots": ["./.agent/skills"], "preinstall_skills": [], "files": ["inputs/form.pdf"]},
        "expect": {"skills_any_of": ["pdf-form-filler"], "skills_all_of": [], "skills_none_of": [],
          "action_sequence_constraints": [{"must_occur": "select_skills", "before": "run_script"}, {"forbid": "write_file"}, {"max": 2, "of": "load_resource"}],
          "output": {"contains_all": [], "contains_any": ["done"], "not_contains": [], "regex": null, "format": "markdown", "json_schema": null},
          "files": [{"path": "out.json", "exists": true, "sha256": null, "json_schema": null}], "stop_reason": "final_answer"},
        "constraints": {"max_turns": 8, "max_tool_calls": 15, "deny_tools": ["network_request"]},
        "mock": {"turns": [{"action": {"type": "final_answer", "payload": {"content": "done"}}}], "streaming": {"enabled": true, "chunk_bytes": 12}}}"#;
    let located = read(Path::new("case.json"), text).unwrap().remove(0);
    let case = located.case;
    assert_eq!(case.expect.action_sequence_constraints.len(), 3);
    assert_eq!(case.mock.as_ref().unwrap().streaming.chunk_bytes.get(), 12);
    let again: Case = serde_json::from_value(json!(case)).unwrap();
    assert_eq!(again, case, "what is written is read back");
}

#[test]
fn an_error_points_to_its_line() {
    for (file, text, expected) in [
        (
            "a.json",
            "{\n  \"id\": \"a\",\n  \"inptu\": \"go\"\n}",
            "a.json:3:9: `inptu`: unknown field `inptu`, expected one of `id`, `input`, `setup`, `expect`, `constraints`, `mock`, `assertions`",
        ),
        ("a.json", "{\"id\": \"a\",\n", "a.json:2:0: EOF while parsing a value"),
        (
            "a.json",
            "[{\"id\": \"a\",\n\"input\": 3}]",
            "a.json:2:10: `[0].input`: invalid type: integer `3`, expected a string",
        ),
        (
            "a.yaml",
            "id: a\ninput: go\nexpect:\n  stop_raeson: x\n",
            "a.yaml:4:3: unknown field `stop_raeson`",
        ),
        ("a.yaml", "id: [a\n", "a.yaml:"),
    ] {
        let found = refusal(file, text);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (text, expected) in [
        (
            r#"[{"id": "a", "input": "x"}, {"id": "a", "input": "y"}]"#,
            "a.json: two cases are called `a`",
        ),
        (r#"{"id": " ", "input": "x"}"#, "a.json: case ` `: its `id` is empty"),
        (
            r#"{"id": "a", "input": "x", "expect": {"output": {"regex": "("}}}"#,
            "a.json: case `a`: `regex` cannot be used",
        ),
        (
            r#"{"id": "a", "input": "x", "expect": {"output": {"json_schema": {"type": 3}}}}"#,
            "a.json: case `a`: `json_schema` cannot be used",
        ),
        (
            r#"{"id": "a", "input": "x", "setup": {"no_questions": true, "answers": ["A"]}}"#,
            "a.json: case `a`: with `no_questions`, nobody gives the `answers`",
        ),
        (
            r#"{"id": "a", "input": "x", "mock": {"turns": [{"action": {"type": "dance"}}]}}"#,
            "a.json: case `a`: `mock`: ",
        ),
    ] {
        let found = refusal("a.json", text);
        assert!(found.starts_with(expected), "{found}");
    }
}

#[test]
fn the_open_standards_files_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join("csv-tool");
    fs::create_dir_all(skill.join("evals")).unwrap();
    fs::write(skill.join("SKILL.md"), "---\nname: csv-tool\ndescription: d\n---\n").unwrap();
    let evals = r#"{"skill_name": "csv-tool", "evals": [
        {"id": 1, "prompt": "Sum it", "expected_output": "the sum", "files": ["evals/files/a.csv"], "assertions": ["It says 3"], "note": "ours to ignore"},
        {"prompt": "Plot it"}]}"#;
    let read_in = |name: &str, text: &str| read(&skill.join("evals").join(name), text).unwrap();
    let cases = read_in("evals.json", evals);
    assert_eq!(cases.iter().map(Located::name).collect::<Vec<_>>(), ["csv-tool/1", "csv-tool/2"]);
    assert_eq!(cases[0].case.assertions, ["The answer fits this: the sum", "It says 3"]);
    assert_eq!(cases[0].case.expect.skills_any_of, ["csv-tool"]);
    let real = skill.canonicalize().unwrap();
    assert_eq!(cases[0].case.setup.preinstall_skills, std::slice::from_ref(&real));
    assert_eq!(
        cases[0].resolve(Path::new("evals/files/a.csv"), Path::new("/")),
        Path::new("/evals/files/a.csv")
    );
    assert_eq!(cases[0].folder, real);
    let queries = r#"[{"query": "sum a table", "should_trigger": true}, {"query": "sing", "should_trigger": false}]"#;
    let cases = read_in("triggers.json", queries);
    assert_eq!(cases[0].case.expect.skills_any_of, ["csv-tool"]);
    assert_eq!(cases[1].case.expect.skills_none_of, ["csv-tool"]);
    assert_eq!([cases[0].should_trigger, cases[1].should_trigger], [Some(true), Some(false)]);
    assert_eq!(cases[0].case.constraints.max_turns, Some(1));
}

proptest::proptest! {
    #[test]
    fn no_text_makes_reading_fail_in_another_way(text in ".{0,200}", yaml in proptest::bool::ANY) {
        let file = if yaml { "a.yaml" } else { "a.json" };
        if let Err(error) = read(Path::new(file), &text) {
            proptest::prop_assert!(!error.hint().is_empty());
        }
    }
}
