//! Tests of the crate from outside: lines as data, lines made to hide a command, and real shells as judges.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on fails, and one that is skipped says so"
)]

mod hiding;
mod limits;
mod lines;
mod slow;

use skillful_shell::{Command, Line};

/// Whether a rule against `program` and `program *` would find it, or a person would have to look.
fn is_noticed(line: &Line, program: &str) -> bool {
    !line.is_clear() || is_listed(line, program)
}

fn is_listed(line: &Line, program: &str) -> bool {
    let texts = line.commands.iter().map(Command::text).chain(line.shadows());
    texts.into_iter().any(|text| text == program || text.starts_with(&format!("{program} ")))
}
