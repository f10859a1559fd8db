//! What goes wrong: the right error, and the server lives on.

use serde_json::{Value, json};

use crate::support::{Client, ENDLESS, World, closed, read, until_running};

const META: &str = "io.modelcontextprotocol/";

/// The parameters of a request that stands for itself.
fn alone(mut params: Value, capabilities: Value) -> Value {
    params["_meta"] = json!({
        format!("{META}protocolVersion"): "2026-07-28",
        format!("{META}clientInfo"): {"name": "test", "version": "1"},
        format!("{META}clientCapabilities"): capabilities,
    });
    params
}

#[tokio::test]
async fn whatever_is_said_the_next_request_is_answered() {
    let world = World::new();
    world.skill("alpha", "");
    let mut client = Client::connect(&world.shelf()).await;
    let huge = format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{}"}}"#, "x".repeat(5 << 20));
    let deep = "[".repeat(100_000);
    for (line, code) in [
        ("{", -32700),
        ("\u{0}", -32700),
        (deep.as_str(), -32700),
        (huge.as_str(), -32600),
        ("[]", -32600),
        ("1", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nope"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x://y"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"skills/get","params":{"uri":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"nope"}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":7,"method":"no/such/method"}"#, -32601),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"info"}}"#,
            -32601,
        ),
    ] {
        client.say(line).await;
        let answer = client.hear().await;
        let shown = &line[..line.len().min(80)];
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "{shown}");
    }
    for unanswered in [
        "",
        "  ",
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":{},"result":7}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}"#,
    ] {
        client.say(unanswered).await;
        assert_eq!(client.ask("ping", json!({})).await["result"], json!({}), "{unanswered}");
    }
    assert!(client.call("skill", json!({"name": "alpha"})).await.contains("Do it."));
}

#[tokio::test]
async fn a_client_that_begins_wrongly_can_begin_again() {
    let world = World::new();
    world.skill("alpha", "");
    let mut client = Client::unconnected(&world.shelf());
    client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    client.say(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#).await;
    assert_eq!(client.ask("tools/list", json!({})).await["error"]["code"], -32602);
    assert_eq!(
        client.ask("initialize", json!({"protocolVersion": 1})).await["error"]["code"],
        -32602
    );
    let params = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    assert!(client.ask("initialize", params).await["result"]["serverInfo"]["name"] == "skillful");
}

#[tokio::test]
async fn a_message_may_come_a_byte_at_a_time() {
    let world = World::new();
    let mut client = Client::connect(&world.shelf()).await;
    for byte in r#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#.chars() {
        client.say_part(&byte.to_string()).await;
        tokio::task::yield_now().await;
    }
    client.say("").await;
    assert_eq!(client.hear().await["id"], 77);
}

fn with_script(rules: Value, script: &str) -> World {
    let world = World::with_rules(rules);
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", script);
    world
}

const WORK: &str = "run_skill_script";

