//! What a person sees of a run while it goes on.
//!
//! On a terminal: what it does now on one line at the bottom, what it has done above, the plan as a block that ticks,
//! the answer as it is written. On a terminal that cannot move its cursor: the same as plain lines, when they are
//! complete. In a pipe: nothing but the answer, at the end.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use agent::budget::Usage;
use agent::changes::NotedChanges;
use agent::event::{AssistantDelta, Error, Event, EventData, PlanUpdated};
use agent::model::Cancel;
use agent::plan::{Plan, PlanStep, StepStatus};
use basics::text::{for_terminal, for_terminal_block};
use model::early::Shown;
use runtime::driver::Listener;

use super::about::Headline;
use crate::output::markdown::{Look, Markdown};
use crate::output::{Output, Palette};
use crate::terminal::panel::{Status, Tail, seconds};
use crate::terminal::stage::Stage;

/// Lines of a program's output that stay when it has ended.
const FOLDED: usize = 3;

/// What a person sees of a run.
pub(crate) struct Screen {
    mode: Mode,
    palette: Palette,
    cancel: Cancel,
    model: String,
    /// What is done now, and since when.
    action: Option<(Headline, Instant)>,
    /// What was shown of the answer.
    answer: String,
    plan: Vec<PlanStep>,
    usage: Usage,
    /// A delta that comes after the last event.
    last: Option<Event>,
}

enum Mode {
    /// Events as JSON lines on stdout.
    Events,
    /// For a person, with a panel at the bottom.
    Live { stage: Stage, streams_answer: bool },
    /// For a person, line by line.
    Plain {
        /// The answer while it is written, where it can be shown.
        answer: Option<Box<Markdown>>,
        output: Tail,
    },
    /// Nothing but what makes it wait.
    Quiet,
    /// Nothing.
    Silent,
}

impl Screen {
    /// `stage` is the terminal, where it can have a panel.
    pub(crate) fn new(
        output: &Output,
        events: bool,
        stage: Option<&Stage>,
        cancel: &Cancel,
    ) -> Self {
        let streams_answer = std::io::stdout().is_terminal();
        let mode = if events {
            Mode::Events
        } else if output.quiet {
            Mode::Silent
        } else if let Some(stage) = stage {
            Mode::Live { stage: stage.clone(), streams_answer }
        } else if std::io::stderr().is_terminal() && !output.json {
            let markdown = || Box::new(Markdown::new(Look::for_stream(&std::io::stdout())));
            Mode::Plain { answer: streams_answer.then(markdown), output: Tail::default() }
        } else {
            Mode::Quiet
        };
        Self {
            mode,
            palette: Palette::for_stream(&std::io::stderr()),
            cancel: cancel.clone(),
            model: String::new(),
            action: None,
            answer: String::new(),
            plan: Vec::new(),
            usage: Usage::default(),
            last: None,
        }
    }

    /// Whether this answer is on the screen already; what was shown may have come of a try that failed.
    pub(super) fn has_shown(&self, answer: &str) -> bool {
        self.answer == answer
    }

    /// The steps of the plan as they are now.
    pub(crate) fn plan_lines(&self) -> Vec<String> {
        self.plan.iter().map(|step| self.step(step)).collect()
    }

    /// Whether somebody watches, who is told how it ended.
    pub(super) fn is_watched(&self) -> bool {
        matches!(self.mode, Mode::Live { .. } | Mode::Plain { .. })
    }

    /// The end of what was written while the run went on.
    pub(crate) fn finish(&mut self) {
        self.end_answer();
        self.keep_plan();
        if let Mode::Live { stage, .. } = &self.mode {
            stage.update(|panel| panel.status = None);
        }
    }

    /// The next piece of the answer.
    fn show_answer(&mut self, text: &str) {
        if self.answer.is_empty() && matches!(self.mode, Mode::Live { .. }) {
            self.status(format!("{} answers", self.model));
        }
        match &mut self.mode {
            Mode::Events => self.print_delta(text),
            Mode::Live { stage, streams_answer: true } => {
                stage.answer(text);
                self.answer.push_str(text);
            }
            Mode::Plain { answer: Some(markdown), .. } => {
                print_lines(&markdown.push(text, width()));
                self.answer.push_str(text);
            }
            _ => {}
        }
    }

