//! `skillful run` and `skillful runs`

#![allow(clippy::unwrap_used, reason = "a failed step of a test is the test's failure")]

mod world;

use serde_json::{Value, json};

use world::World;

fn sales() -> World {
    let world = World::new();
    world.write("project/sales.csv", "region,amount\nnorth,10\nsouth,20\nnorth,5\n");
    world
}

/// A world with a script for the model.
fn scripted(turns: Value) -> World {
    let world = World::new();
    world.write("project/turns.json", json!({"turns": turns}).to_string());
    world
}

fn answer(content: &str) -> Value {
    json!({"action": {"type": "final_answer", "payload": {"content": content}}})
}

fn act(kind: &str, payload: Value) -> Value {
    json!({"action": {"type": kind, "payload": payload}})
}

fn call(tool: &str, params: Value) -> Value {
    json!({"action": {"type": "call_tool", "payload": {"tool": tool, "params": params}}})
}

/// Types of the recorded events of the last run.
fn kinds(world: &World) -> Vec<String> {
    let events = world.json("skillful runs show last --json");
    events
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}

/// Codes of what the model observed in the last run.
fn codes(world: &World) -> Vec<Value> {
    let events = world.json("skillful runs show last --json");
    let observed =
        events.as_array().unwrap().iter().filter(|event| event["type"] == "observation_recorded");
    observed.map(|event| event["data"]["code"].clone()).collect()
}

#[test]
fn a_fresh_user_gets_an_answer_without_any_key() {
    let world = sales();
    let seen = world.run("skillful run --yes \"Summarise sales.csv\"");
    assert!(
        seen.contains("- Rows: 3") && seen.contains("| `amount` | 5 | 20 | 11.6667 | 35 |"),
        "{seen}"
    );
    assert!(!seen.contains("[exit"), "{seen}");
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn without_a_person_a_script_is_refused_and_the_shown_command_allows_it() {
    let world = sales();
    let refused = world.run("skillful run \"Summarise sales.csv\"");
    assert!(refused.contains("--approve run_script:csv-report/scripts/report.sh"), "{refused}");
    assert!(refused.ends_with("[exit 3]\n"), "{refused}");
    let blocked = world.json("skillful run --json \"Summarise sales.csv\"");
    assert_eq!(
        (&blocked["status"], &blocked["stop_reason"]),
        (&json!("blocked"), &json!("approval_required"))
    );
    assert_eq!(blocked["approval"]["risk"], "medium");
    let allowed = world.run(blocked["approval"]["replay"].as_str().unwrap());
    assert!(allowed.contains("final_answer") && allowed.contains("Rows: 3"), "{allowed}");
}

#[test]
fn a_run_that_waits_for_an_approval_goes_on_when_it_is_there() {
    let world = sales();
    let run = world.json("skillful run --json \"Summarise sales.csv\"")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let resumed = world.run(&format!("skillful run --resume {run} --yes"));
    assert!(resumed.contains("- Rows: 3"), "{resumed}");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
    let again = world.run(&format!("skillful run --resume {run} --yes"));
    assert!(again.contains("is finished") && again.ends_with("[exit 1]\n"), "{again}");
}

#[test]
fn a_denied_script_never_runs() {
    let world = sales();
    world.run("skillful run --yes --deny run_script \"Summarise sales.csv\"");
    assert!(!kinds(&world).contains(&"approval_required".to_owned()));
    assert_eq!(codes(&world)[1], "ToolNotAllowed");
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "deny"}}"#);
    world.run("skillful run --yes \"Summarise sales.csv\"");
    assert_eq!(
        codes(&world)[1],
        "ToolNotAllowed",
        "a yes to everything is not a yes to what is denied"
    );
}

