//! `skillful mcp --http`: who is let in, and what an approval over it is worth.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::server::{Client, OwnClient, Server, TOKEN, bearer, connect, exchange, initialize};
use crate::turns::{answer, run_script, select};
use crate::world::World;

#[test]
fn only_who_sends_the_token_that_was_printed_is_let_in() {
    let world = World::new();
    let mut server = Server::start(&world, "--http 127.0.0.1:0");
    let address = server.address();
    assert_eq!(server.line(), "clients must send this header; it is valid until the server stops:");
    let header = server.line();
    let token = header.strip_prefix("Authorization: Bearer ").expect("it can be pasted");
    assert!(token.len() >= 43, "256 bits: {token}");
    let body = initialize(json!({}));
    for wrong in [vec![], vec![bearer(TOKEN)], vec![bearer(&token[1..])]] {
        let headers: Vec<&str> = wrong.iter().map(String::as_str).collect();
        let (status, answer) = exchange(connect(&address), &headers, &body);
        assert_eq!(status, 401, "{answer}");
        assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
    }
    let (status, answer) = exchange(connect(&address), &[&header], &body);
    assert_eq!(status, 200, "{answer}");
    let mut other = Server::start(&world, "--http 127.0.0.1:0");
    other.line();
    assert_ne!(other.line(), header, "each start has its own");
}

#[test]
fn a_token_of_the_users_own_is_not_printed() {
    let world = World::new().with("SKILLFUL_MCP_TOKEN", TOKEN);
    let file = "a-token-in-a-file-that-only-the-tests-know";
    world.write("home/token", format!("{file}\n"));
    fs::set_permissions(world.path("home/token"), Permissions::from_mode(0o600)).unwrap();
    let body = initialize(json!({}));
    for (flags, token, other) in [("", TOKEN, file), ("--token-file ../home/token", file, TOKEN)] {
        let mut server = Server::start(&world, &format!("--http 127.0.0.1:0 {flags}"));
        assert_eq!(
            server.line(),
            "clients must send the header `Authorization: Bearer TOKEN`, with your token"
        );
        let address = server.address();
        assert_eq!(exchange(connect(&address), &[&bearer(token)], &body).0, 200);
        assert_eq!(exchange(connect(&address), &[&bearer(other)], &body).0, 401);
    }
    assert!(!world.run("skillful doctor").contains("SKILLFUL_MCP_TOKEN is not a setting"));
}

