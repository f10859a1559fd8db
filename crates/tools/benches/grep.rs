//! The `grep` tool against `rg` over a 100 MB tree: the target is at most 1.5 times as long.
#![expect(clippy::print_stdout, reason = "the table is the result")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use permission::{Configuration, Engine, Verdict};
use serde_json::json;
use skillful_tools::call::Call;
use skillful_tools::outcome::Outcome;
use skillful_tools::perform::perform;
use skillful_tools::workspace::Workspace;

const RUNS: usize = 15;

const WORDS: [&str; 16] = [
    "let", "return", "self", "option", "result", "value", "config", "token", "parser", "stream",
    "buffer", "index", "error", "path", "match", "string",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bytes = write_tree(folder.path())?;
    let engine = Engine::new("/project", Configuration::default());
    let workspace = Workspace::open(folder.path())?;
    println!("{} MB in 5,000 files; the best of {RUNS} runs, in milliseconds", bytes / 1_000_000);
    println!(
        "{:<24} {:>7} {:>7} {:>7} {:>7} {:>10}",
        "pattern", "lines", "grep", "rg", "ratio", "CPU ratio"
    );
    for (name, pattern, ignore_case) in [
        ("rare word", "needle_4711", false),
        ("word, any case", "NEEDLE_4711", true),
        ("no match", "nothing_like_this", false),
        ("regular expression", r"parser\s+\w+\s+needle_\d+", false),
        ("a match in many lines", "stream buffer index", false),
    ] {
        let call = || search(&engine, &workspace, pattern, ignore_case);
        let lines = call()?.facts["matches"].as_u64().unwrap_or_default();
        let (mut ours, mut theirs) = (f64::MAX, f64::MAX);
        let before = processor_time()?;
        // In turns, so that other work on the machine disturbs both alike.
        for _ in 0..RUNS {
            ours = ours.min(milliseconds(|| call().map(drop))?);
            theirs = theirs.min(milliseconds(|| ripgrep(folder.path(), pattern, ignore_case))?);
        }
        let after = processor_time()?;
        let processor = (after.0 - before.0) / (after.1 - before.1);
        let ratio = ours / theirs;
        println!("{name:<24} {lines:>7} {ours:>7.1} {theirs:>7.1} {ratio:>7.2} {processor:>10.2}");
    }
    Ok(())
}

/// 5,000 files of 20 KB in 100 directories, the same ones every time.
fn write_tree(root: &Path) -> std::io::Result<usize> {
    let mut state = 1_u64;
    let mut bytes = 0;
    for number in 0..5_000 {
        let folder = root.join(format!("module_{}/part_{}", number % 10, number % 100));
        fs::create_dir_all(&folder)?;
        let mut text = String::with_capacity(21_000);
        while text.len() < 20_000 {
            for _ in 0..9 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                text.push_str(WORDS[(state >> 60) as usize]);
                text.push(' ');
            }
            text.push('\n');
        }
        text.push_str(&format!("parser value needle_{number}\n"));
        bytes += text.len();
        fs::write(folder.join(format!("file_{number}.txt")), text)?;
    }
    Ok(bytes)
}

fn search(
    engine: &Engine,
    workspace: &Workspace,
    pattern: &str,
    ignore_case: bool,
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let call = Call::parse("grep", json!({"pattern": pattern, "ignore_case": ignore_case}))?;
    match engine.decide(call.resolve(workspace)?, None) {
        Verdict::Allowed(call) => Ok(perform(call, engine, workspace)?),
        _ => Err("searching is allowed by default".into()),
    }
}

fn ripgrep(
    root: &Path,
    pattern: &str,
    ignore_case: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let case = if ignore_case { "--ignore-case" } else { "--case-sensitive" };
    let flags = ["--line-number", "--no-heading", "--color", "never", case, pattern];
    Command::new("rg").args(flags).arg(root).output()?;
    Ok(())
}

fn milliseconds(
    run: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<f64, Box<dyn std::error::Error>> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// The processor time of this process and of its children so far, which a busy machine hardly changes.
fn processor_time() -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/stat")?;
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    // In ticks: user and system of this process, then user and system of its children.
    let ticks: Vec<f64> = fields.skip(11).take(4).map(str::parse).collect::<Result<_, _>>()?;
    Ok((ticks[0] + ticks[1], ticks[2] + ticks[3]))
}
