//! What a person sees of a run while it goes on.
//!
//! On a terminal: the plan with its steps ticking, each action as soon as it can be known, the answer as
//! it is written. In a pipe: nothing but the answer, at the end.

use std::io::{IsTerminal, Write};

use agent::action::Action;
use agent::budget::Left;
use agent::changes::NotedChanges;
use agent::event::{AssistantDelta, Error, Event, EventData, PlanUpdated};
use agent::plan::{Plan, PlanStep, StepStatus};
use basics::text::{for_terminal, for_terminal_block};
use model::early::Shown;
use runtime::driver::Listener;

use crate::output::{Output, Palette};

/// What a person sees of a run.
pub(super) struct Screen {
    mode: Mode,
    palette: Palette,
    /// What is known of the current action before it is complete.
    action: Announced,
    /// What was shown of the answer.
    answer: String,
    plan: Vec<PlanStep>,
    /// Whether the last line on the screen can be added to.
    line_open: bool,
    /// Whether that line is the answer's.
    answer_open: bool,
    /// A delta that comes after the last event.
    last: Option<Event>,
}

/// What is known of an action, and how much of that is on the screen.
#[derive(Default)]
struct Announced {
    kind: Option<String>,
    waiting: Vec<String>,
}

#[derive(PartialEq)]
enum Mode {
    /// Events as JSON lines on stdout.
    Events,
    /// For a person.
    Live {
        /// Whether the answer can be shown while it is written.
        streams_answer: bool,
    },
    /// Nothing but what makes it wait.
    Quiet,
    /// Nothing.
    Silent,
}

impl Screen {
    pub(super) fn new(output: &Output, events: bool) -> Self {
        let mode = if events {
            Mode::Events
        } else if output.quiet {
            Mode::Silent
        } else if std::io::stderr().is_terminal() && !output.json {
            Mode::Live { streams_answer: std::io::stdout().is_terminal() }
        } else {
            Mode::Quiet
        };
        Self {
            mode,
            palette: Palette::for_stream(&std::io::stderr()),
            action: Announced::default(),
            answer: String::new(),
            plan: Vec::new(),
            line_open: false,
            answer_open: false,
            last: None,
        }
    }

    /// Whether this answer is on the screen already; what was shown may have come of a try that failed.
    pub(super) fn has_shown(&self, answer: &str) -> bool {
        self.answer == answer
    }

    /// The end of what was written while the run went on.
    pub(super) fn finish(&mut self) {
        self.end_line();
    }

    fn show(&mut self, shown: Shown<'_>) {
        match shown {
            Shown::Action(kind) => self.action.kind = Some(kind.to_owned()),
            Shown::Skill(text) | Shown::Target(text) => {
                self.action.waiting.push(text.to_owned());
            }
            Shown::Answer(text) => return self.show_answer(text),
        }
        self.announce();
    }

    /// The next piece of the answer.
    fn show_answer(&mut self, text: &str) {
        match self.mode {
            Mode::Events => self.print_delta(text),
            Mode::Live { streams_answer: true } => {
                out(&for_terminal_block(text));
                self.answer.push_str(text);
                self.answer_open = !text.ends_with('\n');
            }
            _ => {}
        }
    }

    /// A piece of the answer as an event. It is shown, not stored, so it has no number of its own.
    fn print_delta(&mut self, text: &str) {
        let Some(delta) = &mut self.last else { return };
        delta.data = EventData::AssistantDelta(AssistantDelta { content: text.to_owned() });
        print_event(delta);
    }

    /// Prints what is known of the action, once it is known which it is.
    fn announce(&mut self) {
        if self.mode == Mode::Events {
            return;
        }
        let Palette { bold, .. } = self.palette;
        let Some(kind) = self.action.kind.clone().filter(|kind| kind != "final_answer") else {
            return;
        };
        if !self.line_open {
            err(&format!("{bold}→ {}{bold:#}", for_terminal(&kind)));
            self.line_open = true;
        }
        for part in std::mem::take(&mut self.action.waiting) {
            err(&format!(" {}", for_terminal(&part)));
        }
    }

    fn end_line(&mut self) {
        if self.line_open {
            err("\n");
            self.line_open = false;
        }
        if self.answer_open {
            out("\n");
            self.answer_open = false;
        }
    }

