//! What is said at the end of a run: its answer, what it waits for, and what became of the files that it changed.

use std::process::ExitCode;
use std::time::Duration;

use agent::budget::{Spent, Usage};
use agent::changes::NotedChanges;
use agent::outcome::{Status, StopReason};
use agent::question::Question;
use agent::request::Refusal;
use agent::run::Run;
use basics::text::for_terminal_block;
use permission::{ApprovalRequest, Invocation, argument};
use runtime::driver::Ending;
use runtime::runner::Finished;
use schemars::JsonSchema;
use serde::Serialize;

use super::screen::{Screen, counted, used};
use crate::failure::{Exit, Failure};
use crate::output::markdown::{Look, Markdown};
use crate::output::{Output, count};
use crate::terminal::panel::seconds;

/// Whoever ended the run with Ctrl-C.
pub(super) const INTERRUPTED: u8 = 130;

/// How a run ended.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunResult {
    run_id: String,
    status: Status,
    stop_reason: StopReason,
    answer: String,
    skills: Vec<String>,
    usage: Usage,
    /// What was used.
    budget: Spent,
    /// What is asked, where the run waits for an approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Box<ApprovalRequest>>,
    /// What is asked, where the run waits for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<Box<Question>>,
    /// What was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<RunChanges>,
}

/// What a run changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RunChanges {
    /// What came to your files.
    applied: Vec<NotedChanges>,
    /// What is kept apart from them.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<NotedChanges>,
    /// The command that applies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    apply: Option<String>,
    /// What is never applied, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    never_applied: Vec<String>,
}

impl RunChanges {
    fn of(run: &Run, invocation: &Invocation) -> Option<Self> {
        let (applied, kept) = (run.applied().to_vec(), run.pending().cloned());
        let never_applied = run.held_back().to_vec();
        let apply = kept.as_ref().map(|_| invocation.another(&["runs", "apply", run.id()]));
        let is_something = !applied.is_empty() || kept.is_some() || !never_applied.is_empty();
        is_something.then_some(Self { applied, kept, apply, never_applied })
    }
}

/// Where the end is told, and how the run can be gone on with.
pub(crate) struct Teller<'a> {
    pub(crate) output: &'a Output,
    pub(crate) screen: &'a Screen,
    pub(crate) invocation: &'a Invocation,
    /// Options that are needed again.
    pub(crate) options: Vec<String>,
    /// Whether events are printed, and nothing else.
    pub(crate) events: bool,
    /// Whether somebody said no to something.
    pub(crate) denied: bool,
    /// Whether changes are only applied by hand.
    pub(crate) keeps: bool,
    /// Whether it is a part of a conversation that goes on.
    pub(crate) is_chat: bool,
}

