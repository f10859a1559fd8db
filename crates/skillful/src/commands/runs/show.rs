//! `skillful runs show`

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use agent::event::{Event, EventKind};
use agent::journal::{self, Origin};
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

/// Whoever looks at a record should know whether it is theirs, and whether it is what was written.
pub(crate) fn tell_origin(
    run: &str,
    folder: &Path,
    session: &Session,
    output: &Output,
) -> Result<(), Failure> {
    let owner = session.owner()?;
    let found =
        journal::verify(folder, owner.as_ref()).map_err(|error| super::of_journal(&error))?;
    if !found.ok {
        output.warn(&format!(
            "this record is not what was written; `skillful runs verify {run}` says where"
        ));
    } else if found.origin != Origin::Here {
        output.note(&format!("This run was {}.", found.origin.describe()));
    }
    Ok(())
}

impl Show {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let mut shown = 0;
        let mut is_left = false;
        tell_origin(&self.run, &folder, session, output)?;
        loop {
            let events = journal::read(&folder).map_err(|error| super::of_journal(&error))?;
            let fresh = &events[shown.min(events.len())..];
            output.result(&events, |out, palette| {
                fresh.iter().try_for_each(|event| line(event, palette, out))
            })?;
            shown = events.len();
            let ended = events.last().is_some_and(|event| event.kind == EventKind::RunFinished);
            if ended {
                return Ok(ExitCode::SUCCESS);
            }
            if is_left || !self.follow {
                let is_used = !is_left && is_used(&folder)?;
                output.note(&unended(&self.run, events.last(), is_used));
                return Ok(ExitCode::SUCCESS);
            }
            // Whatever was written before it was left is shown in the next round.
            is_left = !is_used(&folder)?;
            if !is_left {
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    }
}

fn is_used(folder: &Path) -> Result<bool, Failure> {
    journal::is_in_use(folder).map_err(|error| super::of_journal(&error))
}

/// What to say after the last event of a run that has not ended.
fn unended(run: &str, last: Option<&Event>, is_used: bool) -> String {
    let waits = last.is_some_and(|event| event.kind == EventKind::ApprovalRequired);
    match (is_used, waits) {
        (true, _) => {
            format!("It goes on; `skillful runs show {run} --follow` waits for what comes.")
        }
        (_, true) => format!("It waits for an answer; `skillful run --resume {run}` asks again."),
        _ => format!("It did not end; `skillful run --resume {run}` goes on."),
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
        EventKind::ActionValidated if data["ok"] == false => {
            let refusal = data.get("refusal").unwrap_or(&data["prepared"]["refusal"]);
            let (message, hint) = (text(&refusal["message"]), text(&refusal["hint"]));
            writeln!(out, "           {message}\n           {dim}{hint}{dim:#}")
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
