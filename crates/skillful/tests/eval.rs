//! `skillful eval`

#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

#[path = "eval/figures.rs"]
mod figures;
#[path = "eval/resuming.rs"]
mod resuming;
#[path = "eval/starting.rs"]
mod starting;
mod world;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use world::World;

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evals").canonicalize().unwrap()
}

/// A world whose user writes the cases and need not look at them.
fn authors() -> World {
    World::new().with("SKILLFUL_TRUST_PROJECTS", "all")
}

/// Replies of a model that answers at once.
fn said(answer: &str) -> Value {
    json!({"turns": [{"action": {"type": "final_answer", "payload": {"content": answer}}}]})
}

/// The folder of the last run of a suite.
fn results(world: &World) -> PathBuf {
    let folders = fs::read_dir(world.path("project/.agent/eval-runs")).unwrap();
    folders.map(|entry| entry.unwrap().path()).max().unwrap()
}

#[test]
fn every_suite_of_this_repository_passes() {
    let world = authors();
    let seen = world.run(&format!("skillful eval run -q {}", suites().display()));
    assert!(!seen.contains('✗') && !seen.contains("[exit"), "{seen}");
    let report = world.json(&format!("skillful eval run --json {}", suites().display()));
    let results = report["results"].as_array().unwrap();
    let failed: Vec<&Value> = results.iter().filter(|result| result["passed"] != true).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(report["summary"]["cases"].as_u64().unwrap() >= 80);
    for dimension in
        ["trigger", "sequence", "disclosure", "security", "budget", "output", "files", "streaming"]
    {
        assert_eq!(report["summary"]["dimensions"][dimension], 1.0, "{dimension}");
    }
}

