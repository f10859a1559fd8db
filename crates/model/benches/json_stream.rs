//! How fast the push parser reads a model's reply, by size of the pieces, against `serde_json` on the whole text.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use skillful_model::json::{Event, Mode, Parser};

const PIECES: [(&str, usize); 5] =
    [("whole", usize::MAX), ("4 KiB", 4096), ("16 B", 16), ("4 B", 4), ("1 B", 1)];

fn main() {
    for (name, text) in [("long answer", answer()), ("many small values", rows())] {
        println!("{name}, {} KB", text.len() / 1000);
        println!("  {:<22} {:>6.0} MB/s", "serde_json, whole", reference(&text));
        for (piece, size) in PIECES {
            println!("  {piece:<22} {:>6.0} MB/s", pushed(&text, size));
        }
    }
}

/// An answer of markdown: long runs, line breaks, quotes, and now and then a character beyond ASCII.
fn answer() -> String {
    let line = "The form has 14 fields; \"name\" and \"date\" are required — see `fields.json`.\n\tNext: fill it.\n";
    let content = serde_json::to_string(&line.repeat(20_000)).unwrap();
    format!(
        r#"{{"action":{{"type":"final_answer","payload":{{"content":{content}}}}},"plan_update":null}}"#
    )
}

/// Rows of short keys, numbers and literals, in an action that no path reports.
fn rows() -> String {
    let row = r#"{"id": 120934, "title": "fill the form", "done": false, "score": -12.75e3, "tags": ["pdf", "form"], "next": null}"#;
    let rows = vec![row; 16_000].join(", ");
    format!(
        r#"{{"action":{{"type":"call_tool","payload":{{"tool":"x","params":{{"rows":[{rows}]}}}}}}}}"#
    )
}

fn reference(text: &str) -> f64 {
    measure(text.len(), || {
        black_box(serde_json::from_str::<serde_json::Value>(black_box(text)).unwrap());
    })
}

fn pushed(text: &str, size: usize) -> f64 {
    let watches = [
        ("$.action.type", Mode::Value, 0),
        ("$.action.payload.skills[*].name", Mode::Value, 1),
        ("$.action.payload.content", Mode::Deltas, 2),
    ];
    measure(text.len(), || {
        let mut length = 0;
        let mut on_event = |event: Event<'_, i32>| {
            if let Event::Delta(_, text) = event {
                length += text.len();
            }
        };
        let mut parser = Parser::new(&watches).unwrap();
        for piece in text.as_bytes().chunks(size.min(text.len())) {
            parser.push(black_box(piece), &mut on_event).unwrap();
        }
        parser.finish(&mut on_event).unwrap();
        black_box(length);
    })
}

/// The best of the rounds that fit into a second: the others were disturbed.
fn measure(bytes: usize, mut round: impl FnMut()) -> f64 {
    let (started, mut best) = (Instant::now(), Duration::MAX);
    while started.elapsed() < Duration::from_secs(1) {
        let began = Instant::now();
        round();
        best = best.min(began.elapsed());
    }
    bytes as f64 / 1e6 / best.as_secs_f64()
}
