//! A server over HTTP on this machine, and requests to it as they go over the wire.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use skillful_serve::http::{Door, Entrance, Limits, Token};
use skillful_serve::shelf::Shelf;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

pub(crate) const TOKEN: &str = "the-token-of-a-server-in-a-test-0123456789";
pub(crate) const BEARER: (&str, &str) =
    ("Authorization", "Bearer the-token-of-a-server-in-a-test-0123456789");

pub(crate) async fn served(shelf: &Arc<Shelf>) -> (SocketAddr, CancellationToken) {
    served_with(shelf, Limits::default()).await
}

pub(crate) async fn served_with(
    shelf: &Arc<Shelf>,
    limits: Limits,
) -> (SocketAddr, CancellationToken) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let entrance = Entrance::Network { listener, token: Token::parse(TOKEN).unwrap() };
    (address, serve(shelf, entrance, limits))
}

pub(crate) fn serve(shelf: &Arc<Shelf>, entrance: Entrance, limits: Limits) -> CancellationToken {
    let stop = CancellationToken::new();
    let (shelf, stopped) = (Arc::clone(shelf), stop.clone());
    let door = Door { entrance, names: Vec::new(), limits };
    tokio::spawn(async move { skillful_serve::http::serve_http(shelf, door, stopped).await });
    stop
}

/// Sends one request with the token; the status, and all of the answer until the server closes.
pub(crate) async fn post(
    address: SocketAddr,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, String) {
    answer(send(address, headers, body).await).await
}

/// Everything until the server closes, with its status.
pub(crate) async fn answer(mut stream: impl AsyncRead + Unpin) -> (u16, String) {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), answer)
}

/// Sends one request with the token and does not wait.
pub(crate) async fn send(address: SocketAddr, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let headers = [&[BEARER], headers].concat();
    let mut stream = TcpStream::connect(address).await.unwrap();
    write(&mut stream, "POST /mcp", &headers, body).await;
    stream
}

/// Writes one request as it is.
pub(crate) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    line: &str,
    headers: &[(&str, &str)],
    body: &str,
) {
    let mut head = format!(
        "{line} HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    );
    let length = body.len().to_string();
    for (name, value) in
        [("Connection", "close"), ("Content-Length", length.as_str()), ("Host", "localhost")]
    {
        if !headers.iter().any(|(given, _)| *given == name) {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
    // A server that has seen enough does not read on.
    let _ = stream.write_all(body.as_bytes()).await;
}

pub(crate) fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

pub(crate) fn initialize() -> String {
    request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}),
    )
}

/// Begins a session; its id.
pub(crate) async fn begin(address: SocketAddr) -> String {
    let (status, answer) = post(address, &[], &initialize()).await;
    assert_eq!(status, 200, "{answer}");
    session_of(&answer)
}

pub(crate) fn session_of(answer: &str) -> String {
    let line =
        answer.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:")).unwrap();
    line.split_once(':').unwrap().1.trim().to_owned()
}

pub(crate) async fn call(address: SocketAddr, session: &str, name: &str) -> String {
    let body = request("tools/call", json!({"name": "skill", "arguments": {"name": name}}));
    post(address, &[("Mcp-Session-Id", session)], &body).await.1
}

/// A call of the stateless revision, by a client that can or cannot be asked.
pub(crate) fn alone(tool: &str, mut params: Value, can: Value) -> ([(&str, &str); 3], String) {
    let headers =
        [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/call"), ("Mcp-Name", tool)];
    params["name"] = tool.into();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": can,
    });
    (headers, request("tools/call", params))
}

/// The one message in an answer.
pub(crate) fn message(answer: &str) -> Value {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|data| serde_json::from_str(data).ok()).next().unwrap()
}
