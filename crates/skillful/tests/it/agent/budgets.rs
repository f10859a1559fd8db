//! Budgets bind, and what is said about the sandbox is true.

use super::*;

fn stop_reason(world: &World, options: &str) -> Value {
    world.json(&format!("skillful run --json --model scripted:turns.json {options} x"))["stop_reason"]
        .clone()
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_script_has_no_more_time_than_its_run() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    world.write("home/.agent/config.json", r#"{"budget": {"max_wall_seconds": 2}}"#);
    // Without a limit it would never end.
    skill(&world, "s", "while :; do sleep 1; done\n");
    assert_eq!(stop_reason(&world, "--yes"), "max_wall_seconds");
    let codes = codes(&world);
    assert!(codes.iter().all(|code| code.is_null() || code == "Timeout"), "{codes:?}");
    assert_sound(&world);
}

#[test]
fn an_answer_that_comes_too_late_is_none() {
    let turn = json!({"fault": {"kind": "delay", "milliseconds": 1_100}, "text": answer("too late").to_string()});
    let world = scripted(json!([turn]));
    world.write("home/.agent/config.json", r#"{"budget": {"max_wall_seconds": 1}}"#);
    assert_eq!(stop_reason(&world, ""), "max_wall_seconds");
    assert_sound(&world);
}

#[test]
fn a_plan_cannot_outgrow_the_context() {
    let plan = |goal: String| {
        let mut turn = call("list_dir", json!({"path": "."}));
        turn["plan_update"] = json!({"mode": "replace", "plan": {"goal": goal, "steps": []}});
        turn
    };
    let goal = |length| "g".repeat(length);
    let world =
        scripted(json!([plan(goal(100)), plan(goal(500_000)), plan(goal(2_000)), answer("done")]));
    world.write("home/.agent/config.json", r#"{"budget": {"max_context_chars": 20000}}"#);
    run(&world, "");
    let events = events(&world);
    let events = events.iter();
    let sent: Vec<u64> =
        events.filter_map(|event| event["data"]["prompt"]["chars"].as_u64()).collect();
    assert_eq!(sent.len(), 4);
    assert!(sent.iter().all(|chars| *chars <= 20_000), "{sent:?}");
    assert!(sent[3] > sent[2] + 1_900, "the last plan is in the prompt: {sent:?}");
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn what_an_approval_says_about_the_sandbox_is_what_happens() {
    let world = scripted(json!([select(&["s"]), script("s", &[]), answer("done")]));
    skill(&world, "s", "echo out > \"$WORKSPACE_DIR/out\"\n");
    let asked = run(&world, "");
    assert!(asked.contains("runs sh in a sandbox, no network; what it writes is shown"), "{asked}");
    world.write("home/.agent/config.json", r#"{"execution": {"sandbox": "off"}}"#);
    let asked = run(&world, "");
    assert!(asked.contains("runs sh without a sandbox"), "{asked}");
    assert!(!asked.contains("no network"), "{asked}");
    run(&world, "--yes --apply");
    assert_eq!(world.read("project/out"), "out\n");
    let executed = events(&world);
    let mut executed = executed.iter();
    let facts = executed
        .rfind(|event| event["type"] == "action_executed")
        .map(|event| &event["data"]["observation"]["facts"]["sandbox"]);
    assert_eq!(facts.unwrap()["network"], Value::Null);
}
