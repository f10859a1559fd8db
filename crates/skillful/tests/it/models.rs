//! Models behind a network: which is chosen and why, what a user sees of it, and what nobody ever sees.

use serde_json::{Value, json};

use crate::model_server::{Play, Server, recorded, stream, whole};
use crate::turns;
use crate::world::World;

/// Words that no pattern of secrets would find.
const KEY: &str = "plain words as a key of the test";
const HEADER: &str = "plain words as a header of the test";

fn answer(content: &str) -> Play {
    said(
        &turns::answer(content).to_string(),
        json!({"prompt_tokens": 100, "completion_tokens": 10}),
    )
}

fn said(text: &str, usage: Value) -> Play {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    Play::Send(whole(200, "", json!({"choices": [choice], "usage": usage}).to_string().as_bytes()))
}

fn error(status: u16, headers: &str, message: &str) -> Play {
    let body = json!({"error": {"message": message}}).to_string();
    Play::Send(whole(status, headers, body.as_bytes()))
}

/// A world whose user asks this server.
fn asking(server: &Server) -> World {
    let world = World::new().with("OPENAI_API_KEY", KEY);
    let model = json!({"provider": "openai", "name": "m", "base_url": server.url(), "headers": {"x-team": HEADER}});
    world.write("home/.agent/config.json", json!({"model": model}).to_string());
    world
}