impl Teller<'_> {
    pub(crate) fn tell(&self, finished: Finished) -> Result<ExitCode, Failure> {
        let Finished { run, ending, unnoted, .. } = finished;
        let result = self.result(&run, ending);
        let Self { output, screen, .. } = self;
        if !self.events {
            output.result(&result, |out, _| {
                // Whoever stopped it knows why it has no answer.
                let is_stopped = screen.is_watched() && result.status == Status::Cancelled;
                match screen.has_shown(&result.answer) || result.answer.is_empty() || is_stopped {
                    true => Ok(()),
                    false => writeln!(out, "{}", shown_answer(result.answer.trim_end(), output)),
                }
            })?;
        }
        if screen.is_watched() {
            output.note(&self.closing(&run, &result));
        }
        if !output.json {
            self.tell_what_it_waits_for(&result)?;
        }
        if let Some(Refusal { code, message, .. }) = unnoted {
            let message = format!("{code}: {message}; nothing of it was applied");
            let hint = format!(
                "what it wrote is kept in the folder of the run, {}; `execution.layer_files` and `execution.layer_bytes` set the limits",
                result.run_id
            );
            return Err(Failure::new(Exit::Failed, "LayerTooLarge", message).hint(hint));
        }
        self.tell_held_back(&run);
        let waits = self.tell_changes(&run, &result)?;
        Ok(match result.status {
            Status::Completed if !self.denied && !waits => ExitCode::SUCCESS,
            Status::Completed | Status::Blocked => ExitCode::from(Exit::Approval as u8),
            Status::Cancelled => ExitCode::from(INTERRUPTED),
            // The planner's script was what somebody said no to.
            Status::Degraded if self.denied && result.stop_reason == StopReason::NoResult => {
                ExitCode::from(Exit::Approval as u8)
            }
            Status::Degraded => ExitCode::from(Exit::Failed as u8),
        })
    }

    /// Time, turns, tokens, cost, what changed, the run, and what can be done next.
    fn closing(&self, run: &Run, result: &RunResult) -> String {
        let spent = &result.budget;
        let how = match result.status {
            Status::Completed => "done",
            Status::Cancelled => "stopped",
            Status::Blocked | Status::Degraded => "ended early",
        };
        let time = Duration::from_millis(spent.wall_milliseconds);
        let turns = count(spent.turns.try_into().unwrap_or(usize::MAX), "turn");
        let mut parts = vec![format!("{how} in {}", seconds(time)), turns, used(&result.usage)];
        parts.extend(run.applied().iter().map(counted));
        let next = match (self.is_chat, run.applied().is_empty()) {
            (true, true) => "/runs".to_owned(),
            (true, false) => "/undo".to_owned(),
            (false, true) => format!("`{}`", self.invocation.another(&["runs", "show", run.id()])),
            (false, false) => format!("`{}`", self.invocation.another(&["runs", "undo", run.id()])),
        };
        if self.is_chat {
            parts.push(run.id().to_owned());
        }
        parts.push(next);
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    fn result(&self, run: &Run, ending: Ending) -> RunResult {
        let waiting = (StopReason::ApprovalRequired, String::new());
        let ((stop_reason, answer), approval, question) = match ending {
            Ending::Finished(outcome) => ((outcome.stop_reason, outcome.answer), None, None),
            Ending::Suspended(approval) => (waiting, Some(approval), None),
            Ending::Parked(question) => (waiting, None, Some(question)),
        };
        RunResult {
            run_id: run.id().to_owned(),
            status: stop_reason.status(),
            stop_reason,
            answer,
            skills: run.skills().into_iter().map(str::to_owned).collect(),
            usage: run.spent().usage,
            budget: run.spent(),
            approval,
            question,
            changes: RunChanges::of(run, self.invocation),
        }
    }

    fn tell_what_it_waits_for(&self, result: &RunResult) -> Result<(), Failure> {
        if let Some(question) = &result.approval {
            let command = question.params["command"].as_str();
            let command = command.map(|command| format!(" `{command}`")).unwrap_or_default();
            let needs = Failure::new(
                Exit::Approval,
                "ApprovalRequired",
                format!("this step needs your approval{command}: it {}", question.effect),
            );
            return Err(needs.hint(format!("to allow it, run: {}", question.replay)));
        }
        if let Some(question) = &result.question {
            let options: Vec<String> = question
                .options
                .iter()
                .map(|option| match &option.description {
                    Some(description) => format!("{} ({description})", option.label),
                    None => option.label.clone(),
                })
                .collect();
            let mut message = format!("the run waits for your answer: {}", question.question);
            if !options.is_empty() {
                message += &format!(" (answers: {})", options.join(", "));
            }
            let answer = question.options.first().map_or("TEXT", |option| &option.label);
            let mut words = vec!["run", "--resume", &result.run_id];
            words.extend(self.options.iter().map(String::as_str));
            words.extend(["--answer", answer]);
            let hint = format!("to answer, run: {}", self.invocation.another(&words));
            return Err(Failure::new(Exit::Approval, "AnswerRequired", message).hint(hint));
        }
        Ok(())
    }

    /// What is in the layer and stays there.
    fn tell_held_back(&self, run: &Run) {
        if run.held_back().is_empty() {
            return;
        }
        self.output.note("Never applied, and kept in the run's folder:");
        run.held_back().iter().for_each(|line| self.output.note(&format!("  {line}")));
        self.output.note(&format!(
            "`{} PATH` copies one of them.",
            self.invocation.another(&["runs", "take", run.id()])
        ));
    }

    /// What waits to be applied; whether that is because somebody did not agree, or nobody was there.
    fn tell_changes(&self, run: &Run, result: &RunResult) -> Result<bool, Failure> {
        let Some(kept) = run.pending() else { return Ok(false) };
        let another = |words: &[&str]| self.invocation.another(words);
        let apply = another(&["runs", "apply", argument(run.id()).as_str()]);
        let changes = another(&["runs", "changes", run.id(), "--diff"]);
        // A run that failed or was stopped has said so; its changes are kept.
        let is_done = result.status == Status::Completed;
        if is_done && run.unapplied() == Some("ApprovalRequired") && !self.output.json {
            let message = format!("{} for your approval", waits(kept));
            let hint = format!("look at the changes (`{changes}`), then run: {apply}");
            return Err(Failure::new(Exit::Approval, "ApprovalRequired", message).hint(hint));
        }
        if run.unapplied() == Some("Conflict") {
            self.output.note(&format!(
                "Nothing was applied, because files changed meanwhile; `{changes}` shows which."
            ));
        }
        self.output.note(&format!("{}; to apply: `{apply}`.", waits(kept)));
        Ok(is_done && !self.keeps)
    }
}

/// The answer: laid out where a terminal gets it, as it is anywhere else.
fn shown_answer(answer: &str, output: &Output) -> String {
    let Some(width) = output.width() else { return for_terminal_block(answer).into_owned() };
    let mut markdown = Markdown::new(Look::for_stream(&std::io::stdout()));
    let mut lines = markdown.push(answer, width);
    lines.extend(markdown.finish(width));
    lines.join("\n")
}

/// How many changes wait, in words.
fn waits(kept: &NotedChanges) -> String {
    match kept.count() {
        1 => "1 change waits".to_owned(),
        count => format!("{count} changes wait"),
    }
}