#[test]
fn a_link_to_a_denied_script_is_denied() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": ["s"], "reason": ""})),
        act("run_script", json!({"skill": "s", "relative_path": "scripts/bad.sh", "args": []})),
        act("run_script", json!({"skill": "s", "relative_path": "scripts/link.sh", "args": []})),
        answer("ok")
    ]));
    world.skill("home/.agent/skills/s", "S.");
    world.write("home/.agent/skills/s/scripts/bad.sh", "echo ran\n");
    world.link("home/.agent/skills/s/scripts/link.sh", "bad.sh");
    let rules = r#"{"permissions": {"run_script": {"*": "allow", "*/scripts/bad.sh": "deny"}}}"#;
    world.write("home/.agent/config.json", rules);
    world.run("skillful run --model scripted:turns.json x");
    assert_eq!(codes(&world), [Value::Null, json!("ToolNotAllowed"), json!("ToolNotAllowed")]);
}

#[test]
fn what_a_project_wants_to_be_asked_about_stays_denied_where_the_user_denies_it() {
    let world = sales();
    let project = r#"{"execution": {"require_approval_for": ["run_script"]}}"#;
    world.write("project/.agent/config.json", project);
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "deny"}}"#);
    world.run("skillful run --yes \"Summarise sales.csv\"");
    assert_eq!(codes(&world)[1], "ToolNotAllowed");
    world.write("home/.agent/config.json", r#"{"permissions": {"run_script": "allow"}}"#);
    let asked = world.run("skillful run \"Summarise sales.csv\"");
    assert!(asked.ends_with("[exit 3]\n"), "{asked}");
    world.write("project/.agent/config.json", project.replace("run", "rnu"));
    let misspelt = world.run("skillful run --yes \"Summarise sales.csv\"");
    assert!(misspelt.contains("did you mean `run_script`?"), "{misspelt}");
    assert!(misspelt.ends_with("[exit 2]\n"), "{misspelt}");
}

#[test]
fn rules_of_the_environment_count_after_the_users() {
    let outcome = |user: &str, variable: (&str, &str), flags: &str| {
        let world = sales().with(variable.0, variable.1);
        world.write("home/.agent/config.json", user);
        let seen = world.run(&format!("skillful run {flags} \"Summarise sales.csv\""));
        (codes(&world).get(1).cloned(), seen.ends_with("[exit 3]\n"))
    };
    let denied = (Some(json!("ToolNotAllowed")), false);
    let asked = (None, true);
    let ran = (Some(Value::Null), false);
    let (allow, deny) =
        (r#"{"permissions": {"run_script": "allow"}}"#, r#"{"run_script": "deny"}"#);
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", deny), "--yes"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PERMISSIONS", deny), "--yes"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PERMISSIONS", r#"{"run_script": "ask"}"#), ""), asked);
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", r#"{"run_script": "allow"}"#), ""), ran);
    // In the order in which they are written, which is not that of the alphabet.
    let ordered = r#"{"run_script": {"csv-*": "deny", "*": "allow"}}"#;
    assert_eq!(outcome("{}", ("SKILLFUL_PERMISSIONS", ordered), ""), ran);
    let profiles = r#"{"readonly": {"run_script": "deny"}}"#;
    assert_eq!(outcome(allow, ("SKILLFUL_PROFILES", profiles), "--profile readonly"), denied);
    assert_eq!(outcome(allow, ("SKILLFUL_PROFILES", profiles), ""), ran);
}

#[test]
fn a_pipe_gets_the_answer_and_nothing_else() {
    let world = scripted(json!([answer("four\n")]));
    assert_eq!(world.run("skillful run --model scripted:turns.json \"2 + 2\""), "four\n");
    assert_eq!(
        world.read(&format!("project/.agent/runs/{}/final.md", last(&world))).trim(),
        "four"
    );
}

