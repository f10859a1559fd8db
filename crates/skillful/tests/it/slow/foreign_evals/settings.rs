//! What a case says tightens the user's settings and never loosens them.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::{answers, case, clone, is_untouched, runs_the_script, suite, trusting};
use crate::turns::{answer, turns, write};
use crate::world::World;

/// What a hostile case says, and the key that the refusal names.
fn hostile(address: &str, world: &World) -> Vec<(Value, &'static str)> {
    let touch = json!(["touch", world.path("home/touched")]);
    vec![
        (json!({"config": {"execution": {"sandbox": "off"}}}), "execution"),
        (json!({"config": {"execution": {"sandbox": "best-effort"}}}), "execution"),
        (json!({"config": {"execution": {"interpreters": {"sh": touch}}}}), "execution"),
        (json!({"config": {"execution": {"network_hosts": ["example.com"]}}}), "execution"),
        (json!({"config": {"execution": {"private_hosts": ["10.0.0.1"]}}}), "execution"),
        (json!({"config": {"execution": {"timeout_seconds": 1}}}), "execution"),
        (json!({"config": {"execution": {}}}), "execution"),
        (json!({"config": {"model": "openai:m"}}), "model"),
        (json!({"config": {"model": {"base_url": address}}}), "model"),
        (json!({"config": {"model": {"base_url": address, "api_key_env": "SECRET_KEY"}}}), "model"),
        (json!({"config": {"model": {"api_key_command": touch}}}), "model"),
        (json!({"config": {"model": {"headers": {"x": "y"}}}}), "model"),
        (json!({"config": {"model": {"params": {"n": 128}}}}), "model"),
        (json!({"config": {"model": {"ca_file": "/etc/hostname"}}}), "model"),
        (json!({"config": {"permissions": {"run_script": "allow"}}}), "permissions.run_script"),
        (json!({"config": {"permissions": {"*": "allow"}}}), "permissions.*"),
        (
            json!({"config": {"permissions": {"network_request": "allow"}}}),
            "permissions.network_request",
        ),
        (
            json!({"config": {"permissions": {"apply_changes": "allow"}}}),
            "permissions.apply_changes",
        ),
        (json!({"config": {"mode": "contained"}}), "mode"),
        (json!({"config": {"permissions": {"network": {"*": "allow"}}}}), "permissions.network"),
        (json!({"config": {"profiles": {"x": {"run_script": "allow"}}}}), "profiles.x.run_script"),
        (json!({"config": {"trust": {"projects": "all"}}}), "trust.projects"),
        (json!({"config": {"security": {"visible_files": [".env"]}}}), "security.visible_files"),
        (
            json!({"config": {"security": {"max_skill_body_lines": 1_000_000}}}),
            "security.max_skill_body_lines",
        ),
        (json!({"config": {"budget": {"max_turns": 1_000}}}), "budget.max_turns"),
        (json!({"config": {"audit": {"store_prompts": true}}}), "audit.store_prompts"),
        (json!({"config": {"install": {"verify_on_load": "off"}}}), "install.verify_on_load"),
        (json!({"config": {"skill_roots": ["/"]}}), "skill_roots"),
        (json!({"approve": ["network_request"]}), "approve: network_request"),
        (json!({"approve": ["network:*"]}), "approve: network:*"),
        (json!({"approve": ["install"]}), "approve: install"),
        (json!({"approve": ["*"]}), "approve: *"),
    ]
}

#[test]
fn a_case_cannot_loosen_anything() {
    let world = trusting(clone()).with("SECRET_KEY", "the-users-secret-key");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "deny"}}"#);
    for (setup, key) in hostile(&address, &world) {
        let mut whole = json!({"skill_roots": ["skills"], "yes": true});
        whole.as_object_mut().unwrap().extend(setup.as_object().unwrap().clone());
        suite(&world, &case("bad", whole, runs_the_script()));
        for command in ["eval run", "eval run --model openai:m", "eval run --dry-run"] {
            let output = world.output(&format!("skillful --json {command}"));
            let refused: Value = serde_json::from_slice(&output.stdout).unwrap();
            let error = &refused["error"];
            assert_eq!(error["code"], "CaseTooLoose", "{setup}: {refused}");
            assert_eq!(output.status.code(), Some(4), "{setup}");
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains("`s/bad`") && message.contains(&format!("`{key}")),
                "{message}"
            );
        }
        assert!(!world.path("project/.agent/eval-runs").exists(), "{setup}: something was begun");
        assert!(!world.path("home/touched").exists(), "{setup}: a command was run");
        assert!(is_untouched(&world), "{setup}");
        let called = listener.accept();
        assert!(
            matches!(&called, Err(e) if e.kind() == ErrorKind::WouldBlock),
            "{setup}: {called:?}"
        );
    }
    insta::assert_snapshot!({
        suite(&world, &case("bad", json!({"config": {"execution": {"sandbox": "off"}}}), answers()));
        world.run("skillful eval run")
    }, @"
    [stderr]
    error: the case `s/bad` may not set `execution`: only you may set it
    hint: a case can only make settings stricter; remove this from [world]/project/.agent/evals/s.json
    [exit 4]
    ");
}

