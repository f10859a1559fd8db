//! Who is let in.

use std::os::unix::fs::MetadataExt;

use serde_json::json;
use skillful_serve::http::{Entrance, Limits};
use tokio::net::{TcpStream, UnixListener, UnixStream};

use super::client::{
    BEARER, TOKEN, alone, answer, begin, initialize, post, request, serve, served, write,
};
use crate::support::World;

#[tokio::test]
async fn nothing_is_done_for_whoever_does_not_send_the_token() {
    let world = World::new();
    world.skill("alpha", "");
    let shelf = world.shelf();
    let (address, _stop) = served(&shelf).await;
    let session = begin(address).await;
    let own = ("Mcp-Session-Id", session.as_str());
    let (stateless, alone) = alone("skill", json!({"arguments": {"name": "alpha"}}), json!({}));
    let call = request("tools/call", json!({"name": "skill", "arguments": {"name": "alpha"}}));
    let in_query = format!("POST /mcp?access_token={TOKEN}&token={TOKEN}");
    let basic =
        ("Authorization", "Basic dTp0aGUtdG9rZW4tb2YtYS1zZXJ2ZXItaW4tYS10ZXN0LTAxMjM0NTY3ODk=");
    let wrong = ("Authorization", "Bearer the-token-of-a-server-in-a-test-0123456788");
    let bare = ("Authorization", TOKEN);
    for (line, headers, body) in [
        ("POST /mcp", vec![], initialize()),
        ("POST /mcp", vec![wrong], initialize()),
        ("POST /mcp", vec![bare], initialize()),
        ("POST /mcp", vec![basic], initialize()),
        ("POST /mcp", vec![BEARER, wrong], initialize()),
        ("POST /mcp", vec![("Cookie", BEARER.1)], initialize()),
        ("POST /mcp", vec![("X-Authorization", BEARER.1)], initialize()),
        (&in_query, vec![], initialize()),
        ("POST /mcp", vec![own], call.clone()),
        ("POST /mcp", vec![own, wrong], call.clone()),
        ("POST /mcp", stateless.to_vec(), alone),
        ("GET /mcp", vec![own], String::new()),
        ("DELETE /mcp", vec![own], String::new()),
        ("HEAD /mcp", vec![own], String::new()),
        ("OPTIONS /mcp", vec![own], String::new()),
        ("POST /elsewhere", vec![], String::new()),
        // Before anything else is looked at.
        ("POST /mcp", vec![("Host", "evil.example")], "x".repeat(100)),
        ("POST /mcp", vec![("Content-Length", "999999999")], String::new()),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        write(&mut stream, line, &headers, &body).await;
        let (status, answer) = answer(stream).await;
        assert_eq!(status, 401, "{line} {headers:?}: {answer}");
        assert!(answer.to_lowercase().contains("\r\nwww-authenticate: bearer"), "{answer}");
        assert!(!answer.contains(TOKEN) && !answer.contains("alpha"), "{answer}");
    }
    assert!(world.records().is_empty(), "nothing was begun");
    let answered = post(address, &[own], &call).await.1;
    assert!(answered.contains("Do it."), "nobody ended the session: {answered}");
}

#[tokio::test]
async fn a_socket_file_answers_its_own_user_without_a_token() {
    let world = World::new();
    let shelf = world.shelf();
    let user = std::fs::metadata(&world.root).unwrap().uid();
    for (name, user, expected) in [("own", user, 200), ("other", user + 1, 0)] {
        let path = world.root.join(name);
        let listener = UnixListener::bind(&path).unwrap();
        let _stop = serve(&shelf, Entrance::Socket { listener, user }, Limits::default());
        for (headers, expected) in [
            (vec![], expected),
            (vec![("Host", "evil.example")], if expected == 200 { 403 } else { 0 }),
            (vec![("Origin", "http://localhost")], if expected == 200 { 403 } else { 0 }),
        ] {
            let mut stream = UnixStream::connect(&path).await.unwrap();
            let request = async {
                // Whoever is not let in finds the door closed while still writing.
                let written = tokio::spawn(async move {
                    write(&mut stream, "POST /mcp", &headers, &initialize()).await;
                    stream
                });
                match written.await {
                    Ok(stream) => answer(stream).await,
                    Err(_) => (0, String::new()),
                }
            };
            let (status, answer) = request.await;
            assert_eq!(status, expected, "{name}: {answer}");
        }
    }
}