fn last(world: &World) -> String {
    world.json("skillful runs list --json")["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

#[test]
fn events_are_json_lines_in_a_chain() {
    let world = scripted(json!([answer("done")]));
    let lines = world.output("skillful run --events --model scripted:turns.json x").stdout;
    let lines = String::from_utf8(lines).unwrap();
    let events: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events.first().unwrap()["type"], "run_started");
    assert_eq!(events.last().unwrap()["type"], "run_finished");
    // A piece of the answer is shown after the event before it, and is not stored.
    let (pieces, stored): (Vec<&Value>, Vec<&Value>) =
        events.iter().partition(|event| event["type"] == "assistant_delta");
    assert_eq!(pieces.iter().map(|piece| &piece["data"]["content"]).collect::<Vec<_>>(), ["done"]);
    for (place, event) in stored.iter().enumerate() {
        assert_eq!(event["seq"], place as u64 + 1);
        assert_eq!(event["prev"].as_str().unwrap().is_empty(), place == 0);
    }
}

#[test]
fn a_changed_record_is_found_with_exit_code_4() {
    let world = scripted(json!([answer("done")]));
    world.run("skillful run --model scripted:turns.json x");
    let run = last(&world);
    let events = format!("project/.agent/runs/{run}/events.jsonl");
    world.write(&events, world.read(&events).replace("\"done\"", "\"gone\""));
    let seen = world.run(&format!("skillful runs verify {run}"));
    assert!(seen.starts_with("changed") && seen.ends_with("[exit 4]\n"), "{seen}");
}

#[test]
fn a_written_file_can_be_restored() {
    let write = |text: &str| call("write_file", json!({"path": "note.txt", "content": text}));
    let world = scripted(json!([write("two"), write("three"), answer("done")]));
    world
        .write("project/note.txt", "one")
        .write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let run = "skillful run --approve write_file:note.txt --model scripted:turns.json x";
    world.run(run);
    assert_eq!(world.read("project/note.txt"), "three");
    world.run("skillful runs undo last --dry-run");
    assert_eq!(world.read("project/note.txt"), "three");
    world.run("skillful runs undo last");
    assert_eq!(world.read("project/note.txt"), "one");
    world.run(run);
    world.write("project/note.txt", "mine");
    let refused = world.run("skillful runs undo last");
    assert!(refused.ends_with("[exit 1]\n"), "{refused}");
    assert_eq!(world.read("project/note.txt"), "mine");
}

#[test]
fn tools_that_are_off_are_not_offered_and_not_done() {
    let world =
        scripted(json!([call("write_file", json!({"path": "a", "content": "b"})), answer("ok")]));
    world.run("skillful run --yes --model scripted:turns.json x");
    assert_eq!(codes(&world), ["ToolNotAllowed"]);
    assert!(!world.path("project/a").exists());
}

#[test]
fn a_skill_that_is_hidden_untrusted_or_denied_cannot_be_told_from_none() {
    let select = |name: &str| json!({"action": {"type": "select_skills", "payload": {"skills": [{"name": name}], "reason": ""}}});
    let world = scripted(json!([
        select("secret"),
        select("theirs"),
        select("denied"),
        select("none"),
        answer("ok")
    ]));
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: S.\ndisable-model-invocation: true\n---\n",
    );
    world
        .skill("project/.agent/skills/theirs", "Theirs.")
        .skill("home/.agent/skills/denied", "Denied.");
    world.write("home/.agent/config.json", r#"{"permissions": {"skill": {"denied": "deny"}}}"#);
    world.run("skillful run --model scripted:turns.json x");
    assert_eq!(codes(&world), ["SkillNotFound"; 4]);
    let catalog = world.read(&format!("project/.agent/runs/{}/inputs/catalog.txt", last(&world)));
    for name in ["secret", "theirs", "denied"] {
        assert!(!catalog.contains(name), "{catalog}");
    }
}

#[test]
fn a_user_reaches_a_hidden_skill_but_not_an_untrusted_one() {
    let world = scripted(json!([answer("ok")]));
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: S.\ndisable-model-invocation: true\n---\n",
    );
    world.skill("project/.agent/skills/theirs", "Theirs.");
    let chosen = world.json("skillful run --json --model scripted:turns.json \"/secret do it\"");
    assert_eq!(chosen["skills"], json!(["secret"]));
    for (line, expected) in [
        (
            "--skill theirs x",
            "error: the skill `theirs` comes from a project: you have not trusted it yet",
        ),
        (
            "'/theirs x'",
            "error: the skill `theirs` comes from a project: you have not trusted it yet",
        ),
        ("--skill secert x", "error: Skill 'secert' not found.\nhint: did you mean `secret`?"),
        ("'/secert x'", "error: Skill 'secert' not found.\nhint: did you mean `secret`?"),
    ] {
        let seen =
            world.run(&format!("skillful run --model scripted:turns.json {line} 2>&1; echo $?"));
        assert!(seen.starts_with(expected), "{line}: {seen}");
        assert!(seen.ends_with(if line.contains("theirs") { "4\n" } else { "1\n" }), "{seen}");
    }
    assert_eq!(world.run("ls .agent/runs | wc -l"), "1\n", "nothing was begun");
    for path in ["/tmp/x.csv what is in it", "/etc what is in it", "/. x"] {
        let line = format!("skillful run --json --model scripted:turns.json '{path}'");
        let is_path = path != "/etc what is in it";
        assert_eq!(world.run(&line).contains("\"completed\""), is_path, "{path}");
    }
}

