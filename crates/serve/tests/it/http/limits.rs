//! What is too much: sessions, connections, requests, and headers that do not end.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use skillful_serve::http::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::client::{
    BEARER, alone, answer, begin, call, initialize, message, post, request, send, served_with,
    write,
};
use super::{endless, work};
use crate::support::{World, closed, until_running};

/// What a server that is broken never does; the time is only there so that the test ends.
async fn at_last<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.expect("it happens at last")
}

/// Calls without a session until the status is this.
async fn until_answered(address: SocketAddr, expected: u16) {
    let (headers, body) = alone("search_skills", json!({"arguments": {"query": "x"}}), json!({}));
    at_last(async {
        while post(address, &headers, &body).await.0 != expected {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn one_session_too_many_is_refused_and_the_others_go_on() {
    let world = World::new();
    world.skill("alpha", "");
    let limits = Limits { sessions: 3, ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        sessions.push(begin(address).await);
    }
    for _ in 0..20 {
        let (status, answer) = post(address, &[], &initialize()).await;
        assert_eq!(status, 503, "{answer}");
        assert!(answer.to_lowercase().contains("retry-after: "), "{answer}");
        assert!(answer.contains("there are already 3 sessions"), "{answer}");
    }
    for session in &sessions {
        assert!(call(address, session, "alpha").await.contains("Do it."));
    }
    let (headers, body) = alone("skill", json!({"arguments": {"name": "alpha"}}), json!({}));
    let (status, answered) = post(address, &headers, &body).await;
    assert_eq!(status, 200, "what needs no session is answered: {answered}");
    let mut stream = TcpStream::connect(address).await.unwrap();
    write(&mut stream, "DELETE /mcp", &[BEARER, ("Mcp-Session-Id", &sessions[0])], "").await;
    assert_eq!(answer(stream).await.0, 202);
    begin(address).await;
    assert_eq!(post(address, &[], &initialize()).await.0, 503);
}

#[tokio::test]
async fn many_who_come_at_once_do_not_get_past_the_limit() {
    let world = World::new();
    let limits = Limits { sessions: 5, ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    let clients: Vec<_> = (0..60)
        .map(|_| tokio::spawn(async move { post(address, &[], &initialize()).await.0 }))
        .collect();
    let mut begun = 0;
    for client in clients {
        let status = client.await.unwrap();
        assert!(status == 200 || status == 503, "{status}");
        begun += usize::from(status == 200);
    }
    assert_eq!(begun, 5);
}

#[tokio::test]
async fn a_session_in_which_nothing_happens_ends_and_makes_room() {
    let world = World::new();
    world.skill("alpha", "");
    let shelf = world.shelf();
    let limits = Limits { sessions: 1, idle: Duration::from_millis(300), ..Limits::default() };
    let (address, _stop) = served_with(&shelf, limits).await;
    let session = begin(address).await;
    call(address, &session, "alpha").await;
    assert!(closed(&shelf).await, "its record is finished");
    // Its place is free a moment later than its record.
    at_last(async { while post(address, &[], &initialize()).await.0 != 200 {} }).await;
    let late = post(address, &[("Mcp-Session-Id", &session)], &request("ping", json!({}))).await;
    assert_eq!(late.0, 404);
}

#[tokio::test]
async fn headers_that_do_not_end_end_the_connection() {
    let world = World::new();
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    for beginning in ["", "POST", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-More: and mo"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(beginning.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let _ = at_last(stream.read_to_end(&mut rest)).await;
    }
}

#[tokio::test]
async fn headers_that_come_drop_by_drop_end_the_connection_too() {
    let world = World::new();
    let limits = Limits { head: Duration::from_millis(200), ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    let (mut read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
    let drops = tokio::spawn(async move {
        let begun = write.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-More: ").await;
        let mut going_on = begun.is_ok();
        while going_on {
            tokio::time::sleep(Duration::from_millis(20)).await;
            going_on = write.write_all(b"x").await.is_ok();
        }
    });
    let _ = at_last(read.read_to_end(&mut Vec::new())).await;
    drop(read);
    drops.await.unwrap();
}

#[tokio::test]
async fn headers_that_are_too_long_are_refused() {
    let world = World::new();
    let (address, _stop) = served_with(&world.shelf(), Limits::default()).await;
    let long = "x".repeat(64 * 1024);
    let (status, answer) = post(address, &[("X-Long", &long)], &initialize()).await;
    assert_eq!(status, 431, "{answer}");
    begin(address).await;
}

#[tokio::test]
async fn one_connection_too_many_waits_until_another_is_closed() {
    let world = World::new();
    let limits = Limits { connections: 1, head: Duration::from_millis(500), ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    // Answered and kept open, so it has the only place until the server gives it up.
    let mut first = TcpStream::connect(address).await.unwrap();
    let ping = request("ping", json!({}));
    write(&mut first, "POST /mcp", &[BEARER, ("Connection", "keep-alive")], &ping).await;
    let mut byte = [0];
    assert_eq!(first.read(&mut byte).await.unwrap(), 1, "it is served");
    let mut second = send(address, &[], &initialize()).await;
    let mut rest = Vec::new();
    tokio::select! {
        biased;
        _ = first.read_to_end(&mut rest) => {}
        _ = second.read(&mut byte) => panic!("there was no place for it"),
    }
    assert!(answer(second).await.1.contains("mcp-session-id"), "now there is");
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_request_has_its_place_until_what_it_began_has_ended() {
    let world = endless();
    let shelf = world.shelf();
    let limits = Limits { requests: 1, patience: Duration::from_secs(2), ..Limits::default() };
    let (address, _stop) = served_with(&shelf, limits).await;
    let (headers, body) = alone("run_skill_script", json!({"arguments": work()}), json!({}));
    let connection = send(address, &headers, &body).await;
    until_running(&world).await;
    let (status, refused) = post(address, &[], &initialize()).await;
    assert_eq!(status, 503, "{refused}");
    assert!(refused.to_lowercase().contains("retry-after: "), "{refused}");
    drop(connection);
    assert!(closed(&shelf).await, "the script ended");
    until_answered(address, 200).await;
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_client_that_does_not_wait_for_its_answers_fills_its_places() {
    let world = endless();
    let shelf = world.shelf();
    let limits = Limits { requests: 4, ..Limits::default() };
    let (address, stop) = served_with(&shelf, limits).await;
    let session = begin(address).await;
    let own = [("Mcp-Session-Id", session.as_str())];
    call(address, &session, "alpha").await;
    let run = request("tools/call", json!({"name": "run_skill_script", "arguments": work()}));
    drop(send(address, &own, &run).await);
    until_running(&world).await;
    // Each of these waits for the script, whether the client does or not.
    let mut refused = 0;
    for _ in 0..40 {
        let mut connection = send(address, &own, &run).await;
        let mut status = [0; 12];
        connection.read_exact(&mut status).await.unwrap();
        refused += usize::from(status.ends_with(b"503"));
    }
    assert!(refused >= 36, "{refused}");
    stop.cancel();
    assert!(closed(&shelf).await);
}

#[tokio::test]
async fn a_long_request_takes_more_places_than_a_short_one() {
    let world = World::new();
    let limits = Limits { requests: 8, ..Limits::default() };
    let (address, _stop) = served_with(&world.shelf(), limits).await;
    let length = (1 << 20).to_string();
    let mut long = send(address, &[("Content-Length", &length)], "{").await;
    until_answered(address, 503).await;
    long.write_all(&vec![b' '; (1 << 20) - 1]).await.unwrap();
    let (status, answered) = answer(long).await;
    assert!((400..500).contains(&status), "{answered}");
    until_answered(address, 200).await;
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn an_approval_without_a_session_holds_for_its_request_alone() {
    let world = World::new();
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", "#!/bin/sh\necho did it\n");
    let shelf = world.shelf();
    let (address, _stop) = served_with(&shelf, Limits::default()).await;
    let can = json!({"elicitation": {"form": {}}});
    let asked = json!({"arguments": work()});
    let (headers, body) = alone("run_skill_script", asked.clone(), can.clone());
    let question = message(&post(address, &headers, &body).await.1)["result"].clone();
    assert_eq!(question["resultType"], "input_required", "{question}");
    let form = &question["inputRequests"]["approval"]["params"]["requestedSchema"];
    assert!(!form.to_string().contains("scope"), "nothing to choose: {form}");
    for scope in ["once", "session", "always"] {
        let mut retried = asked.clone();
        retried["inputResponses"] =
            json!({"approval": {"action": "accept", "content": {"scope": scope}}});
        retried["requestState"] = question["requestState"].clone();
        let (headers, body) = alone("run_skill_script", retried, can.clone());
        let done = post(address, &headers, &body).await.1;
        assert!(done.contains("did it"), "{done}");
        let (headers, body) = alone("run_skill_script", asked.clone(), can.clone());
        let again = message(&post(address, &headers, &body).await.1);
        assert_eq!(again["result"]["resultType"], "input_required", "{scope}: {again}");
    }
    // An answer was given to the files as they were, all of them.
    world.write("explicit/alpha/scripts/helper.sh", "echo something else\n");
    let mut retried = asked;
    retried["inputResponses"] = json!({"approval": {"action": "accept"}});
    retried["requestState"] = question["requestState"].clone();
    let (headers, body) = alone("run_skill_script", retried, can);
    let changed = message(&post(address, &headers, &body).await.1);
    assert_eq!(changed["result"]["resultType"], "input_required", "{changed}");
}

#[tokio::test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
async fn a_call_that_asks_twice_can_be_answered() {
    let world = World::with_rules(json!({"skill": "ask"}));
    world.skill("alpha", "").write("explicit/alpha/scripts/work.sh", "#!/bin/sh\necho did it\n");
    let shelf = world.shelf();
    let (address, _stop) = served_with(&shelf, Limits::default()).await;
    let can = json!({"elicitation": {"form": {}}});
    let mut params = json!({"arguments": work()});
    let mut questions = Vec::new();
    for _ in 0..3 {
        let (headers, body) = alone("run_skill_script", params.clone(), can.clone());
        let heard = message(&post(address, &headers, &body).await.1);
        if heard["result"]["resultType"] != "input_required" {
            assert!(heard.to_string().contains("did it"), "{heard}");
            break;
        }
        params["requestState"] = heard["result"]["requestState"].clone();
        params["inputResponses"] = json!({"approval": {"action": "accept"}});
        questions.push(heard["result"]["inputRequests"]["approval"]["params"]["message"].clone());
    }
    assert_eq!(questions.len(), 2, "{questions:?}");
}
