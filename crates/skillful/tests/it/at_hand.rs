//! Models at hand: names that need no address, what `models` and `doctor --online` say, and limits of one run.

use serde_json::{Value, json};

use crate::model_server::{Play, Server, whole};
use crate::turns;
use crate::world::World;

/// Words that no pattern of secrets would find.
const KEY: &str = "plain words as a key of the test";

fn said(text: &str) -> Play {
    let message = json!({"role": "assistant", "content": text});
    let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 1});
    Play::Send(whole(200, "", json!({"choices": [choice], "usage": usage}).to_string().as_bytes()))
}

fn listed(names: &[&str]) -> Play {
    let models: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    Play::Pieces(vec![whole(200, "", json!({"models": models}).to_string().as_bytes())])
}

fn error(status: u16, message: &str) -> Play {
    let body = json!({"error": {"message": message}}).to_string();
    Play::Send(whole(status, "", body.as_bytes()))
}

/// What `doctor` says about the model.
fn doctor(world: &World, options: &str) -> Vec<Value> {
    let checks = world.json(&format!("skillful doctor --json {options}"))["checks"].clone();
    let checks = checks.as_array().unwrap().iter();
    let name = |check: &&Value| check["name"].as_str().unwrap().starts_with("model");
    checks.filter(name).cloned().collect()
}

#[test]
fn a_name_says_which_server_is_meant_and_which_key_it_gets() {
    let check = |model: &str, variable: &str, expected: &str| {
        let world = World::new().with("SKILLFUL_MODEL", model);
        let none = doctor(&world, "")[0].clone();
        assert_eq!(none["status"], "error", "{model}: {none}");
        assert!(none["hint"].as_str().unwrap().contains(variable), "{model}: {none}");
        let world = world.with(variable, KEY);
        let found = doctor(&world, "")[0]["message"].clone();
        assert_eq!(found, format!("{expected}, key from {variable}"), "{model}");
    };
    let at = |name: &str, host: &str| format!("{name} ($SKILLFUL_MODEL), at {host}");
    check("gpt-5", "OPENAI_API_KEY", &at("openai:gpt-5", "api.openai.com"));
    check("o3", "OPENAI_API_KEY", &at("openai:o3", "api.openai.com"));
    check("claude-x", "ANTHROPIC_API_KEY", &at("anthropic:claude-x", "api.anthropic.com"));
    let google = "generativelanguage.googleapis.com";
    check("gemini-x", "GEMINI_API_KEY", &at("gemini:gemini-x", google));
    check("openrouter:a/b", "OPENROUTER_API_KEY", &at("openrouter:a/b", "openrouter.ai"));
    check("groq:x", "GROQ_API_KEY", &at("groq:x", "api.groq.com"));
    check("grok-4", "XAI_API_KEY", &at("xai:grok-4", "api.x.ai"));
    let world = World::new().with("SKILLFUL_MODEL", "lmstudio:x");
    let found = doctor(&world, "")[0]["message"].clone();
    assert_eq!(found, "lmstudio:x ($SKILLFUL_MODEL), at 127.0.0.1:1234, without a key");
    // Another provider's key is not theirs.
    let world = World::new().with("OPENAI_API_KEY", KEY);
    let document = world.json("skillful run --json --model groq:x y");
    assert_eq!(document["error"]["code"], "NoKey", "{document}");
    let document = world.json("skillful run --json --model qwen3:4b y");
    assert_eq!(document["error"]["code"], "UnknownModel", "{document}");
}

#[test]
fn a_key_of_a_named_server_is_found_after_a_model_on_this_machine() {
    let world = World::new().with("MISTRAL_API_KEY", KEY);
    let found = doctor(&world, "")[0]["message"].clone();
    let expected = "mistral:mistral-medium-latest (MISTRAL_API_KEY is set), at api.mistral.ai, key from MISTRAL_API_KEY";
    assert_eq!(found, expected);
    let server = Server::new(vec![listed(&["mine"])]);
    let world = world.with("OLLAMA_HOST", server.address.to_string());
    let found = doctor(&world, "")[0]["message"].clone();
    assert!(found.as_str().unwrap().starts_with("ollama:mine ("), "{found}");
}