#[test]
fn a_case_tightens() {
    let world = trusting(clone());
    let setup = |config: Value| json!({"skill_roots": ["skills"], "yes": true, "config": config});
    let denied = json!({"error_codes": ["ToolNotAllowed"], "action_sequence_constraints": [{"forbid": "run_script"}]});
    for (config, expect) in [
        (json!({"permissions": {"run_script": "deny"}}), &denied),
        (json!({"permissions": {"run_script": {"*": "deny", "other/*": "ask"}}}), &denied),
        (
            json!({"permissions": {"skill": {"tool": "deny"}}}),
            &json!({"error_codes": ["SkillNotFound"]}),
        ),
        (json!({"budget": {"max_turns": 1}}), &json!({"stop_reason": "max_turns"})),
    ] {
        let mut case = case("strict", setup(config.clone()), runs_the_script());
        case["expect"] = expect.clone();
        suite(&world, &case);
        assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n", "{config}");
        // The user's own, looser word does not take it back.
        world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "allow", "skill": "allow"}, "budget": {"max_turns": 39}}"#);
        assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n", "{config}");
        fs::remove_file(world.path("home/.agent/config.json")).unwrap();
    }
}

#[test]
fn the_users_denials_bind_every_case() {
    let ran = json!({"action_sequence_constraints": [{"must_occur": "run_script"}]});
    let denied = json!({"error_codes": ["ToolNotAllowed"], "action_sequence_constraints": [{"forbid": "run_script"}]});
    let asked = json!({"stop_reason": "approval_required", "action_sequence_constraints": [{"forbid": "run_script"}]});
    let (yes, approve, all) = (
        json!({"yes": true}),
        json!({"approve": ["run_script:tool/scripts/go.sh"]}),
        json!({"approve": ["run_script"]}),
    );
    for (rules, setup, expect) in [
        (json!({}), &yes, &ran),
        (json!({}), &approve, &ran),
        (json!({}), &json!({}), &asked),
        (json!({"run_script": "deny"}), &yes, &denied),
        (json!({"run_script": "deny"}), &approve, &denied),
        (json!({"run_script": "deny"}), &all, &denied),
        (json!({"*": "deny", "skill": "allow"}), &all, &denied),
        (json!({"run_script": {"tool/*": "deny"}}), &all, &denied),
        (json!({"run_script": {"other/*": "deny"}}), &approve, &ran),
        (json!({"run_script": {"*": "deny", "tool/*": "allow"}}), &approve, &ran),
        (json!({"run_script": {"*": "deny", "tool/*": "ask"}}), &yes, &ran),
        // What the user lets through is no part of a suite's result.
        (json!({"run_script": "allow"}), &json!({}), &asked),
        (json!({"run_script": "ask"}), &approve, &ran),
        (json!({"skill": {"tool": "deny"}}), &yes, &json!({"error_codes": ["SkillNotFound"]})),
    ] {
        let world = trusting(clone());
        let mut whole = json!({"skill_roots": ["skills"]});
        whole.as_object_mut().unwrap().extend(setup.as_object().unwrap().clone());
        let mut case = case("bound", whole, runs_the_script());
        case["expect"] = expect.clone();
        suite(&world, &case);
        world.write("project/turns.json", runs_the_script().to_string());
        world.write("home/.agent/config.json", json!({"permissions": rules}).to_string());
        for model in ["", "--model scripted:turns.json"] {
            let seen = world.run(&format!("skillful eval run -q {model}"));
            assert_eq!(seen, "1 of 1 case passed\n", "{rules} {setup} {model}");
        }
        fs::remove_file(world.path("home/.agent/config.json")).unwrap();
        let seen = world.run(&format!("SKILLFUL_PERMISSIONS='{rules}' skillful eval run -q"));
        assert_eq!(seen, "1 of 1 case passed\n", "{rules} {setup} from the environment");
        assert!(is_untouched(&world));
    }
}

