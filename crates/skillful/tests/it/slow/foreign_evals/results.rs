//! Results are those of these cases, made here.

use std::fs;

use serde_json::{Value, json};

use super::{answers, case, trusting};
use crate::world::World;

#[test]
fn a_run_of_other_cases_is_not_gone_on_with() {
    let world = trusting(World::new());
    let two = json!([case("a", json!({}), answers()), case("b", json!({}), answers())]);
    world.write("home/two.json", two.to_string());
    world.write("home/one.json", json!([case("a", json!({}), answers())]).to_string());
    assert_eq!(world.run("skillful eval run -q ~/two.json"), "2 of 2 cases passed\n");
    let report = || world.run("cat .agent/eval-runs/*/report.json");
    let before = report();
    let refused = world.json("skillful --json eval run ~/one.json --resume last");
    assert_eq!(refused["error"]["code"], "OtherSuite", "{refused}");
    assert_eq!(report(), before);
    assert_eq!(world.run("skillful eval run -q ~/two.json --resume last"), "2 of 2 cases passed\n");
}

#[test]
fn results_that_came_with_a_clone_are_not_taken_for_own_ones() {
    let world = trusting(World::new());
    let wrong = json!({"id": "a", "input": "x", "expect": {"output": {"contains_all": ["never"]}}, "mock": answers()});
    world.write("project/.agent/evals/s.json", json!([wrong]).to_string());
    assert!(world.run("skillful eval run -q").contains("0 of 1 case passed"));
    // It failed here; whoever brings the clone says that it passed.
    let results = world.run("ls .agent/eval-runs/*/results.jsonl");
    let results = world.path(&format!("project/{}", results.trim()));
    let mut result: Value =
        serde_json::from_str(fs::read_to_string(&results).unwrap().trim()).unwrap();
    assert!(world.run("skillful eval run -q --resume last").contains("0 of 1 case passed"));
    assert_eq!(fs::read_to_string(&results).unwrap().lines().count(), 1, "an own result counts");
    result["passed"] = json!(true);
    fs::write(&results, format!("{result}\n")).unwrap();
    assert!(world.run("skillful eval run -q --resume last").contains("0 of 1 case passed"));
    assert_eq!(fs::read_to_string(&results).unwrap().lines().count(), 2, "it was run again");
}