#[test]
fn an_ollama_is_asked_by_its_name_where_it_is() {
    let answer = || said(&turns::answer("from here").to_string());
    let server = Server::new(vec![answer(), listed(&["qwen3:4b"]), answer()]);
    let host = format!("http://{}/", server.address);
    let world = World::new().with("OLLAMA_HOST", host).with("OPENAI_API_KEY", KEY);
    assert_eq!(world.run("skillful run --model ollama:llama3.2 x"), "from here\n");
    let heard = server.heard();
    assert!(heard.head.starts_with("POST /v1/chat/completions "), "{}", heard.head);
    assert!(heard.body.contains("\"llama3.2\"") && !heard.head.contains(KEY), "{}", heard.head);
    // Without a name, what it has.
    assert_eq!(world.run("skillful run --model ollama x"), "from here\n");
    server.heard();
    assert!(server.heard().body.contains("\"qwen3:4b\""));
    let seen = World::new().run("skillful run --model ollama x");
    insta::assert_snapshot!(seen, @"
    [stderr]
    error: no `ollama` with a model answers at 127.0.0.1:1
    hint: start it and load a model, or choose another --model
    [exit 2]
    ");
}

#[test]
fn a_run_at_a_named_server_is_resumed_there_or_nowhere() {
    let write = turns::write("a", "new").to_string();
    let first = Server::new(vec![said(&write), said(&turns::answer("done").to_string())]);
    let world = World::new().with("OLLAMA_HOST", first.address.to_string());
    world.write("home/.agent/config.json", r#"{"permissions": {"write_file": "ask"}}"#);
    let seen = world.run("skillful run --model ollama:m x");
    assert!(seen.ends_with("[exit 3]\n"), "{seen}");
    let resume = "skillful run -q --resume last --approve write_file --apply --model ollama:m";
    let second = Server::new(vec![said(&turns::answer("elsewhere").to_string())]);
    let elsewhere = format!("OLLAMA_HOST={} {resume}", second.address);
    let seen = world.run(&elsewhere);
    assert!(seen.contains(&format!("used ollama:m at {}", first.url())), "{seen}");
    assert!(seen.ends_with("[exit 4]\n"), "{seen}");
    assert_eq!(second.others(), 0);
    assert_eq!(world.run(resume), "done\n");
}

#[test]
fn models_lists_what_is_there_and_shows_no_key() {
    let server = Server::new(vec![listed(&["qwen3:4b", "b"]), listed(&["qwen3:4b", "b"])]);
    let world = World::new()
        .with("OLLAMA_HOST", server.address.to_string())
        .with("GROQ_API_KEY", KEY)
        .with("OPENAI_API_KEY", KEY);
    let prices = json!({"gpt-5-mini": {"input": 0.25, "output": 2}});
    world.write("home/.agent/config.json", json!({"model": {"prices": prices}}).to_string());
    let seen = world.run("skillful models").replace(&server.address.to_string(), "HERE");
    // Others may run on the machine of whoever tests.
    let others = ["lmstudio", "llamacpp", "vllm"];
    let lines = seen.lines().filter(|line| !others.iter().any(|name| line.contains(name)));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    Model: openai:gpt-5-mini (OPENAI_API_KEY is set), at api.openai.com, key from OPENAI_API_KEY
      $0.25 for a million tokens read, $2 for a million written

    On this machine
      ✓ ollama      --model ollama:NAME with qwen3:4b, b

    With an API key
      – anthropic   set ANTHROPIC_API_KEY
      ✓ openai      OPENAI_API_KEY is set: --model openai:gpt-5-mini
      – gemini      set GEMINI_API_KEY
      – openrouter  set OPENROUTER_API_KEY
      – mistral     set MISTRAL_API_KEY
      – deepseek    set DEEPSEEK_API_KEY
      – xai         set XAI_API_KEY
      ✓ groq        GROQ_API_KEY is set: --model groq:llama-3.3-70b-versatile
      – together    set TOGETHER_API_KEY
      – fireworks   set FIREWORKS_API_KEY
      – cerebras    set CEREBRAS_API_KEY
    ");
    let document = world.json("skillful models --json");
    assert_eq!(document["model"]["price"]["output"], 2.0);
    let servers = document["servers"].as_array().unwrap();
    let ollama = servers.iter().find(|server| server["name"] == "ollama").unwrap();
    assert_eq!(ollama["models"], json!(["qwen3:4b", "b"]));
    assert!(!seen.contains(KEY) && !document.to_string().contains(KEY));
    world.write("home/.agent/config.json", json!({"model": "together:"}).to_string());
    let seen = world.run("skillful models | head -2");
    insta::assert_snapshot!(seen, @"
    No model can be used: the model has no name
      add its name, as in --model together:NAME
    ");
}

#[test]
fn the_first_run_without_a_model_says_how_to_get_one() {
    let world = World::new();
    let stderr = |line: &str| String::from_utf8(world.output(line).stderr).unwrap();
    let told = "No language model is set up";
    assert_eq!(stderr("skillful run -q x"), "");
    world.run("rm -r .agent/runs");
    assert!(!stderr("skillful run --model offline x").contains(told));
    world.run("rm -r .agent/runs");
    let first = stderr("skillful run x");
    assert_eq!((first.matches(told).count(), first.lines().count()), (1, 3), "{first}");
    assert!(first.contains("ollama pull") && first.contains("ANTHROPIC_API_KEY"), "{first}");
    assert_eq!(stderr("skillful run x"), "");
}

#[test]
fn doctor_tries_the_model_only_when_asked() {
    let check = |plays: Vec<Play>, expected: &str, hint: &str| {
        let server = Server::new(plays);
        let world = World::new().with("OPENAI_API_KEY", KEY);
        let model = json!({"provider": "openai", "name": "m", "base_url": server.url()});
        world.write("home/.agent/config.json", json!({"model": model}).to_string());
        assert_eq!(doctor(&world, "").len(), 1);
        assert_eq!(server.others(), 0);
        let checks = doctor(&world, "--online");
        let message = checks[1]["message"].as_str().unwrap();
        let message = message.replace(&server.url(), "URL");
        assert!(message.starts_with(expected), "{message}");
        assert_eq!(checks[1]["hint"].as_str().unwrap_or_default(), hint, "{message}");
        assert!(!message.contains(KEY), "{message}");
        server
    };
    let server = check(vec![said("OK")], "openai:m answered in ", "");
    let body: Value = serde_json::from_str(&server.heard().body).unwrap();
    assert!(body["tools"].is_null() && body.to_string().len() < 500, "{body}");
    check(vec![error(400, "unsupported: max_tokens"), said("OK")], "openai:m answered in ", "");
    check(
        vec![error(401, &format!("`{KEY}` is not a key"))],
        "the model's server refused the key: `URL` refused the key (401): `[redacted",
        "check the key; `skillful doctor` says where it is taken from",
    );
    check(
        vec![error(404, "no model `m`")],
        "the server does not know the model: `URL` does not know the model (404): no model `m`",
        "check the name in --model",
    );
    check(
        vec![error(429, "slow down")],
        "the model's server got too many requests: ",
        "wait, then try again, or choose another --model",
    );
    let world = World::new().with("SKILLFUL_MODEL_BASE_URL", "http://127.0.0.1:1/v1");
    let seen =
        world.with("SKILLFUL_MODEL", "openai:m").run("skillful doctor --online | grep -A1 online");
    insta::assert_snapshot!(seen, @"
    error    model online: the model's server does not run: `http://127.0.0.1:1/v1` does not answer, because no server listens there: Connection refused (os error 111)
             start the server, or check its address
    ");
    let seen = World::new().run("skillful doctor --online | grep online");
    insta::assert_snapshot!(seen, @"ok       model online: offline needs no server");
}

#[test]
fn each_refusal_has_its_own_first_words() {
    let check = |status: u16, message: &str, expected: &str| {
        let plays = vec![error(status, message); 6];
        let server = Server::new(plays);
        let world = World::new().with("SKILLFUL_MODEL_MAX_RETRIES", "0");
        let line = format!("skillful run --model openai:m --base-url {} x", server.url());
        let seen = world.run(&line);
        let first = format!("The run stopped before it was finished: {expected}.\n");
        assert!(seen.starts_with(&first) && seen.ends_with("[exit 1]\n"), "{seen}");
        assert_eq!(world.run("skillful runs replay last | cut -c1-9"), "identical\n");
    };
    check(401, "no", "the model's server refused the key");
    check(403, "no", "the key may not use this model");
    check(404, "no such model", "the server does not know the model");
    check(404, "Not Found", "there is no model server at this address");
    check(429, "slow down", "the model's server got too many requests");
    check(402, "pay", "the quota at the model's server is used up");
    check(500, "oh", "the model's server has a problem");
    let world = World::new();
    let seen = world.run("skillful run --model openai:m --base-url http://127.0.0.1:1 x");
    insta::assert_snapshot!(seen, @"
    The run stopped before it was finished: the model's server does not run.

    What went wrong:
    - Unreachable: `127.0.0.1:1` does not answer, because no server listens there: Connection refused (os error 111); start the server, or check its address
    [exit 1]
    ");
}

#[test]
fn limits_on_the_command_line_count_for_that_run() {
    let world = World::new();
    let look = || turns::call("list_dir", json!({}));
    let lookout = |path: &str| turns::call("list_dir", json!({"path": path}));
    world.write("project/b/x", "").write("project/c/x", "");
    world.turns(&[look(), lookout("b"), lookout("c"), turns::answer("done")]);
    let run = |options: &str| {
        world.json(&format!("skillful run --json --model scripted:turns.json {options} x"))
    };
    assert_eq!(run("--max-turns 2")["stop_reason"], "max_turns");
    assert_eq!(run("")["budget"]["tool_calls"], 3);
    assert_eq!(run("--max-tool-calls 1")["budget"]["tool_calls"], 1);
    assert_eq!(run("--max-tokens 1")["stop_reason"], "max_output_tokens");
    assert_eq!(run("--max-seconds 0")["stop_reason"], "max_wall_seconds");
    assert_eq!(run("--max-turns 4")["answer"], "done");
    assert_eq!(run("")["answer"], "done");
    let seen =
        world.run("skillful run --model openai:m --base-url http://127.0.0.1:1 --max-cost 1 x");
    assert!(seen.contains("the price of `m` is unknown") && seen.ends_with("[exit 2]\n"), "{seen}");
    for wrong in ["--max-turns x", "--max-cost -1", "--max-cost nan", "--max-seconds 1.5"] {
        assert!(world.run(&format!("skillful run {wrong} x")).ends_with("[exit 2]\n"), "{wrong}");
    }
}

#[test]
fn a_question_names_the_limits_that_are_needed_again() {
    let world = World::new();
    let ask = json!({"action": {"type": "ask_user", "payload": {"question": "Which?"}}});
    world.turns(&[ask, turns::answer("done")]);
    let seen = world.run("skillful run --model scripted:turns.json --max-turns 5 --max-cost 0.5 x");
    assert!(seen.contains("--max-turns 5 --max-cost 0.5 --answer TEXT"), "{seen}");
    let seen = world
        .run("skillful run --resume last --model scripted:turns.json --max-turns 1 --answer a");
    assert!(seen.contains("`max_turns`"), "{seen}");
}