    fn end_answer(&mut self) {
        match &mut self.mode {
            Mode::Live { stage, .. } => stage.end_answer(),
            Mode::Plain { answer: Some(markdown), .. } => print_lines(&markdown.finish(width())),
            _ => {}
        }
    }

    /// A piece of the answer as an event. It is shown, not stored, so it has no number of its own.
    fn print_delta(&mut self, text: &str) {
        let Some(delta) = &mut self.last else { return };
        delta.data = EventData::AssistantDelta(AssistantDelta { content: text.to_owned() });
        print_event(delta);
    }

    /// Complete lines above the panel.
    fn say(&self, lines: &str) {
        match &self.mode {
            Mode::Live { stage, .. } => stage.say(lines),
            _ => err(lines),
        }
    }

    /// What happens from now on.
    fn status(&self, what: String) {
        if let Mode::Live { stage, .. } = &self.mode {
            let used = used(&self.usage);
            let status = Status { what, since: Instant::now(), used };
            stage.update(|panel| panel.status = Some(status));
        }
    }

    fn live(&mut self, event: &Event) {
        let Palette { dim, good, bad, .. } = self.palette;
        match &event.data {
            EventData::RunStarted(started) => {
                self.model = started.setup.facts.model.clone().unwrap_or_default();
            }
            // A try that failed may have said something already.
            EventData::ModelRequest(_) => {
                self.end_answer();
                self.answer.clear();
                self.status(format!("waiting for {}", self.model));
            }
            EventData::ModelResponse(_) => self.end_answer(),
            EventData::PlanCreated(created) => self.show_plan(&created.plan),
            EventData::PlanUpdated(PlanUpdated::Changed { plan }) => self.show_plan(plan),
            EventData::ActionPlanned(planned) => self.begin(Headline::of(&planned.action)),
            // A person's time does not count.
            EventData::ApprovalGranted(_) => {
                if let Some((headline, _)) = self.action.take() {
                    self.begin(headline);
                }
            }
            EventData::ObservationRecorded(recorded) => self.end_action(recorded.code.as_deref()),
            EventData::ChangesApplied(applied) => {
                self.say(&format!("{good}applied{good:#} {}\n", counted(&applied.changes)));
            }
            EventData::ContextCompacted(_) => {
                self.say(&format!("{dim}older observations shortened{dim:#}\n"));
            }
            EventData::Error(Error { code, message, .. }) if !self.cancel.requested() => {
                self.say(&format!("{bad}{code}{bad:#} {}\n", for_terminal(message)));
            }
            EventData::BudgetUpdated(updated) => self.usage = updated.spent.usage,
            _ => {}
        }
    }

    fn begin(&mut self, headline: Headline) {
        self.status(headline.progress());
        self.action = Some((headline, Instant::now()));
    }

    /// What was done, in a line, and the end of what a program wrote.
    fn end_action(&mut self, code: Option<&str>) {
        let Palette { dim, good, bad, .. } = self.palette;
        let Some((headline, since)) = self.action.take() else { return };
        let output = match &mut self.mode {
            Mode::Live { stage, .. } => {
                let mut output = Tail::default();
                stage.update(|panel| std::mem::swap(&mut panel.output, &mut output));
                output
            }
            Mode::Plain { output, .. } => {
                *output = Tail::default();
                Tail::default()
            }
            _ => return,
        };
        // What they said themselves, and what is told in other words.
        let is_told = matches!(headline.verb, "ask" | "apply" | "give") && code.is_none();
        if is_told || self.cancel.requested() {
            return;
        }
        let time = since.elapsed();
        let time = match time.as_secs() {
            0 => String::new(),
            _ => format!("  {dim}{}{dim:#}", seconds(time)),
        };
        let title = headline.title();
        let title = for_terminal(title.trim_end());
        let mut lines = match code {
            None => format!("{good}✓{good:#} {title}{time}\n"),
            Some(code) => {
                format!("{bad}✗{bad:#} {title}  {bad}{}{bad:#}{time}\n", for_terminal(code))
            }
        };
        let hidden = output.count.saturating_sub(FOLDED);
        if hidden > 0 {
            lines += &format!("{dim}  … {hidden} more lines{dim:#}\n");
        }
        for line in output.last(FOLDED) {
            lines += &format!("{dim}  {}{dim:#}\n", for_terminal(&line.replace('\t', "    ")));
        }
        self.say(&lines);
    }

