//! How fast the MCP server is, and how much it takes: `cargo bench -p skillful --bench mcp`
//!
//! With 10,000 skills and a warm cache: the time from the start of the process to the answer of `tools/list`,
//! beside `skillful list`. Then 1,000 clients at once over HTTP, each with a session of its own that loads
//! a skill; they all stay until the last has its answer.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::print_stdout, reason = "a table is what it makes")]

#[path = "discovery/random.rs"]
mod random;
#[path = "discovery/skills.rs"]
mod skills;

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

const SKILLS: usize = 10_000;
const ROUNDS: usize = 21;
/// How much longer than `list` it may take to be ready for a client.
const RATIO: f64 = 1.5;
const CLIENTS: usize = 1_000;
const MOST_MEGABYTES: u64 = 200;

const TOKEN: &str = "a-token-that-only-this-benchmark-knows";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"skill","arguments":{"name":"csv-report"}}}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("discovery");
    let home = folder.join(SKILLS.to_string());
    skills::prepare(&home, SKILLS)?;
    let (mut listing, mut ready) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (list, tools) = (time_list(&home)?, time_tools(&home)?);
        // The first round fills the cache.
        if round > 0 {
            listing.push(list);
            ready.push(tools);
        }
    }
    let (listing, ready) = (median(listing), median(ready));
    let ratio = ready.as_secs_f64() / listing.as_secs_f64();
    println!(
        "{SKILLS} skills: list {listing:.1?}, initialize and tools/list {ready:.1?}, {ratio:.2} times as long (at most {RATIO})"
    );
    load(&folder)?;
    Ok(())
}

fn program(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skillful"));
    command.args(arguments).current_dir(home).env_clear();
    command.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache-mcp"));
    command
}

fn time_list(home: &Path) -> io::Result<Duration> {
    let clock = Instant::now();
    program(home, &["list"]).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok(clock.elapsed())
}

fn time_tools(home: &Path) -> Result<Duration, Box<dyn Error>> {
    let clock = Instant::now();
    let mut child = program(home, &["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("it has an input")?;
    writeln!(input, "{INITIALIZE}\n{INITIALIZED}\n{TOOLS}")?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("it has an output")?).lines();
    let answered = lines.by_ref().take(2).last().ok_or("it answers")??;
    let elapsed = clock.elapsed();
    if !answered.contains("\"tools\"") {
        return Err(format!("not the tools: {answered}").into());
    }
    drop(input);
    child.wait()?;
    Ok(elapsed)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Every client at once.
fn load(folder: &Path) -> Result<(), Box<dyn Error>> {
    let home = folder.join("mcp-load");
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home)?;
    let mut server = program(&home, &["mcp", "--http", "127.0.0.1:0"]);
    let mut child = server.env("SKILLFUL_MCP_TOKEN", TOKEN).stderr(Stdio::piped()).spawn()?;
    let outcome = meet(&mut child);
    child.kill()?;
    child.wait()?;
    outcome
}

fn meet(child: &mut Child) -> Result<(), Box<dyn Error>> {
    let mut line = String::new();
    // Kept open: the server may have more to say.
    let mut words = BufReader::new(child.stderr.take().ok_or("it says where")?);
    words.read_line(&mut line)?;
    let address = line.trim().strip_prefix("listening on http://").ok_or("it listens")?;
    let address: SocketAddr = address.trim_end_matches("/mcp").parse()?;
    let everyone = Arc::new(Barrier::new(CLIENTS + 1));
    let clock = Instant::now();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let everyone = Arc::clone(&everyone);
            let converse = move || {
                let outcome = converse(address);
                everyone.wait();
                outcome
            };
            thread::Builder::new().stack_size(128 * 1024).spawn(converse)
        })
        .collect::<io::Result<_>>()?;
    everyone.wait();
    let (elapsed, megabytes) = (clock.elapsed(), peak_megabytes(child.id())?);
    let outcomes: Vec<io::Result<()>> =
        clients.into_iter().filter_map(|client| client.join().ok()).collect();
    let failed: Vec<&io::Error> = outcomes.iter().filter_map(|one| one.as_ref().err()).collect();
    println!(
        "{CLIENTS} sessions at once: {} failed, {elapsed:.1?}, {megabytes} MB at most (at most {MOST_MEGABYTES})",
        failed.len()
    );
    if let Some(first) = failed.first() {
        println!("the first failure: {first}");
    }
    Ok(())
}

fn converse(address: SocketAddr) -> io::Result<()> {
    let begun = post(address, None, INITIALIZE, "initialize")?;
    let header = |line: &&str| line.to_lowercase().starts_with("mcp-session-id:");
    let session = begun.lines().find(header).and_then(|line| line.split_once(": "));
    let (_, session) = session.ok_or_else(|| io::Error::other(format!("no session: {begun}")))?;
    let session = session.trim();
    post(address, Some(session), INITIALIZED, "initialized")?;
    for (request, expected) in [(TOOLS, "search_skills"), (CALL, "[Skill: csv-report")] {
        let answer = post(address, Some(session), request, expected)?;
        if !answer.contains(expected) {
            return Err(io::Error::other(answer));
        }
    }
    Ok(())
}

/// One request and its answer; `name` says in an error which one it was.
fn post(address: SocketAddr, session: Option<&str>, body: &str, name: &str) -> io::Result<String> {
    exchange(address, session, body)
        .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))
}

fn exchange(address: SocketAddr, session: Option<&str>, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn peak_megabytes(process: u32) -> io::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes / 1_024).ok_or_else(|| io::Error::other("no peak"))
}
