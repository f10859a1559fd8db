use std::time::{Duration, Instant};

use super::{Asked, Panel, Status};
use crate::output::markdown::Look;
use crate::output::{Palette, fit};
use crate::terminal::editor::Editor;
use crate::terminal::keys::Key;

fn panel() -> Panel {
    Panel::new(Palette::default(), Look::default())
}

fn status(what: &str, used: &str) -> Status {
    Status { what: what.to_owned(), since: Instant::now(), used: used.to_owned() }
}

/// The rows twelve seconds after the status was set.
fn rows(panel: &Panel, width: usize, height: usize) -> Vec<String> {
    let since = panel.status.as_ref().map_or_else(Instant::now, |status| status.since);
    panel.draw(width, height, since + Duration::from_secs(12)).rows
}

#[test]
fn the_status_says_what_how_long_and_how_to_stop_it_and_the_rest_where_it_fits() {
    let mut panel = panel();
    panel.status = Some(status("waiting for qwen3", "1,234 tokens · $0.0100"));
    let all = "waiting for qwen3, 12 s · 1,234 tokens · $0.0100 · Ctrl-C stops";
    assert_eq!(rows(&panel, 250, 24), [all]);
    assert_eq!(rows(&panel, 41, 24), ["waiting for qwen3, 12 s · Ctrl-C stops"]);
    panel.status = Some(status("running a command that is\u{1b}[2J long", ""));
    assert_eq!(rows(&panel, 41, 24), ["running a command…, 12 s · Ctrl-C stops"]);
}

#[test]
fn everything_fits_and_the_question_gives_way_last() {
    let mut panel = panel();
    panel.plan = (0..30).map(|number| format!("○ step {number}")).collect();
    panel.output.push(&"a line of output\n".repeat(50));
    panel.answer.push(&"words ".repeat(3_000), 80);
    panel.prompt = Some(Editor::default());
    panel.question = Some(Asked {
        title: "Allow this?".to_owned(),
        sentence: "It changes your files.".to_owned(),
        details: (0..100).map(|number| format!("+line {number} {}", "表".repeat(50))).collect(),
        choices: "[y]es once  [n]o  [v]iew all  [?] ".to_owned(),
        ..Asked::default()
    });
    for (width, height) in [(20, 8), (40, 10), (80, 24), (250, 80)] {
        let drawing = panel.draw(width, height, Instant::now());
        assert!(drawing.rows.len() < height, "{width}x{height}: {:#?}", drawing.rows);
        assert!(drawing.rows.iter().all(|row| fit::columns(row) < width), "{:#?}", drawing.rows);
        let text = drawing.rows.join("\n");
        assert!(text.contains("[y]es once") && text.contains("more lines"), "{text}");
        let (row, column) = drawing.cursor.unwrap();
        assert!(row == drawing.rows.len() - 1 && column < width, "{text}");
    }
}

#[test]
fn a_secret_is_not_seen() {
    let mut panel = panel();
    let mut question =
        Asked { choices: "Your answer: ".to_owned(), is_secret: true, ..Asked::default() };
    "hunter2".chars().for_each(|c| drop(question.answer.key(Key::Char(c))));
    panel.question = Some(question);
    assert_eq!(rows(&panel, 80, 24).last().unwrap(), "Your answer: •••••••");
}

#[test]
fn what_a_program_takes_back_or_never_ends_is_not_kept() {
    let mut panel = panel();
    panel.output.push("10 %\r20 %\r\n");
    panel.output.push(&"x".repeat(100_000));
    panel.output.push("\nlast");
    let rows = rows(&panel, 80, 24);
    assert_eq!((rows[0].as_str(), rows[2].as_str()), ("  20 %", "  last"));
    assert_eq!(panel.output.count, 3);
}
