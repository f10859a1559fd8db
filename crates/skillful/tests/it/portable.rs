//! A build for a system without the sandbox: no script runs, and everything else works.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

const MISSING: &str = "the sandbox is not available: it needs Landlock, seccomp and namespaces of Linux, and this program was built for another system";

/// A skill whose script leaves a trace, and a model that runs it.
fn world() -> World {
    let world = World::new();
    world.skill("home/.agent/skills/tracer", "Leaves a trace.");
    let trace = world.path("trace");
    let script = format!("#!/bin/sh\necho ran > {}\n", trace.display());
    world.write("home/.agent/skills/tracer/scripts/run.sh", script);
    let act = |kind: &str, payload: Value| json!({"action": {"type": kind, "payload": payload}});
    let turns = json!({"turns": [
        act("select_skills", json!({"skills": ["tracer"], "reason": "fits"})),
        act("run_script", json!({"skill": "tracer", "relative_path": "scripts/run.sh", "args": []})),
        act("final_answer", json!({"content": "done"})),
    ]});
    world.write("project/turns.json", turns.to_string());
    world
}

#[test]
fn no_script_runs_and_the_model_is_told_what_is_missing() {
    for mode in ["required", "best-effort", "off"] {
        let world = world().with("SKILLFUL_EXECUTION_SANDBOX", mode);
        assert!(world.run("skillful run -q --yes --model scripted:turns.json x").contains("done"));
        let events = world.json("skillful runs show last --json");
        let observed = |event: &&Value| event["type"] == "observation_recorded";
        let last = events.as_array().unwrap().iter().rfind(observed).unwrap();
        assert_eq!(last["data"]["code"], "SandboxUnavailable", "{mode}");
        assert!(events.to_string().contains(MISSING), "{mode}: {events}");
        assert!(!world.path("trace").exists(), "{mode}");
    }
}

#[test]
fn a_question_says_that_nothing_would_run() {
    let seen = world().run("skillful run -q --model scripted:turns.json x");
    assert!(seen.contains(&format!("cannot run sh: {MISSING}")), "{seen}");
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
}

#[test]
fn a_request_that_needs_a_script_is_answered_with_what_is_missing_and_the_steps() {
    let world = World::new();
    world.write("project/sales.csv", "region,amount\nnorth,10\n");
    let seen = world.run("skillful run -q --yes 'Summarise sales.csv'");
    assert!(seen.contains("SandboxUnavailable") && seen.contains(MISSING), "{seen}");
    assert!(seen.contains("You can do it yourself."), "{seen}");
}

#[test]
fn the_doctor_says_that_scripts_do_not_run() {
    assert_snapshot!(World::new().run("skillful doctor | grep -A 1 sandbox"), @"
    warning  sandbox: scripts do not run: the sandbox is not available: it needs Landlock, seccomp and namespaces of Linux, and this program was built for another system
             run scripts with a build for Linux; no setting runs them here
    ");
    assert_eq!(World::new().json("skillful doctor --json")["ok"], true);
}

#[test]
fn skills_are_listed_found_and_used() {
    let world = World::new();
    world.skill("home/.agent/skills/tea", "How to brew green tea, oolong and sencha.");
    let text = world.read("home/.agent/skills/tea/SKILL.md") + "\nBrew sencha at 70 degrees.\n";
    world.write("home/.agent/skills/tea/SKILL.md", text);
    let names = |document: Value, list: &str| -> Vec<String> {
        let named = document[list].as_array().unwrap().iter();
        named.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(world.json("skillful list --json"), "skills").contains(&"tea".to_owned()));
    assert_eq!(names(world.json("skillful search --json 'brew sencha'"), "hits")[0], "tea");
    let seen = world.run("skillful run -q --skill tea 'Brew some sencha'");
    assert!(seen.contains("70 degrees"), "{seen}");
    assert!(world.run("skillful runs verify last").starts_with("intact"));
}

#[test]
fn packs_are_made_and_installed() {
    let world = World::new();
    world.skill("project/tea", "How to brew tea.");
    world.run("skillful pack tea -o tea.zip");
    assert!(world.run("skillful verify tea.zip").contains("intact"));
    world.run("skillful install tea.zip");
    assert!(world.path("home/.agent/skills/tea/SKILL.md").exists());
    world.skill("project/tea", "How to brew more tea.");
    world.run("skillful pack tea -o newer.zip && skillful install newer.zip --force");
    assert!(world.read("home/.agent/skills/tea/SKILL.md").contains("more tea"));
    assert!(world.run("skillful verify tea --scope user").contains("intact"));
}

#[test]
fn evals_run_with_a_scripted_model() {
    let world = World::new();
    world.skill("home/.agent/skills/tea", "How to brew tea.");
    world.run("skillful trust project --author && skillful eval new tea --mock");
    let seen = world.run("skillful eval run -q");
    assert!(seen.contains("1 of 1 case passed"), "{seen}");
}

#[test]
fn other_agents_get_skills_over_mcp() {
    let world = World::new();
    world.skill("home/.agent/skills/tea", "How to brew tea.");
    let said = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "skill", "arguments": {"name": "tea"}}}),
    ];
    world.write("said", said.map(|line| line.to_string() + "\n").concat());
    let heard = world.run("skillful mcp < ../said");
    assert!(heard.contains("[Skill: tea") && heard.contains("# tea"), "{heard}");
}
