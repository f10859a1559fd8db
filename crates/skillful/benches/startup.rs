//! How soon a run asks its model: `cargo bench -p skillful --bench startup`
//!
//! The time from the start of the process until the whole first request has arrived at a server on this machine,
//! with a warm cache. Beside it stand the figures of other agents that were measured the same way, on a machine
//! of this kind.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::print_stdout, reason = "a table is what it makes")]

#[path = "discovery/random.rs"]
mod random;
#[path = "discovery/skills.rs"]
mod skills;

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Skills, what is allowed in milliseconds, and what Codex, gemini-cli and opencode take.
const ROWS: [(usize, f64, [u32; 3]); 3] = [
    (10, 12.0, [123, 1_589, 2_660]),
    (1_000, 20.0, [380, 1_821, 3_404]),
    (10_000, 60.0, [1_050, 4_479, 31_493]),
];
const ROUNDS: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("discovery");
    println!(
        "{:>7} {:>10} {:>10} {:>8}   Codex  gemini-cli  opencode",
        "skills", "median ms", "minimum", "target"
    );
    for (count, target, [codex, gemini, opencode]) in ROWS {
        let home = folder.join(count.to_string());
        skills::prepare(&home, count)?;
        // One workspace for all rounds: its first run also writes the snapshot of the index that later ones share.
        let work = tempfile::tempdir()?;
        let mut times = Vec::new();
        for round in 0..=ROUNDS {
            let time = until_asked(&home, work.path())?.as_secs_f64() * 1_000.0;
            // The first fills the cache.
            if round > 0 {
                times.push(time);
            }
        }
        times.sort_by(f64::total_cmp);
        let (median, least) = (times[times.len() / 2], times[0]);
        let verdict = if median <= target { "pass" } else { "FAIL" };
        println!(
            "{count:>7} {median:>10.1} {least:>10.1} {target:>4} {verdict:<4} {codex:>6} {gemini:>11} {opencode:>9}"
        );
    }
    Ok(())
}

/// Starts a run, and answers with how long it took until its first request was there.
fn until_asked(home: &Path, work: &Path) -> Result<Duration, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1", listener.local_addr()?);
    let began = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_skillful"))
        .args(["run", "-q", "--model", "openai:any", "--base-url", &address, "Audit the API spec"])
        .current_dir(work)
        .env_clear()
        .env("HOME", home)
        .env("OPENAI_API_KEY", "none-at-all")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let asked = answer(&listener, &mut child, began);
    child.wait()?;
    asked
}

fn answer(
    listener: &TcpListener,
    child: &mut Child,
    began: Instant,
) -> Result<Duration, Box<dyn Error>> {
    let (stream, _) = listener.accept()?;
    let mut reader = BufReader::new(&stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            child.kill()?;
            return Err("the request broke off".into());
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let asked = began.elapsed();
    // A refusal that is final ends the run at once.
    let mut writer = &stream;
    writer.write_all(
        b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    )?;
    Ok(asked)
}