#[test]
fn a_run_is_gone_on_with_and_taken_back_where_it_worked() {
    let world =
        scripted(json!([call("write_file", json!({"path": "a", "content": "new"})), answer("ok")]));
    world.write("project/.git/HEAD", "").write("project/a", "root").write("project/sub/a", "sub");
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    world.run("cp turns.json sub");
    let run = "skillful run --approve write_file --model scripted:turns.json x";
    world.run(&format!("cd sub && {run}"));
    assert_eq!(world.read("project/sub/a"), "new");
    let elsewhere = world.run("skillful runs undo last 2>&1; echo $?");
    assert!(elsewhere.contains("worked in `") && elsewhere.ends_with("4\n"), "{elsewhere}");
    assert_eq!(world.read("project/a"), "root");
    let imagined = world.run("cd sub && echo mine > a && skillful runs undo last --dry-run; cat a");
    assert_eq!(imagined, "left  `a` has been changed since\nmine\n");
    world.run("cd sub && printf new > a && skillful runs undo last");
    assert_eq!(world.read("project/sub/a"), "sub");
    world.run("cd sub && skillful run --model scripted:turns.json x");
    let resumed = world.run("skillful run --resume last --approve write_file 2>&1; echo $?");
    assert!(resumed.contains("worked in `") && resumed.ends_with("4\n"), "{resumed}");
    // Another model than before goes on only where it is named.
    let resumed =
        world.run("cd sub && skillful run --resume last --approve write_file 2>&1; echo $?");
    assert!(resumed.contains("used scripted:turns.json; now it would use offline"), "{resumed}");
    assert!(
        resumed.contains("--model scripted:turns.json") && resumed.ends_with("4\n"),
        "{resumed}"
    );
    assert_eq!(world.read("project/sub/a"), "sub");
    let named = "skillful run -q --resume last --model scripted:turns.json --approve write_file";
    let resumed = world.run(&format!("cd sub && {named}"));
    assert_eq!((resumed.as_str(), world.read("project/sub/a").as_str()), ("ok\n", "new"));
    assert_eq!(world.read("project/a"), "root");
}

#[test]
fn what_a_kill_at_the_very_end_left_out_is_written_when_the_run_is_taken_up() {
    let world = scripted(json!([answer("the answer")]));
    world.run("skillful run --model scripted:turns.json x && rm .agent/runs/*/final.md .agent/runs/*/run.json");
    let seen = world.run("skillful run --resume last");
    assert!(seen.contains("is finished") && seen.ends_with("[exit 1]\n"), "{seen}");
    assert_eq!(world.run("cat .agent/runs/*/final.md"), "the answer");
    assert!(world.run("cat .agent/runs/*/run.json").contains("\"stop_reason\": \"final_answer\""));
    assert!(world.run("skillful runs verify last").starts_with("intact, made here"));
}

