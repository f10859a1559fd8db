//! `skillful runs show`

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use agent::event::{Event, EventKind};
use agent::journal;
use serde_json::Value;
use skill::text::{for_terminal, for_terminal_block};

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Show what happened in a run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs show last\n  skillful runs show last --follow\n  skillful runs show last --json | jq '.[].type'"
)]
pub(super) struct Show {
    /// The run, or `last`
    run: String,
    /// Wait for what happens next, until the run ends or nobody works on it
    #[arg(long, conflicts_with = "json")]
    follow: bool,
}

impl Show {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let mut shown = 0;
        let mut is_left = false;
        loop {
            let events = journal::read(&folder).map_err(|error| super::of_journal(&error))?;
            let fresh = &events[shown.min(events.len())..];
            output.result(&events, |out, palette| {
                fresh.iter().try_for_each(|event| line(event, palette, out))
            })?;
            shown = events.len();
            let ended = events.last().is_some_and(|event| event.kind == EventKind::RunFinished);
            if ended || !self.follow {
                return Ok(ExitCode::SUCCESS);
            }
            if is_left {
                output.note("Nobody works on the run any more; `skillful run --resume` goes on.");
                return Ok(ExitCode::SUCCESS);
            }
            // Whatever was written before it was left is shown in the next round.
            is_left = !journal::is_in_use(&folder).map_err(|error| super::of_journal(&error))?;
            if !is_left {
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    }
}

fn line(event: &Event, palette: Palette, out: &mut dyn Write) -> std::io::Result<()> {
    let Palette { bold, dim, good, bad, warn } = palette;
    let data = &event.data;
    let text = |value: &Value| for_terminal(value.as_str().unwrap_or_default()).into_owned();
    let time = for_terminal(event.ts.get(11..19).unwrap_or_default());
    match event.kind {
        EventKind::RunStarted => {
            writeln!(out, "{dim}{time}{dim:#} {bold}{}{bold:#}", text(&data["setup"]["request"]))
        }
        EventKind::TurnStarted => writeln!(out, "{dim}{time} turn {}{dim:#}", event.turn),
        EventKind::PlanCreated | EventKind::PlanUpdated => {
            let steps = data["plan"]["steps"].as_array().cloned().unwrap_or_default();
            steps.iter().try_for_each(|step| {
                writeln!(
                    out,
                    "           {dim}{:11}{dim:#} {}",
                    text(&step["status"]),
                    text(&step["title"])
                )
            })
        }
        EventKind::ActionPlanned => {
            let action = serde_json::from_value::<agent::action::Action>(data["action"].clone());
            let summary =
                action.map_or_else(|_| text(&data["action"]["type"]), |action| action.summary());
            writeln!(
                out,
                "         → {bold}{}{bold:#} {dim}{}{dim:#}",
                for_terminal(&summary),
                text(&data["initiator"])
            )
        }
        EventKind::ApprovalRequired => {
            writeln!(out, "         {warn}?{warn:#} {}", text(&data["approval"]["effect"]))
        }
        EventKind::ApprovalGranted => {
            writeln!(out, "         {good}yes{good:#} {}", text(&data["answer"]["answer"]))
        }
        EventKind::ApprovalDenied => {
            writeln!(out, "         {bad}no{bad:#} {}", text(&data["answer"]["message"]))
        }
        EventKind::ObservationRecorded => match data["code"].as_str() {
            None => {
                let chars = data["chars"].to_string();
                let chars = for_terminal(&chars);
                writeln!(out, "         {good}✓{good:#} {dim}{chars} characters{dim:#}")
            }
            Some(code) => writeln!(out, "         {bad}✗ {}{bad:#}", for_terminal(code)),
        },
        EventKind::Error => {
            writeln!(out, "         {bad}{}{bad:#} {}", text(&data["code"]), text(&data["message"]))
        }
        EventKind::RunFinished => {
            writeln!(out, "{dim}{time} {}{dim:#}\n", text(&data["stop_reason"]))?;
            writeln!(
                out,
                "{}",
                for_terminal_block(data["answer"].as_str().unwrap_or_default().trim_end())
            )
        }
        _ => Ok(()),
    }
}
