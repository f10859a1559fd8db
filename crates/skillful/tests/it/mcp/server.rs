//! `skillful mcp --http` as a process of its own, and clients that speak to it over a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus, Stdio};

use serde_json::{Value, json};

use crate::world::World;

/// Long enough for a server that takes it from a file or a variable.
pub(crate) const TOKEN: &str = "a-token-that-only-the-tests-of-this-server-know";

/// A server that ends with the test.
pub(crate) struct Server {
    child: Child,
    words: BufReader<ChildStderr>,
    /// What it said first.
    pub(crate) first: String,
}

impl Server {
    pub(crate) fn start(world: &World, flags: &str) -> Self {
        let mut command = world.command(&format!("exec skillful mcp {flags}"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let words = BufReader::new(child.stderr.take().unwrap());
        let mut server = Self { child, words, first: String::new() };
        server.first = server.line();
        server
    }

    /// The next line on stderr.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.words.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> String {
        let place = self.first.strip_prefix("listening on http://").expect("it says where");
        place.trim_end_matches("/mcp").to_owned()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(mut self) -> ExitStatus {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request with these headers, and everything that comes back.
pub(crate) fn exchange(
    mut stream: impl Read + Write,
    headers: &[&str],
    body: &str,
) -> (u16, String) {
    send(&mut stream, headers, body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0), answer)
}

fn send(stream: &mut impl Write, headers: &[&str], body: &str) {
    let length = body.len();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    // A server that has seen enough does not read on.
    let _ = stream.write_all(request.as_bytes());
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

pub(crate) fn initialize(capabilities: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
        "capabilities": capabilities, "clientInfo": {"name": "test", "version": "1"}}})
    .to_string()
}

pub(crate) fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address).unwrap()
}

pub(crate) fn connect_file(path: &Path) -> UnixStream {
    UnixStream::connect(path).unwrap()
}

/// A client with a session, which can be asked.
pub(crate) struct Client {
    address: String,
    headers: [String; 2],
}

impl Client {
    pub(crate) fn begin(address: &str, token: &str) -> Self {
        let authorization = bearer(token);
        let body = initialize(json!({"elicitation": {}}));
        let (status, answer) = exchange(connect(address), &[&authorization], &body);
        assert_eq!(status, 200, "{answer}");
        let is_session = |line: &&str| line.to_lowercase().starts_with("mcp-session-id:");
        let session = answer.lines().find(is_session).unwrap().to_owned();
        let client = Self { address: address.to_owned(), headers: [authorization, session] };
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn headers(&self) -> [&str; 2] {
        [&self.headers[0], &self.headers[1]]
    }

    fn say(&self, message: &Value) {
        let (status, answer) =
            exchange(connect(&self.address), &self.headers(), &message.to_string());
        assert_eq!(status, 202, "{answer}");
    }

    /// Calls a tool and answers what is asked; the tool's words, and the questions.
    pub(crate) fn call(&self, params: &Value, answer: &Value) -> (String, Vec<Value>) {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let mut stream = connect(&self.address);
        send(&mut stream, &self.headers(), &request.to_string());
        let mut questions = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let Some(data) = line.strip_prefix("data:").filter(|data| !data.trim().is_empty())
            else {
                continue;
            };
            let heard: Value = serde_json::from_str(data).unwrap();
            if heard["method"] == "elicitation/create" {
                self.say(&json!({"jsonrpc": "2.0", "id": heard["id"], "result": answer}));
                questions.push(heard);
            } else if heard["id"] == 7 {
                let text = heard["result"]["content"][0]["text"].as_str().unwrap_or_default();
                return (text.to_owned(), questions);
            }
        }
        panic!("the call was not answered");
    }
}

/// A client that starts the server itself, and can be asked.
pub(crate) struct OwnClient {
    child: Child,
    words: BufReader<ChildStdout>,
}

impl OwnClient {
    pub(crate) fn begin(world: &World) -> Self {
        let mut command = world.command("exec skillful mcp");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let words = BufReader::new(child.stdout.take().unwrap());
        let mut client = Self { child, words };
        client.say(&initialize(json!({"elicitation": {}})));
        client.hear();
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        client
    }

    fn say(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.words.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// As [`Client::call`].
    pub(crate) fn call(&mut self, params: &Value, answer: &Value) -> (String, Vec<Value>) {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        self.say(&request.to_string());
        let mut questions = Vec::new();
        loop {
            let heard = self.hear();
            if heard["method"] == "elicitation/create" {
                let answer = json!({"jsonrpc": "2.0", "id": heard["id"], "result": answer});
                self.say(&answer.to_string());
                questions.push(heard);
            } else if heard["id"] == 7 {
                let text = heard["result"]["content"][0]["text"].as_str().unwrap_or_default();
                return (text.to_owned(), questions);
            }
        }
    }

    /// Leaves, and waits until the server has ended.
    pub(crate) fn leave(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}