/// A case cannot turn a tool on, so this promise is kept with the user's own settings.
#[test]
fn high_risk_asks_even_with_yes() {
    let world = World::new();
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let write = json!({"action": {"type": "call_tool", "payload": {"tool": "write_file", "params": {"path": "notes.txt", "content": "x"}}}});
    world.write("project/turns.json", json!({"turns": [write]}).to_string());
    let seen = world.run("skillful run -q --yes --model scripted:turns.json go");
    assert!(seen.contains("needs your approval") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert!(!world.path("project/notes.txt").exists());
}

type Doctor = fn(&mut Vec<Value>);

fn place(events: &[Value], kind: &str) -> usize {
    events.iter().position(|event| event["type"] == kind).unwrap()
}

fn renumber(events: &mut [Value]) {
    let stored = events.iter_mut().filter(|event| event["type"] != "assistant_delta");
    stored.enumerate().for_each(|(place, event)| event["seq"] = json!(place + 1));
}

/// A skill's text that comes from nowhere.
fn load(events: &mut Vec<Value>, at: usize, skill: &str) {
    let mut loaded = events[at].clone();
    loaded["type"] = json!("skill_loaded");
    let report = json!({"path": "SKILL.md", "bytes_read": 1, "chars_returned": 1, "truncated": false,
        "file_sha256": "0".repeat(64), "text_sha256": "", "dropped_sections": [], "storage_ref": null, "diagnostics": []});
    loaded["data"] = json!({"skill": {"name": skill, "source": "user", "hash": "", "allowed_tools": null,
        "run_mode": "inline", "report": report}});
    events.insert(at + 1, loaded);
    renumber(events);
}

/// What a broken program would have recorded for each line of the definition of done, and which dimension says so.
const BROKEN: [(&str, Doctor, &str, &str); 7] = [
    (
        "starting_reads_metadata_alone",
        |events| {
            load(events, 0, "builtin-one");
            events[1]["data"] = json!({"skill": {"name": "builtin-one"}});
        },
        "sequence",
        "event 2 is not a valid `skill_loaded`",
    ),
    (
        "starting_reads_metadata_alone",
        |events| load(events, 0, "builtin-one"),
        "disclosure",
        "the text of `builtin-one` was read, but the skill was not selected first",
    ),
    (
        "only_a_triggered_skill_is_read",
        |events| {
            let at = place(events, "skill_loaded");
            load(events, at, "other");
        },
        "disclosure",
        "the text of `other` was read, but the skill was not selected first",
    ),
    (
        "a_resource_is_read_by_its_action_alone",
        |events| {
            let at = place(events, "skill_loaded");
            let mut stray = events[at].clone();
            stray["type"] = json!("resource_loaded");
            stray["data"] = json!({"skill": "alpha", "chunk": "c1"});
            events.insert(at + 1, stray);
            renumber(events);
        },
        "disclosure",
        "a resource was read, but no action asked for it",
    ),
    (
        "what_is_not_allowed_is_not_done",
        |events| {
            // The refused script ran all the same.
            let refused = events
                .iter()
                .position(|e| e["type"] == "action_validated" && e["data"]["ok"] == false)
                .unwrap();
            let mut ran = events[place(events, "action_executed")].clone();
            ran["turn"] = events[refused]["turn"].clone();
            ran["data"]["observation"]["code"] = Value::Null;
            events.insert(refused + 1, ran);
            renumber(events);
        },
        "security",
        "`run_script` ran without a permission decision",
    ),
    (
        "high_risk_needs_its_own_approval",
        |events| {
            let at = events.iter().position(|e| e["type"] == "action_validated").unwrap();
            events[at]["data"]["prepared"]["decision"]["action"] = json!("ask");
        },
        "security",
        "`write_file` needed an approval and ran without one",
    ),
    (
        "evals_run_offline_and_report",
        |events| {
            let at = place(events, "assistant_delta");
            events.remove(at);
        },
        "streaming",
        "what was streamed differs from the answer after 0 characters",
    ),
];

#[test]
fn each_line_of_the_definition_of_done_has_a_broken_record_that_its_case_catches() {
    let world = authors();
    let suite = suites().join("done.yaml");
    world.run(&format!("skillful eval run -q {}", suite.display()));
    let records: Vec<PathBuf> = fs::read_dir(results(&world).join("records"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    for (id, doctor, dimension, message) in BROKEN {
        let record = records
            .iter()
            .find(|path| path.to_string_lossy().contains(&id[..30.min(id.len())]))
            .unwrap();
        let text = fs::read_to_string(record).unwrap();
        let mut events: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let judged = |events: &[Value]| {
            let lines: Vec<String> = events.iter().map(Value::to_string).collect();
            world.write("project/log.jsonl", lines.join("\n"));
            world.json(&format!(
                "skillful eval judge log.jsonl --case {} --id {id} --json",
                suite.display()
            ))
        };
        assert_eq!(judged(&events)["passed"], true, "{id} as recorded");
        doctor(&mut events);
        let verdict = judged(&events);
        let failed: Vec<&Value> = verdict["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["passed"] == false)
            .collect();
        assert!(failed.iter().any(|check| check["message"] == message), "{id}: {failed:?}");
        assert!(failed.iter().any(|check| check["dimension"] == dimension), "{id}: {failed:?}");
    }
}

#[test]
fn a_new_case_runs_and_a_recorded_run_becomes_one() {
    let world = authors();
    world.write("project/sales.csv", "region,amount\nnorth,10\n");
    insta::assert_snapshot!(world.run("skillful eval new csv-report --dry-run"), @"
    [world]/project/.agent/evals/csv-report/chosen/case.json
    [stderr]
    Nothing was written.
    With --model, a model decides whether to use the skill. Without it, the offline planner does; it only compares words. Change `input` to a real request, and describe a good answer in `expect.output` and `assertions`.
    ");
    assert!(!world.path("project/.agent").exists());
    insta::assert_snapshot!(world.run("skillful eval new csv-report"), @"
    [world]/project/.agent/evals/csv-report/chosen/case.json
    [stderr]
    `skillful eval run` runs it.
    With --model, a model decides whether to use the skill. Without it, the offline planner does; it only compares words. Change `input` to a real request, and describe a good answer in `expect.output` and `assertions`.
    ");
    insta::assert_snapshot!(world.run("skillful eval new csv-report"), @"
    [stderr]
    error: `[world]/project/.agent/evals/csv-report/chosen` already has a case
    hint: remove it first
    [exit 1]
    ");
    world.run("skillful run -q --yes \"Summarise sales.csv\"");
    insta::assert_snapshot!(world.run("skillful eval from-run last --suite csv --id sales --dry-run"), @"
    [world]/project/.agent/evals/csv/sales/inputs/sales.csv
    [world]/project/.agent/evals/csv/sales/case.json
    [stderr]
    Nothing was written.
    ");
    assert!(!world.path("project/.agent/evals/csv").exists());
    world.run("skillful eval from-run last --suite csv --id sales");
    insta::assert_snapshot!(world.run("skillful eval run --runs 2 --with-without csv-report --dry-run"), @"
    csv/sales 4 runs
    csv-report/chosen 4 runs
    [stderr]
    Nothing was run.
    ");
    assert!(!world.path("project/.agent/eval-runs").exists());
    insta::assert_snapshot!(world.run("find .agent/evals -type f | sort; skillful eval run -q"), @"
    .agent/evals/csv-report/chosen/case.json
    .agent/evals/csv/sales/case.json
    .agent/evals/csv/sales/inputs/sales.csv
    2 of 2 cases passed
    1 assertion was not judged: no --model and no --grader
    ");
}

#[test]
fn a_failure_says_what_where_and_in_which_events() {
    let world = authors();
    let answer = |id: &str, wanted: &str| {
        json!({"id": id, "input": "go", "expect": {"output": {"contains_all": [wanted]}},
        "mock": {"turns": [{"action": {"type": "final_answer", "payload": {"content": "this"}}}]}})
    };
    world.write(
        "project/.agent/evals/s.json",
        json!([answer("right", "this"), answer("wrong", "that")]).to_string(),
    );
    insta::assert_snapshot!(world.run("skillful eval run -q --report json,md,html,junit"), @r#"
    ✗ s/wrong
        output: the answer lacks "that" (event 9)
    1 of 2 cases passed
    [exit 1]
    "#);
    let folder = results(&world);
    for name in ["report.json", "report.md", "report.html", "report.xml", "results.jsonl"] {
        assert!(folder.join(name).is_file(), "{name}");
    }
    assert!(!world.run("skillful eval run -q --fail-under 0.5").contains("[exit"));
    // The right one becomes worse than it was.
    fs::copy(folder.join("report.json"), world.path("project/before.json")).unwrap();
    world.write("project/.agent/evals/s.json", json!([answer("right", "other")]).to_string());
    insta::assert_snapshot!(world.run("skillful eval run -q --fail-under 0 --baseline before.json"), @r#"
    ✗ s/right
        output: the answer lacks "other" (event 9)
    worse s/right: 0.00, was 1.00
    gone s/wrong
    0 of 1 case passed
    [exit 1]
    "#);
    for rate in ["nan", "2", "-1", "much"] {
        let seen = world.run(&format!("skillful eval run --fail-under={rate}"));
        assert!(seen.contains("use a number from 0 to 1") && seen.contains("[exit 2]"), "{seen}");
    }
    insta::assert_snapshot!(world.run("skillful eval run --baseline none.json"), @"
    [stderr]
    error: cannot use `[world]/project/none.json` as a baseline: No such file or directory (os error 2)
    hint: give a report.json that `skillful eval run` wrote
    [exit 2]
    ");
}

#[test]
fn a_run_that_was_interrupted_goes_on_where_it_was() {
    let world = authors();
    let case = |id: &str| json!({"id": id, "input": "go", "mock": {"turns": [{"action": {"type": "final_answer", "payload": {"content": id}}}]}});
    world
        .write("project/.agent/evals/s.json", json!([case("a"), case("b"), case("c")]).to_string());
    world.run("skillful eval run -q");
    let file = results(&world).join("results.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    // One result is whole, another was being written.
    let kept: String = text.lines().take(1).map(|line| format!("{line}\n")).collect();
    fs::write(&file, format!("{kept}{}", &text.lines().nth(1).unwrap()[..40])).unwrap();
    let report = world.json("skillful eval run --resume last --json");
    assert_eq!(report["summary"]["cases"], 3);
    let records = fs::read_dir(results(&world).join("records")).unwrap().count();
    assert_eq!(records, 3);
    let kept = |text: &str| {
        let results = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        results.map(|result| result["id"].to_string()).collect::<String>()
    };
    let before = kept(&fs::read_to_string(&file).unwrap());
    assert_eq!(before.len(), 9, "the line that was cut off swallowed no other: {before}");
    let mut edited = case("b");
    edited["expect"] = json!({"output": {"contains_all": ["other"]}});
    world.write("project/.agent/evals/s.json", json!([case("a"), edited, case("c")]).to_string());
    let report = world.json("skillful eval run --resume last --json");
    assert_eq!(report["summary"]["failed"], 1, "the edited one was run again");
    assert_eq!(
        kept(&fs::read_to_string(&file).unwrap()),
        format!("{before}\"b\""),
        "and only that"
    );
    assert!(world.run("skillful eval run --resume 20200101_000000_aaaa").contains("[exit 1]"));
}

#[test]
fn a_skill_with_the_open_standards_files_needs_nothing_of_ours() {
    let world = authors();
    world.skill(
        "project/shop/csv-sums",
        "Sums the columns of a CSV file. Use for totals of a table.",
    );
    world.write("project/shop/csv-sums/evals/files/a.csv", "n\n1\n2\n");
    world.write("project/shop/csv-sums/evals/evals.json", r#"{"skill_name": "csv-sums", "evals": [
        {"id": 1, "prompt": "Sums of the columns, with totals", "expected_output": "3", "files": ["evals/files/a.csv"], "assertions": ["It says 3"]}]}"#);
    world.write(
        "project/shop/csv-sums/evals/triggers.json",
        r#"[
        {"query": "sum the totals of a csv table's columns", "should_trigger": true},
        {"query": "sing me a song", "should_trigger": false}]"#,
    );
    insta::assert_snapshot!(world.run("skillful eval run -q shop/csv-sums"), @"
    3 of 3 cases passed
    2 assertions were not judged: no --model and no --grader
    ");
    let compared = world.run("skillful eval run -q shop/csv-sums --with-without csv-sums");
    assert!(!compared.contains("[exit"), "a skill that only a case brings along: {compared}");
    insta::assert_snapshot!(world.run("skillful eval triggers csv-sums --root shop"), @"
    training 2 of 2 right
      ✓ 1.00 yes sum the totals of a csv table's columns
      ✓ 0.00 no  sing me a song
    validation 0 of 0 right
    ");
    insta::assert_snapshot!(world.run("skillful eval triggers csv-report"), @"
    training 6 of 6 right
      ✓ 1.00 yes what's in data/export_2025.csv?
      ✓ 1.00 yes profile this tsv and tell me which columns have missing values
      ✓ 1.00 yes can you check whether this spreadsheet export is clean before I import it
      ✓ 0.00 no  make a bar chart of monthly revenue
      ✓ 0.00 no  how many words are in README.md?
      ✓ 0.00 no  summarise this article in three sentences
    validation 4 of 4 right
      ✓ 1.00 yes average order value from orders.csv please
      ✓ 1.00 yes give me summary statistics for survey results, semicolon separated
      ✓ 0.00 no  convert this JSON file to YAML
      ✓ 0.00 no  write a Python function that parses CSV lines
    ");
}

#[test]
fn a_query_that_chose_another_skill_has_not_triggered() {
    let world = authors();
    world.skill("project/shop/zebra-helper", "Counts the stripes of zebras.");
    world.write(
        "project/shop/zebra-helper/evals/triggers.json",
        r#"[{"query": "Summarise this CSV file sales.csv please", "should_trigger": true}]"#,
    );
    insta::assert_snapshot!(world.run("skillful eval triggers zebra-helper --root shop"), @"
    training 0 of 1 right
      ✗ 0.00 yes Summarise this CSV file sales.csv please
    validation 0 of 0 right
    [exit 1]
    ");
    insta::assert_snapshot!(world.run("skillful eval run -q shop/zebra-helper"), @"
    ✗ zebra-helper/query-1
        trigger: one of `zebra-helper` should have been chosen; chosen: `csv-report`
    ✗ 0.00 should trigger Summarise this CSV file sales.csv please
    0 of 1 case passed
    [exit 1]
    ");
}

#[test]
fn the_threshold_of_trigger_queries_is_a_setting() {
    let world = authors();
    world.write("project/csv-report.json", r#"[{"query": "hello", "should_trigger": false}]"#);
    world.write("home/.agent/config.json", r#"{"eval": {"trigger_threshold": 0.75}}"#);
    let report = world.json("skillful eval run csv-report.json --json");
    assert_eq!(report["summary"]["trigger_threshold"], 0.75);
    for wrong in ["0", "1.5", "-1"] {
        let seen = world.run(&format!("SKILLFUL_EVAL_TRIGGER_THRESHOLD={wrong} skillful eval run"));
        assert!(seen.contains("expected a number above 0 and up to 1"), "{seen}");
        assert!(seen.contains("[exit 2]"), "{seen}");
    }
}

#[test]
fn a_model_that_cannot_be_reached_passes_nothing() {
    let world = authors();
    world.write("project/hello.json", r#"[{"query": "hello", "should_trigger": false}]"#);
    world.write(
        "project/silent.json",
        r#"[{"id": "a", "input": "go", "mock": {"turns": []}},
        {"id": "b", "input": "go", "expect": {"stop_reason": "model_error"}, "mock": {"turns": []}}]"#,
    );
    let nobody = "--model openai:x --base-url https://127.0.0.1:9/v1";
    insta::assert_snapshot!(world.run(&format!("SKILLFUL_MODEL_MAX_RETRIES=0 skillful eval run -q hello.json {nobody}")), @"
    ✗ hello/query-1
        the run broke (`model_error`): `127.0.0.1:9` cannot be reached: Connection refused (os error 111); check that the server runs, its address and your proxy settings
    ✗ 0.00 should not trigger hello
    0 of 1 case passed
    [exit 1]
    ");
    insta::assert_snapshot!(world.run(&format!("SKILLFUL_MODEL_MAX_RETRIES=0 skillful eval triggers csv-report {nobody}")), @"
    [stderr]
    error: the run broke (`model_error`): `127.0.0.1:9` cannot be reached: Connection refused (os error 111); check that the server runs, its address and your proxy settings
    [exit 1]
    ");
    insta::assert_snapshot!(world.run("skillful eval run -q silent.json"), @"
    ✗ silent/a
        the run broke (`model_error`): turn 1 was asked for, the script has 0
    1 of 2 cases passed
    [exit 1]
    ");
}

#[test]
fn assertions_are_judged_by_the_grader_with_evidence_in_every_report() {
    let world = authors();
    let judgement = json!({"passed": true, "evidence": "3 rows"}).to_string();
    world.write("project/grader.json", said(&judgement).to_string());
    let case = |id: &str, answer: &str| json!({"id": id, "input": "Count", "assertions": ["It says how many"], "mock": said(answer)});
    world.write(
        "project/.agent/evals/s.json",
        json!([case("right", "There are 3 rows."), case("wrong", "There are some.")]).to_string(),
    );
    insta::assert_snapshot!(world.run("skillful eval run -q --grader scripted:grader.json --report json,md,html,junit"), @"
    2 of 2 cases passed
    1 of 2 assertions true (judged by a model)
    ");
    let folder = results(&world);
    let report: Value =
        serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    let graded = |place: usize| report["results"][place]["graded"][0].clone();
    let sentence = |passed: bool, evidence: &str| json!({"text": "It says how many", "passed": passed, "evidence": evidence});
    assert_eq!(graded(0), sentence(true, "3 rows"));
    let refused = "called true, but this is not in the answer: 3 rows";
    assert_eq!(graded(1), sentence(false, refused));
    for name in ["report.md", "report.html", "report.xml"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains("It says how many") && text.contains(refused), "{name}: {text}");
    }
}

#[test]
fn the_number_of_jobs_changes_no_result() {
    let world = authors();
    let case = |id: usize| json!({"id": id.to_string(), "input": "go", "mock": {"turns": [{"action": {"type": "final_answer", "payload": {"content": id.to_string()}}}]}});
    world.write(
        "project/.agent/evals/s.json",
        json!((0..6).map(case).collect::<Vec<_>>()).to_string(),
    );
    let answers = |jobs: &str| {
        let report = world.json(&format!("skillful eval run --json --jobs {jobs}"));
        let results = report["results"].as_array().unwrap().iter();
        results.map(|result| result["answer"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(answers("1"), answers("4"));
    assert!(world.run("skillful eval run --jobs 0").contains("[exit 2]"));
}

#[test]
fn with_and_without_a_skill_are_compared() {
    let world = authors();
    world.write("project/.agent/evals/inputs/sales.csv", "region,amount\nnorth,10\n");
    world.write("project/.agent/evals/csv.yaml", "id: sales\ninput: Summarise sales.csv\nsetup: {files: [inputs/sales.csv], yes: true}\nexpect: {output: {contains_all: [\"Rows: 1\"]}}\n");
    let report = world.json("skillful eval run --runs 2 --with-without csv-report --json");
    let summary = &report["benchmark"]["run_summary"];
    assert_eq!(summary["with_skill"]["pass_rate"], json!({"mean": 1.0, "stddev": 0.0}));
    assert_eq!(summary["without_skill"]["pass_rate"]["mean"], 0.0);
    assert_eq!(summary["delta"]["pass_rate"], 1.0);
    let file: Value =
        serde_json::from_slice(&fs::read(results(&world).join("benchmark.json")).unwrap()).unwrap();
    assert_eq!(&file["run_summary"], summary);
    insta::assert_snapshot!(world.run("skillful eval run --with-without csv-reprot"), @"
    [stderr]
    error: Skill 'csv-reprot' not found.
    hint: did you mean `csv-report`?
    [exit 1]
    ");
    assert_eq!(
        report["summary"]["runs"], 2,
        "runs without the skill are there for comparison only"
    );
}

#[test]
fn what_cannot_be_read_is_said_and_fails_the_run() {
    let world = authors();
    insta::assert_snapshot!(world.run("skillful eval run"), @"
    [stderr]
    error: there are no cases
    hint: `skillful eval new SKILL` creates a case
    [exit 2]
    ");
    world.write("project/.agent/evals/a.yaml", "id: a\ninput: go\nexpect:\n  stop_raeson: x\n");
    insta::assert_snapshot!(world.run("skillful eval run -q"), @"
    ✗ [world]/project/.agent/evals/a.yaml:4:3: unknown field `stop_raeson`, expected one of skills_any_of, skills_all_of, skills_none_of, action_sequence_constraints, error_codes, output, files, stop_reason
    0 of 0 cases passed
    [exit 1]
    ");
}

#[test]
fn a_pack_that_is_let_in_although_it_must_not_fails_its_case() {
    let world = authors();
    fs::copy(suites().join("packs/packed.zip"), world.path("project/packed.zip")).unwrap();
    let case = json!({"id": "packs", "input": "go", "setup": {"refused_skills": ["packed.zip"]},
        "mock": {"turns": [{"action": {"type": "final_answer", "payload": {"content": "done"}}}]}});
    world.write("project/case.json", case.to_string());
    let seen = world.run("skillful eval run -q case.json");
    assert!(
        seen.contains("should have been refused, but was installed\n0 of 1 case passed\n[exit 1]"),
        "{seen}"
    );
}
