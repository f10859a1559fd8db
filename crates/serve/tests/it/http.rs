//! MCP over HTTP: who is let in, how many, and that clients do not meet.

mod admission;
mod client;
mod limits;

use std::time::Duration;

use client::{alone, begin, call, initialize, post, request, send, served, served_with};
use serde_json::{Value, json};
use skillful_serve::http::Limits;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::support::{ENDLESS, World, closed, until_running};

fn patient(seconds: u64) -> Limits {
    Limits { patience: Duration::from_secs(seconds), ..Limits::default() }
}

#[tokio::test]
async fn only_requests_of_this_machine_are_let_in() {
    let world = World::new();
    let (address, _stop) = served(&world.shelf()).await;
    let own = format!("http://127.0.0.1:{}", address.port());
    let elsewhere = format!("http://localhost:{}", address.port() ^ 1);
    for (headers, expected) in [
        (vec![], 200),
        (vec![("Host", "localhost")], 200),
        (vec![("Origin", own.as_str())], 200),
        (vec![("Host", "evil.example")], 403),
        (vec![("Host", "127.0.0.1.evil.example")], 403),
        (vec![("Origin", "http://evil.example")], 403),
        (vec![("Origin", "null")], 403),
        (vec![("Origin", elsewhere.as_str())], 403),
    ] {
        let (status, answer) = post(address, &headers, &initialize()).await;
        assert_eq!(status, expected, "{headers:?}: {answer}");
    }
}

#[tokio::test]
async fn sessions_do_not_see_each_other() {
    let world = World::new();
    world.skill("alpha", "");
    let shelf = world.shelf();
    let (address, stop) = served(&shelf).await;
    let (one, other) = (begin(address).await, begin(address).await);
    assert!(call(address, &one, "alpha").await.contains("Do it."));
    assert!(call(address, &one, "alpha").await.contains("already loaded"));
    assert!(call(address, &other, "alpha").await.contains("Do it."));
    assert!(!call(address, "made-up", "alpha").await.contains("Do it."));
    stop.cancel();
    assert!(closed(&shelf).await, "no session outlives the server");
    assert_eq!(world.records().len(), 2);
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_request_of_the_stateless_revision_stands_for_itself() {
    let world = World::with_rules(json!({"run_script": "allow"}));
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", "#!/bin/sh\necho did it\n");
    let shelf = world.shelf();
    let (address, _stop) = served(&shelf).await;
    for (tool, arguments, expected) in [
        ("skill", json!({"name": "alpha"}), "Do it."),
        ("skill", json!({"name": "alpha"}), "Do it."),
        ("load_skill_resource", json!({"name": "alpha", "relative_path": "SKILL.md"}), "Do it."),
        (
            "run_skill_script",
            json!({"name": "alpha", "relative_path": "scripts/work.sh"}),
            "did it",
        ),
    ] {
        let (headers, body) = alone(tool, json!({"arguments": arguments}), json!({}));
        let (status, answer) = post(address, &headers, &body).await;
        assert_eq!(status, 200, "{answer}");
        assert!(answer.contains(expected), "{tool}: {answer}");
    }
    assert!(closed(&shelf).await, "nothing is left open between requests");
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_and_the_server_lives_on() {
    let world = World::new();
    world.skill("alpha", "");
    let (address, _stop) = served(&world.shelf()).await;
    let session = begin(address).await;
    let huge = "x".repeat(5 << 20);
    for (body, expected) in
        [("{", 400..500), ("[]", 400..500), (huge.as_str(), 413..414), ("7", 400..500)]
    {
        let (status, answer) = post(address, &[("Mcp-Session-Id", &session)], body).await;
        assert!(expected.contains(&status), "{}: {answer}", &body[..1]);
        assert!(call(address, &session, "alpha").await.contains("alpha"));
    }
}

#[tokio::test]
async fn a_slow_client_keeps_nobody_else_waiting_and_is_told() {
    let world = World::new();
    world.skill("alpha", "");
    let (address, _stop) = served_with(&world.shelf(), patient(3)).await;
    let session = begin(address).await;
    let mut unbegun = TcpStream::connect(address).await.unwrap();
    unbegun.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Le").await.unwrap();
    let length = [("Content-Length", "100"), ("Mcp-Session-Id", session.as_str())];
    let unfinished = post(address, &length, "{");
    assert!(call(address, &session, "alpha").await.contains("Do it."));
    assert_eq!(unfinished.await.0, 408);
}

fn work() -> Value {
    json!({"name": "alpha", "relative_path": "scripts/work.sh"})
}

fn endless() -> World {
    let world = World::with_rules(json!({"run_script": "allow"}));
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", ENDLESS);
    world
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_client_that_breaks_off_and_stays_away_leaves_nothing_running() {
    let world = endless();
    let shelf = world.shelf();
    let (address, _stop) = served_with(&shelf, patient(3)).await;
    let session = begin(address).await;
    call(address, &session, "alpha").await;
    let body = request("tools/call", json!({"name": "run_skill_script", "arguments": work()}));
    let connection = send(address, &[("Mcp-Session-Id", &session)], &body).await;
    until_running(&world).await;
    drop(connection);
    assert!(closed(&shelf).await, "the session ended, and with it the script");
    assert_eq!(post(address, &[("Mcp-Session-Id", &session)], &body).await.0, 404);
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_client_that_breaks_off_can_come_back() {
    let world = endless();
    let shelf = world.shelf();
    let (address, _stop) = served(&shelf).await;
    let session = begin(address).await;
    let id = [("Mcp-Session-Id", session.as_str())];
    call(address, &session, "alpha").await;
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "run_skill_script", "arguments": work()}})
    .to_string();
    let connection = send(address, &id, &body).await;
    until_running(&world).await;
    drop(connection);
    // Somebody is there again, and ends the script: the session was not ended meanwhile.
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(post(address, &id, &cancel.to_string()).await.0, 202);
    assert!(call(address, &session, "alpha").await.contains("already loaded"));
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_request_that_stands_for_itself_ends_with_its_connection() {
    let world = endless();
    let shelf = world.shelf();
    let (address, _stop) = served(&shelf).await;
    let (headers, body) = alone("run_skill_script", json!({"arguments": work()}), json!({}));
    let connection = send(address, &headers, &body).await;
    until_running(&world).await;
    drop(connection);
    assert!(closed(&shelf).await, "the script ended");
}