#[test]
fn of_two_skills_with_one_name_the_selected_one_is_used() {
    let world = scripted(json!([
        act(
            "select_skills",
            json!({"skills": [{"name": "twin", "source": "user"}, {"name": "twin", "source": "user"}], "reason": ""})
        ),
        act("run_script", json!({"skill": "twin", "relative_path": "scripts/s.sh", "args": []})),
        answer("ok")
    ]));
    for (root, says) in [("home/.agent/skills", "USER"), ("more", "EXPLICIT")] {
        world.skill(&format!("{root}/twin"), "Twin.");
        world.write(&format!("{root}/twin/scripts/s.sh"), format!("#!/bin/sh\necho {says}\n"));
    }
    world.run("skillful --root ../more run --yes --model scripted:turns.json x");
    let events = world.run("cat .agent/runs/*/events.jsonl");
    assert!(events.contains("USER") && !events.contains("EXPLICIT"), "{events}");
    assert_eq!(kinds(&world).iter().filter(|kind| *kind == "skill_loaded").count(), 1);
}

#[test]
fn bodies_from_the_start_are_those_that_rules_allow_and_the_context_holds() {
    let world = scripted(json!([answer("ok")]));
    world.write(
        "home/.agent/config.json",
        r#"{"disclosure": "core", "permissions": {"skill": {"private-*": "ask"}}, "budget": {"max_context_chars": 9000}, "audit": {"store_prompts": true}}"#,
    );
    for (name, body) in
        [("open", "OPEN"), ("private-one", "PRIVATE"), ("long", &"LONG ".repeat(2_000))]
    {
        world.write(
            &format!("more/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: D.\n---\n{body}\n"),
        );
    }
    world.run("skillful --root ../more --source explicit run --model scripted:turns.json x");
    let events =
        world.run("cat .agent/runs/*/events.jsonl .agent/runs/*/observations/* 2>/dev/null");
    assert!(events.contains("OPEN") && !events.contains("PRIVATE"), "{events}");
    let disclosed = r#""disclosure":{"core":["open"],"metadata":["long","private-one"]}"#;
    assert!(events.contains(disclosed), "{events}");
}

#[test]
fn secrets_reach_neither_the_record_nor_the_answer() {
    let key = "sk-proj-q8Zr4LmT0vXy2NcB7dKw9PfGh3Js";
    let world = scripted(json!([
        call("read_file", json!({"path": "notes.txt"})),
        call("read_file", json!({"path": "long.txt"})),
        answer("ok")
    ]));
    world.write("project/notes.txt", format!("the key is {key}\n"));
    // Long enough to be kept whole beside the record.
    world.write("project/long.txt", format!("{}{key}\n", "a line of text\n".repeat(3_000)));
    world.run("skillful run --model scripted:turns.json \"look at notes.txt\"");
    let found = world.run(&format!("grep -rl {key} .agent || echo none"));
    assert_eq!(found, "none\n");
}