    fn live(&mut self, event: &Event) {
        let Palette { dim, good, bad, .. } = self.palette;
        match &event.data {
            // A try that failed may have said something already.
            EventData::ModelRequest(_) => {
                self.action = Announced::default();
                self.end_line();
                self.answer.clear();
            }
            EventData::ModelResponse(_) => self.end_line(),
            EventData::PlanCreated(created) => self.show_plan(&created.plan),
            EventData::PlanUpdated(PlanUpdated::Changed { plan }) => self.show_plan(plan),
            EventData::ActionPlanned(planned) if self.action.kind.is_none() => {
                self.action.kind = Some(planned.action.kind().to_string());
                self.action.waiting.push(about(&planned.action));
                self.announce();
                self.end_line();
            }
            EventData::ObservationRecorded(recorded) => {
                match &recorded.code {
                    None => err(&format!("  {good}✓{good:#}")),
                    Some(code) => err(&format!("  {bad}✗ {code}{bad:#}")),
                }
                self.line_open = true;
            }
            EventData::ChangesMade(made) if !made.changes.is_empty() => {
                self.end_line();
                err(&format!(
                    "  {dim}kept apart from your files: {}{dim:#}\n",
                    counted(&made.changes)
                ));
            }
            EventData::ChangesApplied(applied) => {
                self.end_line();
                err(&format!("  {good}applied{good:#} {}\n", counted(&applied.changes)));
            }
            EventData::ContextCompacted(_) => {
                err(&format!("{dim}older observations shortened{dim:#}\n"))
            }
            EventData::Error(Error { code, message, .. }) => {
                err(&format!("\n{bad}{code}{bad:#} {}\n", for_terminal(message)));
            }
            // The answer ends with nothing but itself.
            EventData::BudgetUpdated(updated) if self.line_open => {
                let Left { turns, tool_calls, seconds, .. } = updated.left;
                err(&format!(
                    "  {dim}{turns} turns, {tool_calls} tool calls, {seconds} s left{dim:#}\n"
                ));
                self.line_open = false;
            }
            _ => {}
        }
    }

    /// Steps that are new or have changed.
    fn show_plan(&mut self, plan: &Plan) {
        let Palette { dim, good, bad, .. } = self.palette;
        for step in plan.steps.iter().filter(|step| !self.plan.contains(step)) {
            let (style, mark) = match step.status {
                StepStatus::Completed => (good, "✓"),
                StepStatus::InProgress => (good, "▸"),
                StepStatus::Blocked => (bad, "✗"),
                StepStatus::Skipped => (dim, "–"),
                StepStatus::Pending => (dim, "○"),
            };
            err(&format!("{style}{mark}{style:#} {}\n", for_terminal(&step.title)));
        }
        self.plan.clone_from(&plan.steps);
    }
}

impl Listener for Screen {
    fn event(&mut self, event: &Event) {
        match self.mode {
            Mode::Events => {
                print_event(event);
                self.last = Some(delta_after(event));
            }
            Mode::Live { .. } => self.live(event),
            // Whoever waits should know what for.
            Mode::Quiet => {
                if let EventData::Error(Error { message, retry_after_ms: Some(1..), .. }) =
                    &event.data
                {
                    err(&format!("{}\n", for_terminal(message)));
                }
            }
            Mode::Silent => {}
        }
    }

    /// What a program writes, as it is written.
    fn output(&mut self, text: &str) {
        if matches!(self.mode, Mode::Live { .. }) {
            self.end_line();
            let Palette { dim, .. } = self.palette;
            err(&format!("{dim}{}{dim:#}", for_terminal_block(text)));
            self.line_open = !text.ends_with('\n');
        }
    }

    fn delta(&mut self, shown: Shown<'_>) {
        if matches!(self.mode, Mode::Events | Mode::Live { .. }) {
            self.show(shown);
        }
    }
}

/// How many files were added, changed and deleted.
pub(crate) fn counted(changes: &NotedChanges) -> String {
    let counts =
        [(changes.added, "added"), (changes.changed, "changed"), (changes.deleted, "deleted")];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// What an action is about.
fn about(action: &Action) -> String {
    let summary = action.summary();
    summary.split_once(' ').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

/// An empty piece of the answer, after an event.
fn delta_after(event: &Event) -> Event {
    let Event { v, seq, turn, .. } = *event;
    let (ts, run_id, prev) = (event.ts.clone(), event.run_id.clone(), String::new());
    let data = EventData::AssistantDelta(AssistantDelta { content: String::new() });
    Event { v, seq, ts, run_id, turn, data, prev }
}

fn print_event(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        out(&format!("{line}\n"));
    }
}

fn out(text: &str) {
    let mut stdout = std::io::stdout();
    // Whoever reads may have seen enough.
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

fn err(text: &str) {
    let mut stderr = std::io::stderr();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
