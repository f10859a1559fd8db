//! Is there a model server on this machine, and which models does it have?
//!
//! Invariant: where there is none, the answer takes no longer than the machine needs to say so.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long this machine may take to say whether anyone listens.
const CONNECT: Duration = Duration::from_millis(50);
/// How long whoever listens may take to answer.
const ANSWER: Duration = Duration::from_millis(500);
const MAX_BYTES: u64 = 1 << 20;

/// How a server lists its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// As Ollama does, the newest first.
    Ollama,
    /// As OpenAI does, and many others with it.
    OpenAi,
}

/// The models of the server at an address of this machine; nothing where nobody answers as one.
pub fn models(address: SocketAddr, listing: Listing) -> Option<Vec<String>> {
    ask(address, listing).and_then(|answer| names(&answer, listing))
}

fn ask(address: SocketAddr, listing: Listing) -> Option<String> {
    let path = match listing {
        Listing::Ollama => "/api/tags",
        Listing::OpenAi => "/v1/models",
    };
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    stream.set_write_timeout(Some(ANSWER)).ok()?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer).ok()?;
    String::from_utf8(answer).ok()
}

fn names(answer: &str, listing: Listing) -> Option<Vec<String>> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split_whitespace().nth(1)?;
    let listed: Value = serde_json::from_str(body).ok()?;
    let (list, name) = match listing {
        Listing::Ollama => ("models", "name"),
        Listing::OpenAi => ("data", "id"),
    };
    let models = listed[list].as_array().filter(|_| status == "200")?;
    Some(models.iter().filter_map(|model| model[name].as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests;
