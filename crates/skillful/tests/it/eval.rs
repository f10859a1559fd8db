//! `skillful eval`

mod broken_records;
mod figures;
mod resuming;
mod starting;
mod triggers;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::turns;
use crate::turns::{turns, write};
use crate::world::{World, repository};

/// The suites of this repository.
pub(crate) fn suites() -> Option<PathBuf> {
    repository().map(|root| root.join("evals"))
}

/// A world whose user writes the cases and need not look at them.
pub(crate) fn authors() -> World {
    World::new().with("SKILLFUL_TRUST_PROJECTS", "all")
}

/// Replies of a model that answers at once.
fn said(answer: &str) -> Value {
    turns(&[turns::answer(answer)])
}

/// The folder of the last run of a suite.
fn results(world: &World) -> PathBuf {
    let folders = fs::read_dir(world.path("project/.agent/eval-runs")).unwrap();
    folders.map(|entry| entry.unwrap().path()).max().unwrap()
}

/// A case cannot turn a tool on, so this promise is kept with the user's own settings.
#[test]
fn high_risk_asks_even_with_yes() {
    let world = World::new();
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    world.turns(&[write("notes.txt", "x"), turns::answer("done")]);
    let seen = world.run("skillful run -q --yes --model scripted:turns.json go");
    assert!(seen.contains("for your approval") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert!(!world.path("project/notes.txt").exists());
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
        "mock": said("this")})
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
    let case = |id: &str| json!({"id": id, "input": "go", "mock": said(id)});
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
        the run broke (`model_error`): `127.0.0.1:9` does not answer, because no server listens there: Connection refused (os error 111); start the server, or check its address
    ✗ 0.00 should not trigger hello
    0 of 1 case passed
    [exit 1]
    ");
    insta::assert_snapshot!(world.run(&format!("SKILLFUL_MODEL_MAX_RETRIES=0 skillful eval triggers csv-report {nobody}")), @"
    [stderr]
    error: the run broke (`model_error`): `127.0.0.1:9` does not answer, because no server listens there: Connection refused (os error 111); start the server, or check its address
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
    let case =
        |id: usize| json!({"id": id.to_string(), "input": "go", "mock": said(&id.to_string())});
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
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
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
    let Some(suites) = suites() else { return };
    let world = authors();
    fs::copy(suites.join("packs/packed.zip"), world.path("project/packed.zip")).unwrap();
    let case = json!({"id": "packs", "input": "go", "setup": {"refused_skills": ["packed.zip"]},
        "mock": said("done")});
    world.write("project/case.json", case.to_string());
    let seen = world.run("skillful eval run -q case.json");
    assert!(
        seen.contains("should have been refused, but was installed\n0 of 1 case passed\n[exit 1]"),
        "{seen}"
    );
}