#[test]
fn an_answer_of_a_server_is_the_answer() {
    let server = Server::new(vec![answer("twelve rows")]);
    let world = asking(&server);
    let result = world.json("skillful run --json \"Count the rows\"");
    assert_eq!(
        (&result["status"], &result["answer"]),
        (&json!("completed"), &json!("twelve rows"))
    );
    let usage = json!({"input_tokens": 100, "cached_tokens": 0, "output_tokens": 10, "cost_usd": null, "estimated": false});
    assert_eq!(result["usage"], usage);
    let heard = server.heard();
    assert!(heard.head.contains(&format!("authorization: Bearer {KEY}\r\n")), "{}", heard.head);
    assert!(heard.head.contains(&format!("x-team: {HEADER}\r\n")), "{}", heard.head);
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn text_without_an_action_is_the_answer_and_is_asked_for_once() {
    let text = "There are **twelve** rows.\n\n```json\n{\"rows\": 12}\n```";
    let server = Server::new(vec![said(&format!("<think>hm</think>\n{text}\n"), json!({}))]);
    let world = asking(&server);
    assert_eq!(world.run("skillful run \"Count the rows\""), format!("{text}\n"));
    assert_eq!((server.heard().connection, server.others()), (0, 0));
    let reply = turns::events(&world)
        .into_iter()
        .find(|event| event["type"] == "model_response")
        .map(|event| event["data"]["reply"].clone())
        .unwrap();
    assert_eq!(
        (&reply["outcome"], &reply["unstructured"], &reply["decision"]["action"]["type"]),
        (&json!("decided"), &json!(true), &json!("final_answer"))
    );
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn data_is_the_answer_when_the_model_insists_on_it() {
    let data = r#"{"rows": 12}"#;
    let server =
        Server::new(vec![said(data, json!({})), said(data, json!({})), said(data, json!({}))]);
    let world = asking(&server);
    assert_eq!(world.run("skillful run \"Count the rows\""), format!("{data}\n"));
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
}

#[test]
fn a_resumed_run_goes_to_the_same_server_or_nowhere() {
    let write = turns::write("a", "new");
    let first = Server::new(vec![said(&write.to_string(), json!({})), answer("done")]);
    let second = Server::new(vec![answer("elsewhere"), answer("elsewhere")]);
    let world = World::new().with("OPENAI_API_KEY", KEY);
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let at = |server: &Server| format!("--model openai:m --base-url {}", server.url());
    let seen = world.run(&format!("skillful run {} x", at(&first)));
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
    // With the key alone it would go to the provider; with a setting, to another server.
    let config = json!({"permissions": {"write_file": "ask"}, "model": {"provider": "openai", "name": "m", "base_url": second.url()}});
    for (settings, options) in [(None, ""), (None, "--model openai:m "), (Some(&config), "")] {
        if let Some(settings) = settings {
            world.write("home/.agent/config.json", settings.to_string());
        }
        let seen = world.run(&format!("skillful run {options}--resume last --approve write_file"));
        assert!(seen.contains(&format!("used openai:m at {}", first.url())), "{seen}");
        assert!(seen.contains(&format!("--base-url {}", first.url())), "{seen}");
        assert!(seen.ends_with("[exit 4]\n"), "{seen}");
        assert!(!world.path("project/a").exists());
    }
    let seen = world
        .run(&format!("skillful run -q {} --resume last --approve write_file --apply", at(&first)));
    assert_eq!((seen.as_str(), world.read("project/a").as_str()), ("done\n", "new"));
}

#[test]
fn a_project_neither_chooses_the_model_nor_changes_what_is_sent() {
    let ask = |project: Option<Value>| {
        let server = Server::new(vec![answer("by my model")]);
        let world = asking(&server);
        world.turns(&[turns::answer("by the project")]);
        if let Some(model) = &project {
            world.write("project/.agent/config.json", json!({"model": model}).to_string());
        }
        let output = world.output("skillful run x");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "by my model\n", "{project:?}");
        let heard = server.heard();
        let head = heard.head.replace(&server.address.to_string(), "SERVER");
        let mut sent: Value = serde_json::from_str(&heard.body).unwrap();
        // The prompt has marks that nobody can foresee.
        sent["messages"].take();
        (head, sent, String::from_utf8(output.stderr).unwrap())
    };
    let (head, sent, _) = ask(None);
    for (model, keys) in [
        (json!("scripted:turns.json"), &["name", "provider"][..]),
        (json!("offline"), &["provider"]),
        (json!("anthropic:other"), &["name", "provider"]),
        (json!({"provider": "openai", "name": "expensive"}), &["name", "provider"]),
        (json!({"name": "expensive"}), &["name"]),
        (json!({"base_url": "http://127.0.0.1:9/v1"}), &["base_url"]),
        (json!({"headers": {"x-evil": "1"}}), &["headers"]),
        (json!({"params": {"api_base": "http://evil", "n": 128}}), &["params"]),
        (json!({"max_tokens": 1}), &["max_tokens"]),
        (json!({"protocol": "json", "stream": false}), &["protocol", "stream"]),
        (json!({"api_key_env": "HOME"}), &["api_key_env"]),
        (json!({"api_key_command": ["echo", "k"]}), &["api_key_command"]),
    ] {
        let (own_head, own_sent, seen) = ask(Some(model.clone()));
        assert!(own_sent == sent, "{model}: {own_sent}");
        assert_eq!(own_head, head, "{model}");
        for key in keys {
            let warning = format!(
                "warning: `model.{key}` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_MODEL_{}`\n",
                key.to_uppercase()
            );
            assert_eq!(seen.matches(&warning).count(), 1, "{model}: {seen}");
        }
        assert_eq!(seen.matches("warning:").count(), keys.len(), "{model}: {seen}");
    }
}

#[test]
fn a_project_does_not_take_the_place_of_a_model_that_was_found() {
    for model in ["scripted:turns.json", "offline"] {
        let models = json!({"models": [{"name": "mine"}]}).to_string();
        let listed = Play::Pieces(vec![whole(200, "", models.as_bytes())]);
        let server = Server::new(vec![listed, answer("by my model")]);
        let world = World::new().with("OLLAMA_HOST", server.address.to_string());
        world.turns(&[turns::answer("by the project")]);
        world.write("project/.agent/config.json", json!({"model": model}).to_string());
        assert_eq!(world.run("skillful -q run x"), "by my model\n", "{model}");
    }
}

#[test]
fn a_try_that_failed_is_shown_and_on_record() {
    let server = Server::new(vec![
        error(429, "Retry-After: 0\r\n", "slow down"),
        error(400, "", "tools are not known here"),
        answer("done"),
    ]);
    let world = asking(&server);
    let output = world.output("skillful run x");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "done\n");
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(
        shown
            .contains("says that there are too many requests (429): slow down; trying again in 0."),
        "{shown}"
    );
    let events = turns::events(&world);
    let codes: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "error")
        .map(|event| &event["data"]["code"])
        .collect();
    assert_eq!(codes, ["RateLimited", "RequestRefused"]);
    assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
    // What was found out is known to the next run.
    let again = Server::new(vec![answer("done")]);
    let known = world.read("home/.cache/skillful/models.json");
    world.write(
        "home/.cache/skillful/models.json",
        known.replace(&server.address.to_string(), &again.address.to_string()),
    );
    world.run(&format!("skillful run --base-url {} x", again.url()));
    let body: Value = serde_json::from_str(&again.heard().body).unwrap();
    assert!(body["tools"].is_null() && !body["response_format"].is_null(), "{body}");
}

