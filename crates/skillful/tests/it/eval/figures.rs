//! The figures of a report say what happened, and nothing that did not.

use super::*;

/// The report on a case whose model answers at once and chooses no skill.
fn report(expect: Value) -> Value {
    let world = authors();
    let case = json!({"id": "a", "input": "go", "expect": expect, "mock": said("done")});
    world.write("project/.agent/evals/s.json", case.to_string());
    world.json("skillful eval run --json")
}

#[test]
fn a_skill_that_is_expected_twice_is_missed_once() {
    for (any, all) in [
        (json!(["a"]), json!(["a"])),
        (json!(["a", "b"]), json!(["a"])),
        (json!([]), json!(["a", "a"])),
    ] {
        let report = report(json!({"skills_any_of": any, "skills_all_of": all}));
        assert_eq!(report["summary"]["trigger"]["missed"], 1, "{any} {all}");
        let checks = report["results"][0]["verdict"]["checks"].as_array().unwrap();
        let failed: Vec<&Value> =
            checks.iter().filter(|check| check["dimension"] == "trigger").collect();
        assert_eq!(failed.len(), 1, "{any} {all}: {failed:?}");
    }
    let report = report(json!({"skills_any_of": ["a", "b"], "skills_all_of": ["c"]}));
    assert_eq!(report["summary"]["trigger"]["missed"], 2, "these are two wishes");
}

/// What is said about a case with two assertions.
fn asserted(world: &World, options: &str) -> String {
    let case = json!({"id": "a", "input": "go", "assertions": ["It is short", "It is kind"], "mock": said("done")});
    world.write("project/.agent/evals/s.json", case.to_string());
    world.run(&format!("skillful eval run -q {options}"))
}

#[test]
fn what_nobody_judged_is_not_counted_as_judged() {
    let world = authors();
    world.write("project/silent.json", r#"{"turns": []}"#);
    world.write("project/vague.json", said("I think so").to_string());
    insta::assert_snapshot!(asserted(&world, ""), @"
    1 of 1 case passed
    2 assertions were not judged: no --model and no --grader
    ");
    assert_eq!(asserted(&world, "--model offline"), asserted(&world, ""));
    insta::assert_snapshot!(asserted(&world, "--grader scripted:vague.json"), @"
    1 of 1 case passed
    2 assertions were not judged: the model's answer is not JSON
    ");
    insta::assert_snapshot!(asserted(&world, "--grader scripted:silent.json --report json,md"), @"
    1 of 1 case passed
    2 assertions were not judged: the model gave no answer
    ");
    let folder = results(&world);
    let report: Value =
        serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["summary"]["unjudged"], 2);
    assert_eq!(report["summary"].get("assertions"), None);
    assert_eq!(report["results"][0]["graded"][0]["judged"], false);
    let page = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(page.contains("| assertions not judged | 2 |"), "{page}");
    assert!(!page.contains("judged by a model"), "{page}");
}

#[test]
fn a_comparison_says_nothing_about_assertions_that_nobody_judged() {
    let world = authors();
    world.write("project/vague.json", said("I think so").to_string());
    let seen = asserted(&world, "--grader scripted:vague.json --with-without csv-report");
    assert!(seen.contains("checks") && !seen.contains("assertions  "), "{seen}");
}