#[test]
fn a_tool_that_the_user_denies_is_not_turned_on_by_an_approval() {
    for (rules, wrote) in [
        (json!({}), true),
        // What the user wants to be asked about, nobody approves for them.
        (json!({"write_file": "ask"}), false),
        (json!({"write_file": "deny"}), false),
        (json!({"write_file": {"*.txt": "deny"}}), false),
        (json!({"*": "deny"}), false),
    ] {
        let world = trusting(World::new());
        let mut case = case(
            "write",
            json!({"approve": ["write_file:notes.txt"]}),
            turns(&[write("notes.txt", "x"), answer("done")]),
        );
        case["expect"] = json!({"files": [{"path": "notes.txt", "exists": wrote}]});
        suite(&world, &case);
        world.write("home/.agent/config.json", json!({"permissions": rules}).to_string());
        assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n", "{rules}");
    }
}

#[test]
fn settings_among_the_inputs_of_a_case_are_files_and_nothing_else() {
    let world = trusting(World::new());
    let folder = "project/.agent/evals/suite/one";
    world.write(&format!("{folder}/case.json"), case("one", json!({}), answers()).to_string());
    world.write(&format!("{folder}/inputs/.agent/config.json"), "{ no settings");
    assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n");
}

/// The head of the one request that a server gets, which it does not answer.
fn head(listener: TcpListener) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = Vec::new();
        let mut block = [0; 1024];
        while !text.windows(4).any(|end| end == b"\r\n\r\n") {
            let read = stream.read(&mut block).unwrap();
            assert_ne!(read, 0, "the request ends");
            text.extend_from_slice(&block[..read]);
        }
        String::from_utf8_lossy(&text).to_lowercase()
    })
}

#[test]
fn with_a_model_the_users_key_goes_to_the_users_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let world = trusting(World::new())
        .with("MY_KEY", "the-users-own-key")
        .with("SKILLFUL_MODEL_MAX_RETRIES", "0");
    suite(&world, &case("ask", json!({}), answers()));
    let model = json!({"model": {"base_url": address, "api_key_env": "MY_KEY"}});
    world.write("home/.agent/config.json", model.to_string());
    // What the project says about it is not handed on.
    world.write("project/.agent/config.json", r#"{"model": {"params": {"from_the_project": 1}}}"#);
    let head = head(listener);
    let seen = world.run("skillful eval run -q --model openai:m");
    assert!(seen.ends_with("[exit 1]\n"), "nobody answered: {seen}");
    let head = head.join().unwrap();
    assert!(head.starts_with("post /v1/") && head.contains("bearer the-users-own-key"), "{head}");
}

#[test]
fn the_users_other_walls_stand_in_every_case() {
    for (settings, setup, expect) in [
        (
            json!({"execution": {"require_approval_for": ["run_script"]}}),
            json!({"approve": ["run_script"]}),
            json!({"stop_reason": "approval_required"}),
        ),
        (json!({"execution": {"max_arguments": 0}}), json!({"yes": true}), json!({})),
        (
            json!({"security": {"max_skill_body_chars": 2, "oversize_skill_body": "reject"}}),
            json!({"yes": true}),
            json!({"error_codes": ["BodyTooLarge"]}),
        ),
        (
            json!({"budget": {"max_turns": 1}}),
            json!({"yes": true}),
            json!({"stop_reason": "max_turns"}),
        ),
    ] {
        let world = trusting(clone());
        let mut whole = json!({"skill_roots": ["skills"]});
        whole.as_object_mut().unwrap().extend(setup.as_object().unwrap().clone());
        let mut case = case("bound", whole, runs_the_script());
        case["expect"] = expect.clone();
        case["constraints"] = json!({"max_turns": 30});
        suite(&world, &case);
        world.write("home/.agent/config.json", settings.to_string());
        assert_eq!(world.run("skillful eval run -q"), "1 of 1 case passed\n", "{settings}");
    }
}

#[test]
fn a_case_runs_in_the_sandbox_whatever_the_user_does_without() {
    let world = trusting(clone());
    suite(&world, &case("go", json!({"skill_roots": ["skills"], "yes": true}), runs_the_script()));
    world.write("project/turns.json", runs_the_script().to_string());
    world.write("home/.agent/config.json", r#"{"execution": {"sandbox": "off"}}"#);
    for line in [
        "skillful eval run -q",
        "skillful eval run -q --model scripted:turns.json",
        "SKILLFUL_EXECUTION_SANDBOX=off skillful eval run -q --model scripted:turns.json",
    ] {
        assert_eq!(world.run(line), "1 of 1 case passed\n", "{line}");
        assert!(is_untouched(&world), "{line}");
    }
}
