//! `skillful runs show`

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use agent::event::{ActionValidated, Event, EventData, PlanUpdated};
use agent::plan::Plan;
use agent::question::QuestionAnswer;
use agent::request::{Prepared, Refusal};
use basics::text::{for_terminal, for_terminal_block};
use permission::Answer;
use runtime::journal::{self, Origin};

use crate::commands::run::screen::counted;
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
    /// Keep showing events until the run ends
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
    let found = journal::verify(folder, owner.as_ref())?;
    if !found.ok {
        output.warn(&format!(
            "this record changed after it was written; `skillful runs verify {run}` shows where"
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
            let events = journal::read(&folder)?;
            let fresh = &events[shown.min(events.len())..];
            output.result(&events, |out, palette| {
                fresh.iter().try_for_each(|event| line(event, palette, out))
            })?;
            shown = events.len();
            let ended = journal::has_ended(&events);
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
    journal::is_in_use(folder).map_err(|error| Failure::of(&error))
}

/// What to say after the last event of a run that has not ended.
fn unended(run: &str, last: Option<&Event>, is_used: bool) -> String {
    let waits = last.is_some_and(|event| matches!(event.data, EventData::ApprovalRequired(_)));
    match (is_used, waits) {
        (true, _) => {
            format!("The run continues; `skillful runs show {run} --follow` keeps watching.")
        }
        (_, true) => {
            format!("The run waits for your answer; `skillful run --resume {run}` asks again.")
        }
        _ => format!("The run did not end; `skillful run --resume {run}` continues it."),
    }
}

fn line(event: &Event, palette: Palette, out: &mut dyn Write) -> std::io::Result<()> {
    let Palette { bold, dim, good, bad, warn } = palette;
    let time = for_terminal(event.ts.get(11..19).unwrap_or_default());
    match &event.data {
        EventData::RunStarted(started) => {
            let request = for_terminal(&started.setup.request);
            writeln!(out, "{dim}{time}{dim:#} {bold}{request}{bold:#}")
        }
        EventData::TurnStarted(_) => writeln!(out, "{dim}{time} turn {}{dim:#}", event.turn),
        EventData::PlanCreated(created) => steps(&created.plan, palette, out),
        EventData::PlanUpdated(PlanUpdated::Changed { plan }) => steps(plan, palette, out),
        EventData::ActionPlanned(planned) => {
            let (summary, initiator) = (planned.action.summary(), planned.initiator.name());
            let summary = for_terminal(&summary);
            writeln!(out, "         → {bold}{summary}{bold:#} {dim}{initiator}{dim:#}")
        }
        EventData::ActionValidated(validated) => match refusal(validated) {
            None => Ok(()),
            Some(Refusal { message, hint, .. }) => {
                let (message, hint) = (for_terminal(message), for_terminal(hint));
                writeln!(out, "           {message}\n           {dim}{hint}{dim:#}")
            }
        },
        EventData::QuestionAsked(asked) => {
            writeln!(out, "         {warn}?{warn:#} {}", for_terminal(&asked.question.question))
        }
        EventData::QuestionAnswered(answered) => {
            writeln!(out, "         {}", for_terminal(&said(&answered.answer)))
        }
        EventData::ChangesMade(made) if !made.changes.is_empty() => {
            writeln!(out, "         {dim}kept apart: {}{dim:#}", counted(&made.changes))
        }
        EventData::ChangesApplied(applied) => {
            writeln!(out, "         {good}applied{good:#} {}", counted(&applied.changes))
        }
        EventData::ChangesUndone(undone) => {
            writeln!(out, "         {warn}taken back{warn:#} {}", counted(&undone.changes))
        }
        EventData::ApprovalRequired(required) => {
            let effect = for_terminal(&required.approval.effect);
            writeln!(out, "         {warn}?{warn:#} {effect}")
        }
        EventData::ApprovalGranted(answered) => {
            writeln!(out, "         {good}yes{good:#} {}", answered.answer.name())
        }
        EventData::ApprovalDenied(answered) => match &answered.answer {
            Answer::Later => writeln!(out, "         {warn}kept for later{warn:#}"),
            Answer::Reject { message: Some(message) } => {
                writeln!(out, "         {bad}no{bad:#} {}", for_terminal(message))
            }
            _ => writeln!(out, "         {bad}no{bad:#}"),
        },
        EventData::ObservationRecorded(recorded) => match &recorded.code {
            None => {
                let chars = recorded.chars;
                writeln!(out, "         {good}✓{good:#} {dim}{chars} characters{dim:#}")
            }
            Some(code) => writeln!(out, "         {bad}✗ {}{bad:#}", for_terminal(code)),
        },
        EventData::Error(error) => {
            let (code, message) = (for_terminal(&error.code), for_terminal(&error.message));
            writeln!(out, "         {bad}{code}{bad:#} {message}")
        }
        EventData::RunFinished(finished) => {
            writeln!(out, "{dim}{time} {}{dim:#}\n", finished.stop_reason.name())?;
            writeln!(out, "{}", for_terminal_block(finished.answer.trim_end()))
        }
        _ => Ok(()),
    }
}

/// What became of a question, in words.
fn said(answer: &QuestionAnswer) -> String {
    match answer {
        QuestionAnswer::Said(words) => words.join(", "),
        QuestionAnswer::Kept(name) => format!("a secret, in the variable {name}"),
        QuestionAnswer::Nobody => "nobody answered".to_owned(),
        QuestionAnswer::CarryOut(mode) => format!("carry it out, in the mode {mode}"),
        QuestionAnswer::GoOn => "go on".to_owned(),
        QuestionAnswer::No(None) => "no".to_owned(),
        QuestionAnswer::No(Some(message)) => format!("no: {message}"),
    }
}

fn steps(plan: &Plan, palette: Palette, out: &mut dyn Write) -> std::io::Result<()> {
    let Palette { dim, .. } = palette;
    plan.steps.iter().try_for_each(|step| {
        let (status, title) = (step.status.name(), for_terminal(&step.title));
        writeln!(out, "           {dim}{status:11}{dim:#} {title}")
    })
}

/// Why an action may not be done.
fn refusal(validated: &ActionValidated) -> Option<&Refusal> {
    match validated {
        ActionValidated::Guard { refusal, .. } => refusal.as_ref(),
        ActionValidated::Permission { prepared, .. } => match &**prepared {
            Prepared::Refused { refusal } | Prepared::Denied { refusal, .. } => Some(refusal),
            Prepared::Ask { .. } | Prepared::Allowed { .. } => None,
        },
    }
}
