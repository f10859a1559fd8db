//! `skillful runs replay`

use std::process::ExitCode;

use runtime::conversation::read_setup;
use runtime::journal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Play a run again from its record, and compare
///
/// Uses no model and no tool. The recorded replies and results go into the same program, which must reach the same
/// actions, prompts, budgets and answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skillful runs replay last")]
pub(super) struct Replay {
    /// The run, or `last`
    run: String,
}

/// Whether a run can be repeated from its record.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Replayed {
    identical: bool,
    events: usize,
    /// The first difference.
    difference: Option<Value>,
}

impl Replay {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let events = journal::read(&folder)?;
        let difference = journal::replay(read_setup(&folder, &events)?, &events).err();
        let replayed = Replayed {
            identical: difference.is_none(),
            events: events.len(),
            difference: difference.as_ref().map(|difference| {
                json!({"seq": difference.seq, "path": difference.path, "expected": difference.expected, "found": difference.found})
            }),
        };
        output.result(&replayed, |out, Palette { good, bad, .. }| match &difference {
            None => writeln!(out, "{good}identical{good:#}  {} events", replayed.events),
            Some(difference) => writeln!(
                out,
                "{bad}different{bad:#}  {}",
                basics::text::for_terminal_block(&difference.to_string())
            ),
        })?;
        Ok(if replayed.identical { ExitCode::SUCCESS } else { ExitCode::from(Exit::Failed as u8) })
    }
}