#[test]
fn a_refused_key_ends_the_run_at_once_in_one_clear_line() {
    let server = Server::new(vec![error(401, "", &format!("`{KEY}` is not a key"))]);
    let world = asking(&server);
    let seen = world.run("skillful run x").replace(&server.address.to_string(), "SERVER");
    let expected = "- Unauthorized: `SERVER` refused the key (401): `[redacted:environment]` is not a key; check the key; `skillful doctor` says where it is taken from\n";
    assert!(seen.contains(expected) && seen.ends_with("[exit 1]\n"), "{seen}");
    assert_eq!(server.heard().connection, 0);
    assert_eq!(server.others(), 0);
}

/// Everything below the world but the user's own settings, in which the header stands.
fn files_with(world: &World, words: &str) -> String {
    world.run(&format!("grep -rlF '{words}' .. --exclude=config.json || echo none"))
}

#[test]
fn no_key_header_or_prompt_is_in_any_file_or_output() {
    let leak = format!("The key is {KEY}, the header is {HEADER}.");
    let calls = [
        "skillful run --json x",
        "skillful run --events x",
        "skillful run -v x",
        "SKILLFUL_AUDIT_STORE_PROMPTS=true skillful run --json x",
    ];
    for (place, line) in calls.into_iter().enumerate() {
        let plays =
            vec![error(503, "Retry-After: 0\r\n", &leak), said(&leak, Value::Null), answer(&leak)];
        let server = Server::new(plays);
        let mut world = asking(&server);
        if place == 2 {
            // From a command, and so in no variable.
            let command = r#"["printf", "plain words as a %s of the test", "key"]"#;
            world =
                world.with("OPENAI_API_KEY", "").with("SKILLFUL_MODEL_API_KEY_COMMAND", command);
        }
        let output = world.output(line);
        assert!(server.heard().head.contains(KEY));
        let mut seen = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for look in [
            "runs show last",
            "runs show last --json",
            "config show",
            "config show --json",
            "doctor",
        ] {
            seen.push_str(&world.run(&format!("skillful {look}")));
        }
        assert!(
            seen.contains("[redacted:"),
            "what was answered is there, without its secrets: {seen}"
        );
        for secret in [KEY, HEADER] {
            assert!(!seen.contains(secret), "{line}: {seen}");
            assert_eq!(files_with(&world, secret), "none\n", "{line}");
        }
        let stores_prompts = line.contains("STORE_PROMPTS");
        let found = files_with(&world, "You are an agent that works step by step");
        assert_eq!(found != "none\n", stores_prompts, "{line}: {found}");
    }
}