#[test]
fn prompts_are_recorded_only_where_the_configuration_says_so() {
    let said = answer("an answer of its own");
    let world = scripted(json!([call("list_dir", json!({"path": "."})), said]));
    // Words of the rules, and what the model wrote.
    let seen = |words: &str| {
        world.run(&format!("grep -rlF '{words}' .agent | sed 's/[^/]*_[^/]*_[^/]*/RUN/' | sort -u"))
    };
    let run = "skillful run -q --model scripted:turns.json go";
    world.run(run);
    assert_eq!(seen("exactly one JSON object"), "");
    assert_eq!(seen(r#"content\":\"an answer"#), "");
    world.write("home/.agent/config.json", r#"{"audit": {"store_prompts": true}}"#);
    world.run(run);
    assert_ne!(seen("exactly one JSON object"), "");
    assert_eq!(seen(r#"content\":\"an answer"#), ".agent/runs/RUN/events.jsonl\n");
    assert_eq!(world.run("skillful runs verify last | cut -c1-6"), "intact\n");
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn a_model_that_makes_no_sense_ends_in_an_answer_that_says_so() {
    let world = scripted(json!([{"text": "no"}, {"text": "{\"action\":"}, {"text": "[]"}]));
    let seen = world.run("skillful run --model scripted:turns.json x");
    assert!(seen.contains("could not be understood") && seen.ends_with("[exit 1]\n"), "{seen}");
    assert!(!kinds(&world).contains(&"action_planned".to_owned()));
}

#[test]
fn wrong_words_on_the_command_line_are_explained() {
    let world = World::new();
    for line in [
        "skillful run --model magic x",
        "skillful run --approve nonsense x",
        "skillful run --profile none x",
        "skillful run",
    ] {
        let seen = world.run(line);
        assert!(seen.ends_with("[exit 2]\n"), "{line}\n{seen}");
    }
    let misspelt = world.run("skillful run --deny run_scirpt x");
    assert!(misspelt.contains("did you mean `run_script`?"), "{misspelt}");
    let missing = world.run("skillful runs show 20200101_000000_none");
    assert!(missing.contains("there is no run") && missing.ends_with("[exit 1]\n"), "{missing}");
}

#[test]
fn an_approval_for_always_is_listed_and_can_be_revoked() {
    let world = World::new();
    assert!(world.run("skillful permissions list").contains("You approved nothing"));
    let grants = json!({"version": 1, "grants": [{"project": "/p", "permission": "run_script", "pattern": "a/scripts/b", "skill_hash": null}]});
    world.write("home/.agent/grants.json", grants.to_string());
    let listed = world.json("skillful permissions list --json");
    let id = listed["grants"][0]["id"].as_str().unwrap();
    assert!(world.run("skillful permissions revoke gr_000000000000").ends_with("[exit 1]\n"));
    world.run(&format!("skillful permissions revoke {id}"));
    assert_eq!(world.json("skillful permissions list --json")["grants"], json!([]));
}

#[test]
fn a_dry_run_of_pruning_says_so_and_leaves_everything() {
    let world = sales();
    let run = world.json("skillful run --json --yes \"Summarise sales.csv\"")["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let planned = world.run("skillful runs prune --older-than 0 --dry-run");
    assert_eq!(planned, format!("would remove  {run}\n[stderr]\n1 run would be removed.\n"));
    assert!(world.path(&format!("project/.agent/runs/{run}")).exists());
    let done = world.run("skillful runs prune --older-than 0");
    assert_eq!(done, format!("removed  {run}\n[stderr]\n1 run removed.\n"));
    assert!(!world.path(&format!("project/.agent/runs/{run}")).exists());
}

#[test]
fn a_variable_named_like_a_password_is_kept_out_of_the_record() {
    for name in ["DB_PASS", "PASS", "MY_PASSWD", "SMTP_PASSWORD", "GH_TOKEN"] {
        let world = sales().with(name, "horse-battery-9");
        world.run("skillful run --yes \"Summarise sales.csv with horse-battery-9\"");
        let record = world.run("cat .agent/runs/*/events.jsonl .agent/runs/*/texts/* 2>/dev/null");
        assert!(record.contains("[redacted") && !record.contains("horse-battery"), "{name}");
    }
    let world = sales().with("COMPASS", "horse-battery-9");
    world.run("skillful run --yes \"Summarise sales.csv with horse-battery-9\"");
    assert!(world.run("cat .agent/runs/*/events.jsonl").contains("horse-battery-9"));
}

#[test]
fn a_skill_that_is_not_for_users_is_refused_as_a_command() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": [{"name": "background"}]})),
        answer("ok")
    ]));
    world.write(
        "home/.agent/skills/background/SKILL.md",
        "---\nname: background\ndescription: B.\nuser-invocable: false\n---\n",
    );
    world.write(
        "home/.agent/skills/nobody/SKILL.md",
        "---\nname: nobody\ndescription: N.\nuser-invocable: false\ndisable-model-invocation: true\n---\n",
    );
    for (line, hint) in [
        (
            "--skill background x",
            "hint: describe your task without the skill's name; the model can choose it\n",
        ),
        (
            "'/background x'",
            "hint: describe your task without the skill's name; the model can choose it\n",
        ),
        (
            "--skill nobody x",
            "hint: nobody can choose this skill; change its `user-invocable` or `disable-model-invocation`\n",
        ),
    ] {
        let seen =
            world.run(&format!("skillful run --model scripted:turns.json {line} 2>&1; echo $?"));
        let message = "`: it says `user-invocable: false`\n";
        assert!(
            seen.starts_with("error: you cannot choose the skill `") && seen.contains(message),
            "{seen}"
        );
        assert!(seen.ends_with(&format!("{hint}4\n")), "{seen}");
    }
    assert!(!world.path("project/.agent/runs").exists(), "nothing was begun");
    let chosen = world.json("skillful run --json --model scripted:turns.json \"do it\"");
    assert_eq!(chosen["skills"], json!(["background"]), "the model may choose it");
}

#[test]
fn the_catalog_is_not_filled_with_skills_that_do_not_fit_the_request() {
    let world = scripted(json!([answer("ok"), answer("ok")]))
        .with("SKILLFUL_CATALOG_MAX_CHARS", "400")
        .with("SKILLFUL_REGISTRY_PRECEDENCE", r#"["user"]"#);
    world.skill("home/.agent/skills/invoices", "Reads invoices and adds them up.");
    for name in ["boat", "cake", "deer", "echo", "fern", "golf", "hill"] {
        world.skill(
            &format!("home/.agent/skills/{name}"),
            &format!("About {name} only, at some length."),
        );
    }
    world.run("skillful run --model scripted:turns.json \"Add up the invoices\"");
    let catalog = world.read(&format!("project/.agent/runs/{}/inputs/catalog.txt", last(&world)));
    insta::assert_snapshot!(catalog, @"
    Available Skills:
    - name=invoices | source=user | description=Reads invoices and adds them up.
    (7 more skills are not shown; find them with search_skills)
    ");
}

#[test]
fn a_load_report_says_how_a_body_was_cut_and_which_files_it_names() {
    let world = scripted(json!([
        act("select_skills", json!({"skills": [{"name": "long"}]})),
        act("load_resource", json!({"skill": "long", "relative_path": "references/a.md"})),
        answer("ok")
    ]));
    let filler = "Some background.\n".repeat(600);
    world.write(
        "home/.agent/skills/long/SKILL.md",
        format!("---\nname: long\ndescription: L.\n---\n# Long\n\n## Steps\n\nRead [a](references/a.md), run `scripts/x.py` and see [this](https://example.org/a.md) or ../secret.md.\n\n## History\n\n{filler}"),
    );
    world.write("home/.agent/skills/long/references/a.md", "A, then references/b.md.\n");
    world.write("home/.agent/skills/long/scripts/x.py", "print()\n");
    world.run("skillful run --model scripted:turns.json x");
    let events = world.json("skillful runs show last --json");
    let loaded = |kind: &str| {
        let found = events.as_array().unwrap().iter().find(|event| event["type"] == kind);
        found.unwrap_or_else(|| panic!("{kind}: {events:#}"))["data"].clone()
    };
    let body = &loaded("skill_loaded")["skill"]["report"];
    assert_eq!(body["trim_strategy"], "sections");
    assert_eq!(body["referenced_files"], json!(["references/a.md", "scripts/x.py"]));
    let resource = &loaded("resource_loaded")["report"];
    assert_eq!(resource["trim_strategy"], "none");
    assert_eq!(resource["referenced_files"], json!([]));
}