fn work() -> Value {
    json!({"name": "alpha", "relative_path": "scripts/work.sh", "args": ["x"]})
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_script_asks_the_person_behind_the_client() {
    let world = with_script(json!({}), "#!/bin/sh\necho did $1\n");
    let shelf = world.shelf();
    let mut client = Client::connect_with(&shelf, json!({"elicitation": {}})).await;
    client.call("skill", json!({"name": "alpha"})).await;
    client.answer = json!({"action": "decline"});
    let declined = client.call(WORK, work()).await;
    assert!(declined.starts_with("ApprovalDenied: the user said no"), "{declined}");
    client.answer = json!({"action": "cancel"});
    assert!(client.call(WORK, work()).await.starts_with("ApprovalDenied"));
    client.answer = json!({"action": "accept", "content": {"scope": "once"}});
    assert!(client.call(WORK, work()).await.contains("did x"));
    client.answer = json!({"action": "accept", "content": {"scope": "session"}});
    assert!(client.call(WORK, work()).await.contains("did x"));
    let asked = client.heard.len();
    assert_eq!(asked, 4);
    let question = client.heard[0]["params"]["message"].as_str().unwrap();
    assert!(question.contains("run_script") && question.contains("work.sh"), "{question}");
    assert!(client.call(WORK, work()).await.contains("did x"));
    assert_eq!(client.heard.len(), asked, "for the session means for the session");
    let mut other = Client::connect_with(&shelf, json!({"elicitation": {}})).await;
    other.answer = json!({"action": "decline"});
    other.call("skill", json!({"name": "alpha"})).await;
    assert!(other.call(WORK, work()).await.starts_with("ApprovalDenied"), "but for no other");
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn without_anyone_to_ask_only_what_rules_allow_is_done() {
    let world = with_script(json!({}), "#!/bin/sh\necho did $1\n");
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut client = Client::connect_with(&world.shelf(), capabilities).await;
        client.call("skill", json!({"name": "alpha"})).await;
        let refused = client.call(WORK, work()).await;
        assert!(refused.starts_with("ApprovalRequired"), "{refused}");
        assert!(refused.ends_with("skillful mcp --approve run_script:alpha/scripts/work.sh"));
        assert_eq!(
            client.call("skill", json!({"name": "alpha"})).await,
            "alpha already loaded; see above."
        );
    }
    let allowed = with_script(json!({"run_script": "allow"}), "#!/bin/sh\necho did $1\n");
    let mut client = Client::connect(&allowed.shelf()).await;
    client.call("skill", json!({"name": "alpha"})).await;
    assert!(client.call(WORK, work()).await.contains("did x"));
    let denied = with_script(json!({"run_script": "deny"}), "");
    let tools = Client::connect(&denied.shelf()).await.ask("tools/list", json!({})).await;
    let mut tools = tools["result"]["tools"].as_array().unwrap().iter();
    assert!(tools.all(|tool| tool["name"] != WORK), "not even offered");
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn the_stateless_revision_brings_the_answer_with_a_second_call() {
    let world = with_script(json!({}), "#!/bin/sh\necho did $1\n");
    let mut client = Client::unconnected(&world.shelf());
    let can = json!({"elicitation": {"form": {}}});
    let call = |arguments: Value| json!({"name": WORK, "arguments": arguments});
    client
        .ask(
            "tools/call",
            alone(json!({"name": "skill", "arguments": {"name": "alpha"}}), can.clone()),
        )
        .await;
    let asked = client.ask("tools/call", alone(call(work()), can.clone())).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let state = asked["result"]["requestState"].clone();
    let mut retried = call(work());
    retried["inputResponses"] =
        json!({"approval": {"action": "accept", "content": {"scope": "once"}}});
    retried["requestState"] = state.clone();
    let done = client.ask("tools/call", alone(retried.clone(), can.clone())).await;
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("did x"), "{done}");
    // An answer counts for what was asked, and for nothing else.
    retried["arguments"]["args"] = json!(["something else"]);
    let other = client.ask("tools/call", alone(retried, can)).await;
    assert_eq!(other["result"]["resultType"], "input_required", "{other}");
}

#[tokio::test]
async fn reading_asks_where_a_rule_says_so() {
    let world = World::with_rules(json!({"skill": {"alpha": "ask"}}));
    world.skill("alpha", "").skill("beta", "");
    let mut client = Client::connect(&world.shelf()).await;
    let uri = |name: &str| json!({"uri": format!("skill://{name}/SKILL.md")});
    assert!(client.ask("resources/read", uri("beta")).await["result"]["contents"].is_array());
    assert_eq!(client.ask("resources/read", uri("alpha")).await["error"]["code"], -32600);
    let mut asked = Client::connect_with(&world.shelf(), json!({"elicitation": {}})).await;
    asked.answer = json!({"action": "accept"});
    assert!(asked.ask("resources/read", uri("alpha")).await["result"]["contents"].is_array());
    assert_eq!(asked.heard.len(), 1);
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_client_that_disconnects_in_the_middle_leaves_nothing_running() {
    let world = with_script(json!({"run_script": "allow"}), ENDLESS);
    let shelf = world.shelf();
    let mut client = Client::connect(&shelf).await;
    client.call("skill", json!({"name": "alpha"})).await;
    client.begin("tools/call", json!({"name": WORK, "arguments": work()})).await;
    until_running(&world).await;
    drop(client);
    assert!(closed(&shelf).await, "the session ended, and with it the script");
    let record = &world.records()[0];
    let events = read(&record.join("events.jsonl"));
    assert!(events.contains("killed: the run was cancelled"), "{events}");
    assert_eq!(read(&record.join("final.md")), "The client ended the session.");
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_cancelled_request_ends_what_it_began_and_the_session_goes_on() {
    let world = with_script(json!({"run_script": "allow"}), ENDLESS);
    let shelf = world.shelf();
    let mut client = Client::connect(&shelf).await;
    client.call("skill", json!({"name": "alpha"})).await;
    let id = client.begin("tools/call", json!({"name": WORK, "arguments": work()})).await;
    until_running(&world).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.say(&cancel.to_string()).await;
    // One thing is done after the other, so the script has ended when this is answered.
    let again = client.call("skill", json!({"name": "alpha"})).await;
    assert_eq!(again, "alpha already loaded; see above.");
    drop(client);
    assert!(closed(&shelf).await);
    assert_eq!(world.records().len(), 1, "one record a session");
    assert!(
        read(&world.records()[0].join("events.jsonl")).contains("killed: the run was cancelled")
    );
}

#[tokio::test]
async fn a_question_whose_call_was_given_up_is_answered_with_no() {
    let world = with_script(json!({}), "#!/bin/sh\necho did it\n");
    let shelf = world.shelf();
    let mut client = Client::connect_with(&shelf, json!({"elicitation": {}})).await;
    client.call("skill", json!({"name": "alpha"})).await;
    let id = client.begin("tools/call", json!({"name": WORK, "arguments": work()})).await;
    let question = client.hear().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.say(&cancel.to_string()).await;
    let again = client.call("skill", json!({"name": "alpha"})).await;
    assert_eq!(again, "alpha already loaded; see above.");
    // Too late.
    let late = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}});
    client.say(&late.to_string()).await;
    client.ask("ping", json!({})).await;
    drop(client);
    assert!(closed(&shelf).await);
    let events = read(&world.records()[0].join("events.jsonl"));
    assert!(events.contains("nobody was there to ask") && !events.contains("did it"), "{events}");
}
