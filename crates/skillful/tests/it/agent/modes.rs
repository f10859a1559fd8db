//! Modes: one word instead of many rules.

use super::*;

fn command(line: &str) -> Value {
    call("run_command", json!({"command": line}))
}

/// A model that looks, runs something and writes.
fn working() -> World {
    let world = plain(&[
        call("read_file", json!({"path": "a"})),
        command("mkdir made"),
        write("b", "new\n"),
        answer("done"),
    ]);
    world.write("project/a", "one\n");
    world
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn read_only_looks_and_nothing_else() {
    let world = working();
    assert_eq!(run(&world, "--mode read-only --yes --approve run_command --apply"), "done\n");
    assert_eq!(codes(&world), [Value::Null, json!("ToolNotAllowed"), json!("ToolNotAllowed")]);
    assert!(!world.path("project/b").exists());
    assert_sound(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn contained_runs_unasked_while_every_wall_stands_and_asks_for_the_changes() {
    let world = working();
    let seen = run(&world, "--mode contained");
    assert!(
        seen.starts_with("done\n") && seen.contains("runs apply") && seen.ends_with("[exit 3]\n"),
        "{seen}"
    );
    assert_eq!(codes(&world)[..3], [Value::Null, Value::Null, Value::Null]);
    assert!(!world.path("project/b").exists() && !world.path("project/made").exists());
    assert_sound(&world);
    // A deny counts, and a question that the user wants to be asked, too.
    let world = working();
    world.write(
        "home/.agent/config.json",
        r#"{"permissions": {"run_command": {"mkdir *": "deny"}}}"#,
    );
    run(&world, "--mode contained");
    assert_eq!(codes(&world)[1], "ToolNotAllowed");
    let world = working();
    world.write(
        "home/.agent/config.json",
        r#"{"execution": {"require_approval_for": ["run_command"]}}"#,
    );
    let seen = run(&world, "--mode contained");
    assert!(seen.contains("--approve") && seen.ends_with("[exit 3]\n"), "{seen}");
}

#[test]
fn contained_falls_back_to_asking_where_a_wall_is_missing_and_says_why() {
    let world = working();
    world.write("home/.agent/config.json", r#"{"execution": {"sandbox": "off"}}"#);
    let seen = run(&world, "--mode contained");
    assert!(seen.contains("to allow it, run") && seen.ends_with("[exit 3]\n"), "{seen}");
}

#[test]
fn the_mode_of_the_settings_counts_and_the_command_line_more() {
    let world = working();
    world.write("home/.agent/config.json", r#"{"mode": "read-only"}"#);
    run(&world, "");
    assert_eq!(codes(&world)[2], "ToolNotAllowed");
    run(&world, "--mode ask --deny run_command");
    assert_eq!(codes(&world)[2], Value::Null);
    let wrong = run(&world, "--mode nothing");
    assert!(
        wrong.contains("`read-only`, `ask`, `contained`, `plan`") && wrong.ends_with("[exit 2]\n"),
        "{wrong}"
    );
}

#[test]
fn a_project_may_only_make_the_mode_stricter() {
    let world = working();
    world.write("project/.agent/config.json", r#"{"mode": "read-only"}"#);
    run(&world, "--mode contained");
    assert_eq!(codes(&world)[1..3], ["ToolNotAllowed", "ToolNotAllowed"]);
    let world = working();
    world.write("project/.agent/config.json", r#"{"mode": "contained"}"#);
    let seen = run(&world, "");
    assert!(
        seen.contains("a project may only tighten it") && seen.contains("to allow it, run"),
        "{seen}"
    );
    let world = working();
    world.write("home/.agent/config.json", r#"{"mode": "read-only"}"#);
    world.write("project/.agent/config.json", r#"{"mode": "ask"}"#);
    run(&world, "");
    assert_eq!(codes(&world)[1..3], ["ToolNotAllowed", "ToolNotAllowed"]);
}

/// A model that answers with a plan, and carries it out once it is approved.
fn planning() -> World {
    plain(&[command("echo too early"), answer("1. make b"), write("b", "new\n"), answer("done")])
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_plan_waits_for_approval_and_is_carried_out() {
    let world = planning();
    let seen = run(&world, "--mode plan");
    assert!(seen.contains("1. make b") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert_eq!(codes(&world), ["ToolNotAllowed"]);
    assert!(!world.path("project/b").exists());
    let seen = resume(&world, "--answer ask --apply");
    assert_eq!(seen, "done\n");
    assert_eq!(world.read("project/b"), "new\n");
    assert_sound(&world);
}

#[test]
fn a_plan_that_is_not_approved_is_made_anew() {
    let world = plain(&[answer("1. delete everything"), answer("2. look around"), answer("done")]);
    run(&world, "--mode plan");
    let seen = resume(&world, "--answer 'no, only look'");
    assert!(seen.contains("2. look around") && seen.ends_with("[exit 3]\n"), "{seen}");
    assert_sound(&world);
}

#[test]
fn a_plan_is_the_answer_where_nobody_answers_questions() {
    let world = plain(&[answer("1. make b")]);
    assert_eq!(run(&world, "--mode plan --no-questions"), "1. make b\n");
    assert_sound(&world);
}