#[test]
fn a_token_that_is_no_secret_is_refused() {
    let world = World::new();
    world.write("project/short", "secret\n").write("project/open", TOKEN);
    for (name, mode) in [("project/short", 0o600), ("project/open", 0o644)] {
        fs::set_permissions(world.path(name), Permissions::from_mode(mode)).unwrap();
    }
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:0 --token-file open"), @"
    [stderr]
    error: others can read the token in `[world]/project/open`
    hint: run `chmod 600` on it, so that only you can read it
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:0 --token-file short"), @"
    [stderr]
    error: `[world]/project/short` is not a token: the token has 6 characters, but it needs at least 32
    hint: make one with `openssl rand -hex 32`
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:0 --token-file none"), @"
    [stderr]
    error: cannot read the token in `[world]/project/none`: No such file or directory (os error 2)
    hint: use a file that you can read
    [exit 2]
    ");
    assert_snapshot!(world.run("SKILLFUL_MCP_TOKEN='two words' skillful mcp --http 127.0.0.1:0"), @"
    [stderr]
    error: SKILLFUL_MCP_TOKEN is not a token: the token has 9 characters, but it needs at least 32
    hint: make one with `openssl rand -hex 32`
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful -q mcp --http 127.0.0.1:0"), @"
    [stderr]
    error: with --quiet you would not see the token
    hint: give one with --token-file, or in SKILLFUL_MCP_TOKEN
    [exit 2]
    ");
}

#[test]
fn as_many_sessions_as_the_user_says_and_no_more() {
    let world = World::new().with("SKILLFUL_MCP_TOKEN", TOKEN);
    let server = Server::start(&world, "--http 127.0.0.1:0 --max-sessions 2");
    let statuses: Vec<u16> = (0..5)
        .map(|_| exchange(connect(&server.address()), &[&bearer(TOKEN)], &initialize(json!({}))).0)
        .collect();
    assert_eq!(statuses, [200, 200, 503, 503, 503]);
}

/// A user's skill with a script that needs an approval.
fn greeting() -> World {
    let world = World::new().with("SKILLFUL_MCP_TOKEN", TOKEN);
    world.skill("home/.agents/skills/greeting", "Says hello");
    world.write("home/.agents/skills/greeting/scripts/hello.sh", "#!/bin/sh\necho hello $1\n");
    let hello = run_script("greeting", "scripts/hello.sh", &["you"]);
    world.turns(&[select(&["greeting"]), hello, answer("done")]);
    world
}

fn load() -> Value {
    json!({"name": "skill", "arguments": {"name": "greeting"}})
}

fn hello() -> Value {
    json!({"name": "run_skill_script", "arguments": {"name": "greeting",
        "relative_path": "scripts/hello.sh", "args": ["you"]}})
}

fn yes(scope: &str) -> Value {
    json!({"action": "accept", "content": {"scope": scope}})
}

/// Nothing is remembered for the user: a run asks.
fn assert_nothing_is_remembered(world: &World) {
    assert!(!world.path("home/.agent/grants.json").exists(), "a grant was left behind");
    let seen = world.run("skillful run --model scripted:turns.json x");
    assert!(seen.contains("[exit 3]"), "{seen}");
}

/// What a question lets the person choose from.
fn scopes(question: &Value) -> &Value {
    &question["params"]["requestedSchema"]["properties"]["scope"]["enum"]
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn an_approval_over_http_ends_with_its_session() {
    let world = greeting();
    let server = Server::start(&world, "--http 127.0.0.1:0");
    let client = Client::begin(&server.address(), TOKEN);
    client.call(&load(), &Value::Null);
    for scope in ["always", "once", "session"] {
        let (text, questions) = client.call(&hello(), &yes(scope));
        assert!(text.contains("hello you") && questions.len() == 1, "{scope}: {text}");
        assert_eq!(scopes(&questions[0]), &json!(["once", "session"]));
    }
    let (text, questions) = client.call(&hello(), &Value::Null);
    assert!(text.contains("hello you") && questions.is_empty(), "for the session: {text}");
    let other = Client::begin(&server.address(), TOKEN);
    other.call(&load(), &Value::Null);
    let (text, questions) = other.call(&hello(), &json!({"action": "decline"}));
    assert!(text.starts_with("ApprovalDenied") && questions.len() == 1, "{text}");
    assert_nothing_is_remembered(&world);
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn an_approval_through_a_client_that_starts_the_server_ends_with_its_session_too() {
    let world = greeting();
    for _ in 0..2 {
        let mut client = OwnClient::begin(&world);
        client.call(&load(), &Value::Null);
        let (text, questions) = client.call(&hello(), &yes("always"));
        assert!(text.contains("hello you") && questions.len() == 1, "{text}");
        assert_eq!(scopes(&questions[0]), &json!(["once", "session"]));
        client.leave();
    }
    assert_nothing_is_remembered(&world);
}

#[test]
fn a_client_is_told_how_to_send_the_token() {
    let world = World::new().with("SKILLFUL_MCP_TOKEN", TOKEN);
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:8321 --print-config codex"), @r#"
    [mcp_servers.skillful]
    url = "http://127.0.0.1:8321/mcp"
    bearer_token_env_var = "SKILLFUL_MCP_TOKEN"
    [stderr]
    for ~/.codex/config.toml
    set SKILLFUL_MCP_TOKEN to the same token for the client and the server
    "#);
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:8321 --print-config claude-code"), @r#"
    {
      "mcpServers": {
        "skillful": {
          "headers": {
            "Authorization": "Bearer ${SKILLFUL_MCP_TOKEN}"
          },
          "type": "http",
          "url": "http://127.0.0.1:8321/mcp"
        }
      }
    }
    [stderr]
    for .mcp.json in the project
    set SKILLFUL_MCP_TOKEN to the same token for the client and the server
    "#);
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:8321 --print-config vscode"), @r#"
    {
      "inputs": [
        {
          "description": "Token of the Skillful server",
          "id": "skillful-token",
          "password": true,
          "type": "promptString"
        }
      ],
      "servers": {
        "skillful": {
          "headers": {
            "Authorization": "Bearer ${input:skillful-token}"
          },
          "type": "http",
          "url": "http://127.0.0.1:8321/mcp"
        }
      }
    }
    [stderr]
    for .vscode/mcp.json in the project
    VS Code asks for the token; the server prints it when it starts
    "#);
    for client in ["cursor", "gemini-cli", "goose", "opencode", "windsurf", "zed"] {
        let line = format!(
            "skillful mcp --http 0.0.0.0:80 --allow-host h.example --print-config {client}"
        );
        let printed = world.run(&line);
        assert!(printed.contains("http://h.example:80/mcp"), "{printed}");
        assert!(printed.contains("Bearer") && !printed.contains(TOKEN), "{printed}");
    }
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:8321 --print-config claude-desktop"), @"
    [stderr]
    error: Claude Desktop cannot connect to a running server
    hint: leave out --http, so that Claude Desktop starts the server
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http 127.0.0.1:0 --print-config codex"), @"
    [stderr]
    error: the client must know the port
    hint: choose one
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful mcp --http unix:s --print-config codex"), @"
    [stderr]
    error: clients cannot connect to a socket file on their own
    hint: leave out --http, so that the client starts the server
    [exit 2]
    ");
}
