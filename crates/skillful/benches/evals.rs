//! How fast cases are run: `cargo bench -p skillful --bench evals`
//!
//! One run makes 100 and then 1,000 cases of two skills' worth of turns each, runs them offline through the real
//! program, and prints the time and the most memory that the program and any run of a case had.

#![allow(missing_docs, reason = "a benchmark has no interface")]
#![allow(clippy::print_stdout, reason = "a table is what it makes")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

/// What 1,000 cases may take on two cores.
const TARGET_SECONDS: f64 = 30.0;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let skill = folder.path().join("skills/alpha");
    fs::create_dir_all(skill.join("reference"))?;
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: alpha\ndescription: Writes reports.\n---\n\n# Alpha\n",
    )?;
    fs::write(skill.join("reference/guide.md"), "# Guide\n".repeat(100))?;
    println!("{:>6} {:>10} {:>14} {:>10}", "cases", "seconds", "ms a case", "peak MB");
    for count in [100, 1_000] {
        let seconds = run(folder.path(), count)?;
        let peak = getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss() / 1_024;
        let verdict = match count {
            1_000 if seconds <= TARGET_SECONDS => "≤ 30 s pass",
            1_000 => "≤ 30 s FAIL",
            _ => "",
        };
        let each = seconds * 1_000.0 / f64::from(count);
        println!("{count:>6} {seconds:>10.2} {each:>14.2} {peak:>10} {verdict}");
    }
    Ok(())
}

fn run(folder: &Path, count: u32) -> Result<f64, Box<dyn Error>> {
    let cases: Vec<Value> = (0..count).map(case).collect();
    let file = folder.join("cases.json");
    fs::write(&file, Value::Array(cases).to_string())?;
    let began = Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_skillful"))
        .args(["eval", "run", "-q"])
        .arg(&file)
        .current_dir(folder)
        .env("HOME", folder)
        .stdout(Stdio::null())
        .status()?;
    match status.success() {
        true => Ok(began.elapsed().as_secs_f64()),
        false => Err("the cases did not pass".into()),
    }
}

fn case(number: u32) -> Value {
    let skills = json!([{"name": "alpha"}]);
    json!({
        "id": format!("case-{number}"),
        "input": "Write the alpha report",
        "setup": {"skill_roots": ["skills"]},
        "expect": {"skills_all_of": ["alpha"], "output": {"contains_all": ["done"]}, "stop_reason": "final_answer"},
        "mock": {"turns": [
            {"action": {"type": "select_skills", "payload": {"skills": skills, "reason": "it fits"}}},
            {"action": {"type": "load_resource", "payload": {"skill": "alpha", "relative_path": "reference/guide.md"}}},
            {"action": {"type": "final_answer", "payload": {"content": "all is done"}}}
        ], "streaming": {"enabled": true, "chunk_bytes": 16}}
    })
}
