//! How long it takes to read a model's whole reply as a decision, and to show it while it arrives.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use skillful_model::decision::parse;
use skillful_model::early::Early;

fn main() {
    println!("{:<34} {:>9} {:>9} {:>9}", "reply", "bytes", "read", "shown");
    for (name, text) in [
        ("typical action", action()),
        (
            "the same, in prose and a fence",
            format!("<think>So.</think>Here:\n```json\n{}\n```", action()),
        ),
        ("answer of 4 KB", answer(4_000)),
        ("answer of 900 KB", answer(900_000)),
        ("refused: duplicate key", action().replace("\"args\"", "\"relative_path\"")),
        ("refused: 1 MB of open brackets", "[".repeat(1_000_000)),
    ] {
        let read = best(|| {
            let _ = black_box(parse(black_box(&text)));
        });
        let shown = best(|| {
            let mut early = Early::new();
            for piece in black_box(text.as_bytes()).chunks(16) {
                early.push(piece, &mut |shown| {
                    black_box(shown);
                });
            }
        });
        println!("{name:<34} {:>9} {:>9} {:>9}", text.len(), micros(read), micros(shown));
    }
}

fn action() -> String {
    r#"{"action": {"type": "run_script", "payload": {"skill": {"name": "csv-report", "source": "builtin"}, "relative_path": "scripts/report.sh", "args": ["sales.csv", "--delimiter", "comma"]}}, "plan_update": {"mode": "patch", "ops": [{"op": "set", "path": "/steps/s1/status", "value": "completed"}, {"op": "set", "path": "/steps/s2/status", "value": "in_progress"}]}, "diagnostics": null}"#.to_owned()
}

fn answer(bytes: usize) -> String {
    let line = "The form has 14 fields; \"name\" and \"date\" are required — see `fields.json`.\n";
    let content = serde_json::to_string(&line.repeat(bytes / line.len())).unwrap();
    format!(r#"{{"action": {{"type": "final_answer", "payload": {{"content": {content}}}}}}}"#)
}

fn micros(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

/// The best of the rounds that fit into half a second: the others were disturbed.
fn best(mut round: impl FnMut()) -> Duration {
    let (started, mut best) = (Instant::now(), Duration::MAX);
    while started.elapsed() < Duration::from_millis(500) {
        let began = Instant::now();
        round();
        best = best.min(began.elapsed());
    }
    best
}
