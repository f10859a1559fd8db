//! What a person sees of a run while it goes on.
//!
//! On a terminal: the plan with its steps ticking, each action as soon as it can be known, the answer as
//! it is written. In a pipe: nothing but the answer, at the end.

use std::io::{IsTerminal, Write};

use agent::driver::Listener;
use agent::event::{Event, EventKind};
use agent::journal::{Redactor, Streamed};
use model::early::{Early, Shown};
use serde_json::{Value, json};
use skill::text::{for_terminal, for_terminal_block};

use crate::output::{Output, Palette};

/// What a person sees of a run.
pub(super) struct Screen<'a> {
    mode: Mode,
    palette: Palette,
    early: Early,
    /// What is known of the current action before it is complete.
    action: Announced,
    /// What was shown of the answer.
    answer: String,
    plan: Vec<(String, String)>,
    /// Whether the last line on the screen can be added to.
    line_open: bool,
    /// Whether that line is the answer's.
    answer_open: bool,
    /// The last event, which deltas come after.
    last: Option<Event>,
    redactor: &'a Redactor,
    /// What of the answer may be shown.
    clean: Streamed<'a>,
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

impl<'a> Screen<'a> {
    pub(super) fn new(output: &Output, events: bool, redactor: &'a Redactor) -> Self {
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
            early: Early::new(),
            action: Announced::default(),
            answer: String::new(),
            plan: Vec::new(),
            line_open: false,
            answer_open: false,
            last: None,
            redactor,
            clean: redactor.streamed(),
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
                self.action.waiting.push(self.redactor.text(text).into_owned());
            }
            Shown::Answer(text) => {
                let text = self.clean.push(text);
                return self.show_answer(&text);
            }
        }
        self.announce();
    }

    /// The next piece of the answer, without secrets.
    fn show_answer(&mut self, text: &str) {
        match self.mode {
            _ if text.is_empty() => {}
            Mode::Events => self.print_delta(text),
            Mode::Live { streams_answer: true } => {
                out(&for_terminal_block(text));
                self.answer.push_str(text);
                self.answer_open = !text.ends_with('\n');
            }
            _ => {}
        }
    }

    /// What is left of the answer, now that the reply is there.
    fn end_answer(&mut self) {
        let rest = self.clean.finish();
        self.show_answer(&rest);
    }

    /// A piece of the answer as an event. It is shown, not stored, so it has no number of its own.
    fn print_delta(&mut self, text: &str) {
        let Some(last) = self.last.take() else { return };
        let delta = Event {
            kind: EventKind::AssistantDelta,
            data: json!({"content": text}),
            prev: String::new(),
            ..last
        };
        print_event(&delta);
        self.last = Some(delta);
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
        let data = &event.data;
        match event.kind {
            // A try that failed may have said something already.
            EventKind::ModelRequest => {
                self.early = Early::new();
                self.action = Announced::default();
                self.end_line();
                self.answer.clear();
            }
            EventKind::ModelResponse => {
                self.end_answer();
                self.end_line();
            }
            EventKind::PlanCreated | EventKind::PlanUpdated => self.show_plan(&data["plan"]),
            EventKind::ActionPlanned if self.action.kind.is_none() => {
                self.action.kind = data["action"]["type"].as_str().map(str::to_owned);
                self.action.waiting.push(summary(&data["action"]));
                self.announce();
                self.end_line();
            }
            EventKind::ObservationRecorded => {
                match data["code"].as_str() {
                    None => err(&format!("  {good}✓{good:#}")),
                    Some(code) => err(&format!("  {bad}✗ {code}{bad:#}")),
                }
                self.line_open = true;
            }
            EventKind::ContextCompacted => {
                err(&format!("{dim}older observations shortened{dim:#}\n"))
            }
            EventKind::Error => {
                let message = data["message"].as_str().unwrap_or_default();
                err(&format!(
                    "\n{bad}{}{bad:#} {}\n",
                    data["code"].as_str().unwrap_or_default(),
                    for_terminal(message)
                ));
            }
            // The answer ends with nothing but itself.
            EventKind::BudgetUpdated if self.line_open => {
                let left = &data["left"];
                err(&format!(
                    "  {dim}{} turns, {} tool calls, {} s left{dim:#}
",
                    left["turns"], left["tool_calls"], left["seconds"]
                ));
                self.line_open = false;
            }
            _ => {}
        }
    }

    /// Steps that are new or have changed.
    fn show_plan(&mut self, plan: &Value) {
        let Palette { dim, good, bad, .. } = self.palette;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let steps: Vec<(String, String)> = plan["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|step| (text(&step["title"]), text(&step["status"])))
            .collect();
        for (title, status) in steps.iter().filter(|step| !self.plan.contains(step)) {
            let (style, mark) = match status.as_str() {
                "completed" => (good, "✓"),
                "in_progress" => (good, "▸"),
                "blocked" => (bad, "✗"),
                "skipped" => (dim, "–"),
                _ => (dim, "○"),
            };
            err(&format!("{style}{mark}{style:#} {}\n", for_terminal(title)));
        }
        self.plan = steps;
    }
}

impl Listener for Screen<'_> {
    fn event(&mut self, event: &Event) {
        match self.mode {
            Mode::Events => {
                if event.kind == EventKind::ModelResponse {
                    self.end_answer();
                }
                print_event(event);
                if event.kind == EventKind::ModelRequest {
                    self.early = Early::new();
                }
                let header = Event { data: Value::Null, ..event.clone() };
                self.last = Some(header);
            }
            Mode::Live { .. } => self.live(event),
            // Whoever waits should know what for.
            Mode::Quiet if event.data["retry_after_ms"].as_u64().is_some_and(|wait| wait > 0) => {
                let message = event.data["message"].as_str().unwrap_or_default();
                err(&format!("{}\n", for_terminal(message)));
            }
            Mode::Quiet | Mode::Silent => {}
        }
    }

    fn delta(&mut self, text: &str) {
        if matches!(self.mode, Mode::Events | Mode::Live { .. }) {
            let mut early = std::mem::replace(&mut self.early, Early::new());
            early.push(text.as_bytes(), &mut |shown| self.show(shown));
            self.early = early;
        }
    }
}

/// What an action is about, from its payload.
fn summary(action: &Value) -> String {
    serde_json::from_value::<agent::action::Action>(action.clone())
        .map(|action| {
            action.summary().split_once(' ').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
        })
        .unwrap_or_default()
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
