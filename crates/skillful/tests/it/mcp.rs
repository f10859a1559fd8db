//! `skillful mcp`

mod http;
mod server;
mod socket;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::world::World;

/// Says these lines to the server and then nothing more; its answers by id.
fn converse(world: &World, flags: &str, requests: &[Value]) -> Vec<Value> {
    let mut said = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    for (number, request) in requests.iter().enumerate() {
        let mut request = request.clone();
        request["jsonrpc"] = "2.0".into();
        request["id"] = (number + 1).into();
        said.push(request);
    }
    let lines: Vec<String> = said.iter().map(Value::to_string).collect();
    world.write("said", lines.join("\n") + "\n");
    let output = world.output(&format!("skillful mcp {flags} < ../said"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, "", "nothing beside the protocol");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let mut heard: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    heard.sort_by_key(|answer| answer["id"].as_u64());
    heard.split_off(1)
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

#[test]
fn a_session_is_recorded_like_a_run() {
    let world = World::new();
    world.skill("home/.agents/skills/greeting", "Says hello");
    let load = call("skill", json!({"name": "greeting"}));
    let answers = converse(&world, "", &[load.clone(), load]);
    assert!(text(&answers[0]).contains("# greeting"), "{}", answers[0]);
    assert_eq!(text(&answers[1]), "greeting already loaded; see above.");
    let listed = world.run("skillful runs list");
    assert!(
        listed.contains("final_answer") && listed.contains("MCP session of test 1"),
        "{listed}"
    );
    assert!(world.run("skillful runs verify last").starts_with("intact"));
    assert!(world.run("skillful runs replay last").starts_with("identical"));
}

#[test]
fn rules_trust_and_flags_count_as_everywhere() {
    let world = World::new();
    world.skill("home/.agents/skills/greeting", "Says hello");
    world.skill("project/.agents/skills/stranger", "Came with the repository");
    let list = [json!({"method": "tools/list"})];
    let names = |answers: &[Value]| {
        answers[0]["result"]["tools"][0]["inputSchema"]["properties"]["name"]["enum"].clone()
    };
    let answers = converse(&world, "--source user", &list);
    assert_eq!(names(&answers), json!(["greeting"]));
    let answers = converse(&world, "--source project", &list);
    assert_eq!(answers[0]["result"]["tools"], json!([]), "not trusted");
    let answers = converse(&world, "--source user --deny skill:greeting", &list);
    assert_eq!(answers[0]["result"]["tools"], json!([]));
    world.run("skillful trust project");
    let answers = converse(&world, "--source project", &list);
    assert_eq!(names(&answers), json!(["stranger"]));
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_script_runs_when_it_was_approved_at_the_start() {
    let world = World::new();
    world.skill("home/.agents/skills/greeting", "Says hello");
    world.write("home/.agents/skills/greeting/scripts/hello.sh", "#!/bin/sh\necho hello $1\n");
    let run = call(
        "run_skill_script",
        json!({"name": "greeting", "relative_path": "scripts/hello.sh", "args": ["you"]}),
    );
    let load = call("skill", json!({"name": "greeting"}));
    let answers = converse(&world, "", &[load.clone(), run.clone()]);
    let command = "skillful mcp --approve run_script:greeting/scripts/hello.sh";
    assert!(text(&answers[1]).ends_with(command), "{}", answers[1]);
    let answers = converse(&world, "--approve run_script:greeting/scripts/hello.sh", &[load, run]);
    assert!(text(&answers[1]).contains("hello you"), "{}", answers[1]);
}

#[test]
fn a_client_is_told_what_its_settings_need() {
    let world = World::new();
    assert_snapshot!(world.run("skillful mcp --print-config codex"), @r#"
    [mcp_servers.skillful]
    command = "skillful"
    args = ["mcp"]
    [stderr]
    for ~/.codex/config.toml
    "#);
    assert_snapshot!(world.run("skillful mcp --print-config opencode"), @r#"
    {
      "mcp": {
        "skillful": {
          "command": [
            "skillful",
            "mcp"
          ],
          "enabled": true,
          "type": "local"
        }
      }
    }
    [stderr]
    for opencode.json in the project, or ~/.config/opencode/opencode.json
    "#);
    assert_snapshot!(world.run_json("skillful mcp --json --print-config claude-code"), @r#"
    {
      "content": "{\n  \"mcpServers\": {\n    \"skillful\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \"command\": \"skillful\"\n    }\n  }\n}\n",
      "file": ".mcp.json in the project"
    }
    [stderr]
    for .mcp.json in the project
    "#);
    let line =
        "skillful --root '/a b' -C . mcp --yes --print-config=codex -q --approve 'run_script:a/*'";
    assert_snapshot!(world.run(line), @r#"
    [mcp_servers.skillful]
    command = "skillful"
    args = ["--root","/a b","-C",".","mcp","--yes","--approve","run_script:a/*"]
    "#);
    for client in ["claude-desktop", "cursor", "gemini-cli", "goose", "vscode", "windsurf", "zed"] {
        let printed = world.run(&format!("skillful mcp --print-config {client}"));
        assert!(printed.contains("skillful") && printed.contains("mcp"), "{printed}");
    }
}

#[test]
fn other_machines_are_let_in_only_on_request() {
    let world = World::new();
    assert_snapshot!(world.run("skillful mcp --http 0.0.0.0:0"), @"
    [stderr]
    error: other machines can reach `0.0.0.0:0`
    hint: listen on 127.0.0.1, or allow a host name with --allow-host
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http nowhere"), @"
    [stderr]
    error: invalid value 'nowhere' for '--http <ADDRESS>': not an address: use HOST:PORT with a numeric host, or unix:PATH

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn a_session_that_ends_leaves_its_record_and_no_temporary_file() {
    let world = World::new();
    world.write("home/.agent/skills/broken/SKILL.md", "no frontmatter\n");
    let load = call("skill", json!({"name": "csv-report"}));
    converse(&world, "", &[load.clone(), load]);
    assert_eq!(world.run("ls .agent/runs/*/state.json | wc -l"), "1\n");
    assert_eq!(world.run("find .agent/runs -name '*.tmp*'"), "");
    let id = world.run("basename .agent/runs/2*");
    let events = world.json(&format!("skillful runs show {} --json", id.trim()));
    let ignored = &events[0]["data"]["setup"]["facts"]["scan"]["ignored"];
    assert_eq!(ignored[0]["path"], "[world]/home/.agent/skills/broken/SKILL.md");
}

/// A chunk may be loaded before its skill; the skill then has it, and does not offer it again.
#[test]
fn a_chunk_that_was_loaded_before_its_skill_is_not_offered_again() {
    let world = World::new();
    let body = "Begin.\n\n<chunk id=\"oven\" description=\"How hot\">\nHeat it.\n</chunk>\n\n<chunk id=\"salt\" description=\"How much\">\nTwo grams.\n</chunk>\n";
    world.write(
        "home/.agent/skills/bread/SKILL.md",
        format!("---\nname: bread\ndescription: Bakes bread.\n---\n\n{body}"),
    );
    let chunk = call("load_skill_chunk", json!({"name": "bread", "chunk_id": "oven"}));
    let answers = converse(&world, "", &[chunk, call("skill", json!({"name": "bread"}))]);
    assert!(text(&answers[0]).contains("Heat it."), "{}", answers[0]);
    let skill = text(&answers[1]);
    assert!(skill.contains("- id: salt") && !skill.contains("- id: oven"), "{skill}");
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn a_result_that_is_too_long_can_be_read_back() {
    let world = World::new();
    world.skill("home/.agent/skills/counter", "Counts.");
    let script = "#!/bin/sh\nseq 1 200000 | sed 's/^/line /'\n";
    world.write("home/.agent/skills/counter/scripts/count.sh", script);
    let run = json!({"name": "counter", "relative_path": "scripts/count.sh"});
    let run = [call("skill", json!({"name": "counter"})), call("run_skill_script", run)];
    let read = |reference: &str, more: Value| {
        let mut arguments = json!({"ref": reference});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call("read_observation", arguments)
    };
    let first = converse(&world, "--approve run_script", &run);
    let shown = text(&first[1]);
    assert!(!shown.contains("line 100000\n"), "it is too long to be shown: {shown}");
    let named = |text: &str| {
        let start = text.find("observations/").unwrap();
        let end = text[start..].find(|c: char| !(c.is_alphanumeric() || "._-/".contains(c)));
        text[start..start + end.unwrap()].to_owned()
    };
    let reference = named(shown);
    let calls = [
        run[0].clone(),
        run[1].clone(),
        read(&reference, json!({"pattern": "^line 1000(00|01)$"})),
        read(&reference, json!({"offset": 5})),
        read("observations/none.txt", json!({})),
        read("../../../../etc/passwd", json!({})),
    ];
    let answers = converse(&world, "--approve run_script", &calls);
    assert_eq!(text(&answers[2]), "100000: line 100000\n100001: line 100001\n", "{}", answers[2]);
    assert!(text(&answers[3]).starts_with("1\nline 2\nline 3\n"), "{}", answers[3]);
    assert!(text(&answers[4]).starts_with("NotFound"), "{}", answers[4]);
    assert!(text(&answers[5]).starts_with("NotFound"), "{}", answers[5]);
}