#[test]
fn the_command_line_is_stronger_than_the_settings_and_these_than_the_environment() {
    let doctor = |world: &World| {
        let checks = world.json("skillful doctor --json")["checks"].clone();
        let check = checks
            .as_array()
            .unwrap()
            .iter()
            .find(|check| check["name"] == "model")
            .unwrap()
            .clone();
        check["message"].as_str().unwrap().to_owned()
    };
    let world = World::new();
    assert_eq!(
        doctor(&world),
        "offline (no API key in the environment and no Ollama on this machine)"
    );
    let world = World::new().with("OPENAI_API_KEY", KEY);
    assert_eq!(
        doctor(&world),
        "openai:gpt-5-mini (OPENAI_API_KEY is set), at api.openai.com, key from OPENAI_API_KEY"
    );
    let world = world.with("ANTHROPIC_API_KEY", KEY);
    assert_eq!(
        doctor(&world),
        "anthropic:claude-sonnet-4-5 (ANTHROPIC_API_KEY is set), at api.anthropic.com, key from ANTHROPIC_API_KEY"
    );
    world.write("home/.agent/config.json", r#"{"model": "openai:other"}"#);
    assert_eq!(
        doctor(&world),
        "openai:other ([world]/home/.agent/config.json), at api.openai.com, key from OPENAI_API_KEY"
    );
    let world = world.with("SKILLFUL_MODEL", "offline");
    assert_eq!(doctor(&world), "offline ($SKILLFUL_MODEL)");
    let server = Server::new(vec![answer("by the command line")]);
    let line = format!("skillful run --model openai:m --base-url {} x", server.url());
    assert_eq!(world.run(&line), "by the command line\n");
}

#[test]
fn an_ollama_on_this_machine_is_found_and_asked() {
    let models = json!({"models": [{"name": "qwen3:4b"}]}).to_string();
    let listed = || Play::Pieces(vec![whole(200, "", models.as_bytes())]);
    let server = Server::new(vec![listed(), answer("from here"), listed()]);
    let world = World::new().with("OLLAMA_HOST", server.address.to_string());
    assert_eq!(world.run("skillful run x"), "from here\n");
    assert!(server.heard().head.starts_with("GET /api/tags "));
    let heard = server.heard();
    assert!(
        heard.head.starts_with("POST /v1/chat/completions ") && heard.body.contains("\"qwen3:4b\"")
    );
    let seen =
        world.run("skillful doctor | grep model:").replace(&server.address.to_string(), "HERE");
    assert_eq!(
        seen,
        "ok       model: ollama:qwen3:4b (Ollama runs at HERE), at HERE, without a key\n"
    );
}

#[test]
fn a_model_that_cannot_be_asked_is_explained_before_anything_starts() {
    let world = World::new();
    let check = |line: &str, code: &str| {
        let document = world.json(&format!("skillful --json run {line} x"));
        assert_eq!(document["error"]["code"], code, "{line}: {document}");
        assert!(!document["error"]["hint"].is_null(), "{line}");
    };
    check("--model openai:m", "NoKey");
    check("--model anthropic:m", "NoKey");
    check("--base-url http://127.0.0.1:1", "UnknownModel");
    check("--model openai:m --base-url ftp://example.com", "InvalidConfiguration");
    check("--model openai:m --base-url https://user:word@example.com", "InvalidConfiguration");
    world.write("home/.agent/config.json", r#"{"model": {"api_key_env": "NOTHING"}}"#);
    check("--model openai:m", "NoKey");
    world.write("home/.agent/config.json", r#"{"model": {"api_key_command": ["false"]}}"#);
    check("--model openai:m", "NoKey");
    world.write("home/.agent/config.json", r#"{"model": {"ca_file": "none.pem"}}"#);
    check("--model openai:m --base-url http://127.0.0.1:1", "InvalidConfiguration");
    world.write("home/.agent/config.json", r#"{"model": {"params": {"messages": []}}}"#);
    check("--model openai:m --base-url http://127.0.0.1:1", "InvalidConfiguration");
    world.write("home/.agent/config.json", r#"{"budget": {"max_cost_usd": 1}}"#);
    check("--model openai:m --base-url http://127.0.0.1:1", "NoPrice");
    assert!(!world.path("project/.agent/runs").exists());
}

#[test]
fn budgets_of_tokens_and_money_end_a_run() {
    let look = || {
        let action = turns::call("list_dir", json!({}));
        said(&action.to_string(), json!({"prompt_tokens": 1_000, "completion_tokens": 40}))
    };
    let check = |budget: Value, reason: &str, cost: Value| {
        let server = Server::new(vec![look(), look(), look()]);
        let world = asking(&server);
        let mut settings: Value =
            serde_json::from_str(&world.read("home/.agent/config.json")).unwrap();
        settings["budget"] = budget;
        settings["model"]["prices"] = json!({"m": {"input": 1.0, "output": 10.0}});
        world.write("home/.agent/config.json", settings.to_string());
        let result = world.json("skillful run --json x");
        assert_eq!((&result["stop_reason"], &result["usage"]["cost_usd"]), (&json!(reason), &cost));
        let bodies = [server.heard(), server.heard()]
            .map(|heard| serde_json::from_str::<Value>(&heard.body).unwrap());
        bodies.map(|body| body["max_tokens"].clone())
    };
    let limits = check(json!({"max_output_tokens": 70}), "max_output_tokens", json!(0.0028));
    assert_eq!(limits, [70, 30], "a reply may not be longer than what is left");
    check(json!({"max_cost_usd": 0.002}), "max_cost_usd", json!(0.0028));
}

#[test]
fn both_interfaces_stream_to_a_terminal() {
    for (wire, file) in [("openai", "openai/text.sse"), ("anthropic", "anthropic/thinking.sse")] {
        let server = Server::new(vec![Play::Pieces(stream(&recorded(file), 5))]);
        let world = World::new();
        let line = format!("skillful run --model {wire}:m --base-url {} x", server.url());
        let seen = world.terminal(&line, 80);
        assert!(seen.contains("Zwölf Zeilen – 3 × 4 😀 ✓\ndone in "), "{seen}");
    }
}

#[test]
fn a_proxy_of_the_environment_is_used_and_a_usual_key_does_not_go_in_the_clear() {
    let server = Server::new(vec![answer("through the proxy")]);
    let world = World::new()
        .with("http_proxy", format!("http://{}", server.address))
        .with("OPENAI_API_KEY", KEY);
    let line = "skillful run --model openai:m --base-url http://model.example/v1 x";
    assert_eq!(world.run(line), "through the proxy\n");
    let heard = server.heard();
    assert!(
        heard.head.starts_with("POST http://model.example/v1/chat/completions "),
        "{}",
        heard.head
    );
    assert!(!heard.head.contains(KEY), "{}", heard.head);
}

/// What a run says with these settings of the model.
fn run_with(world: &World, model: Value) -> String {
    world.write("home/.agent/config.json", json!({"model": model}).to_string());
    world.run("skillful run -q \"What is a zebra?\"")
}

#[test]
fn the_mock_plays_a_file_or_its_parameters_or_plans_by_rules() {
    let world = World::new();
    let turns = |content: &str| turns::turns(&[turns::answer(content)]);
    world.write("project/turns.json", turns("from a file").to_string());
    for (model, answer) in [
        (json!({"provider": "mock", "name": "turns.json"}), "from a file\n"),
        (json!("mock:turns.json"), "from a file\n"),
        (json!({"provider": "mock", "params": turns("from the settings")}), "from the settings\n"),
    ] {
        assert_eq!(run_with(&world, model), answer);
    }
    assert_eq!(world.run("skillful run -q --model mock x"), "from the settings\n");
    assert_eq!(world.run("skillful run -q --model mock:turns.json x"), "from a file\n");
    let by_rules = run_with(&world, json!("offline"));
    insta::assert_snapshot!(by_rules, @"
    No skill clearly fits this request. No skill shares a word with it; `skillful list` shows them all. To write a skill for it, run `skillful new NAME`.

    Made without a language model. A model could understand your request better: `skillful models` shows which you can use.
    [exit 1]
    ");
    for model in [json!("mock"), json!({"provider": "mock", "params": {}})] {
        assert_eq!(run_with(&world, model), by_rules);
    }
    insta::assert_snapshot!(run_with(&world, json!({"provider": "mock", "params": {"temperature": 0}})), @r#"
    [stderr]
    error: `temperature` in the script: unknown field `temperature`, expected one of `turns`, `subagents`, `streaming`
    hint: write {"turns": [{"action": {…}} or {"text": "…"}, with a "fault" or not], "streaming": {"enabled": true, "chunk_bytes": 12}}
    [exit 2]
    "#);
    insta::assert_snapshot!(run_with(&world, json!("scripted")), @"
    [stderr]
    error: the model has no name
    hint: add a name, as in --model openai:NAME or scripted:FILE
    [exit 2]
    ");
}