    fn show_plan(&mut self, plan: &Plan) {
        let lines = |steps: &mut dyn Iterator<Item = &PlanStep>| -> Vec<String> {
            steps.map(|step| self.step(step)).collect()
        };
        match &self.mode {
            Mode::Live { stage, .. } => {
                let lines = lines(&mut plan.steps.iter());
                stage.update(|panel| panel.plan = lines);
            }
            // Steps that are new or have changed.
            _ => {
                let new = lines(&mut plan.steps.iter().filter(|step| !self.plan.contains(step)));
                new.iter().for_each(|line| self.say(&format!("{line}\n")));
            }
        }
        self.plan.clone_from(&plan.steps);
    }

    /// The plan as it is now stays above what follows.
    fn keep_plan(&self) {
        if let Mode::Live { stage, .. } = &self.mode {
            let mut plan = Vec::new();
            stage.update(|panel| plan = std::mem::take(&mut panel.plan));
            plan.iter().for_each(|line| stage.say(&format!("{line}\n")));
        }
    }

    fn step(&self, step: &PlanStep) -> String {
        let Palette { dim, good, bad, .. } = self.palette;
        let (style, mark) = match step.status {
            StepStatus::Completed => (good, "✓"),
            StepStatus::InProgress => (good, "▸"),
            StepStatus::Blocked => (bad, "✗"),
            StepStatus::Skipped => (dim, "–"),
            StepStatus::Pending => (dim, "○"),
        };
        format!("{style}{mark}{style:#} {}", for_terminal(&step.title))
    }
}

impl Listener for Screen {
    fn event(&mut self, event: &Event) {
        match self.mode {
            Mode::Events => {
                print_event(event);
                self.last = Some(delta_after(event));
            }
            Mode::Live { .. } | Mode::Plain { .. } => self.live(event),
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
        let Palette { dim, .. } = self.palette;
        match &mut self.mode {
            Mode::Live { stage, .. } => stage.update(|panel| panel.output.push(text)),
            Mode::Plain { output, .. } => {
                let begins = output.count == 0;
                output.push(text);
                if let Some((headline, _)) = self.action.as_ref().filter(|_| begins) {
                    err(&format!("→ {}\n", for_terminal(headline.title().trim_end())));
                }
                err(&format!("{dim}{}{dim:#}", for_terminal_block(text)));
            }
            _ => {}
        }
    }

    fn delta(&mut self, shown: Shown<'_>) {
        if let Shown::Answer(text) = shown {
            self.show_answer(text);
        }
    }
}

/// Tokens and money, in words.
pub(crate) fn used(usage: &Usage) -> String {
    let tokens = usage.input_tokens + usage.output_tokens;
    let mut parts = Vec::new();
    if tokens > 0 {
        let about = if usage.estimated { "about " } else { "" };
        parts.push(format!("{about}{} tokens", grouped(tokens)));
    }
    parts.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
    parts.join(" · ")
}

/// `1,234,567`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// How many files were added, changed and deleted.
pub(crate) fn counted(changes: &NotedChanges) -> String {
    let counts =
        [(changes.added, "added"), (changes.changed, "changed"), (changes.deleted, "deleted")];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    some.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
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

fn print_lines(lines: &[String]) {
    lines.iter().for_each(|line| out(&format!("{line}\n")));
}

/// Columns of the terminal that gets the answer.
fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(80, |(width, _)| width.0.into())
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
