//! Is there an Ollama on this machine, and which models does it have?
//!
//! Invariant: where there is none, the answer takes no longer than the machine needs to say so.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Where Ollama listens unless it is told otherwise.
pub const ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 11434);

/// How long this machine may take to say whether anyone listens.
const CONNECT: Duration = Duration::from_millis(50);
/// How long whoever listens may take to answer.
const ANSWER: Duration = Duration::from_millis(500);
const MAX_BYTES: u64 = 1 << 20;

/// The models of the Ollama at an address of this machine, the newest first; none where nobody answers as one.
pub fn models(address: SocketAddr) -> Vec<String> {
    ask(address).and_then(|answer| names(&answer)).unwrap_or_default()
}

fn ask(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    stream.set_write_timeout(Some(ANSWER)).ok()?;
    let request = format!("GET /api/tags HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer).ok()?;
    String::from_utf8(answer).ok()
}

fn names(answer: &str) -> Option<Vec<String>> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split_whitespace().nth(1)?;
    let listed: Value = serde_json::from_str(body).ok()?;
    let models = listed["models"].as_array().filter(|_| status == "200")?;
    Some(models.iter().filter_map(|model| model["name"].as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests;
