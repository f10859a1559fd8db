//! What a run writes down, and what it tells the model about itself.

use serde::Serialize;
use serde_json::json;

use super::{Phase, Run};
use crate::budget::{Left, Spent};
use crate::event::{Error, EventData, Happening};
use crate::plan::{Plan, StepStatus};

/// A run at one moment, as it is written beside its record.
#[derive(Debug, Serialize)]
pub struct RunState<'r> {
    left: Left,
    phase: &'r Phase,
    plan: Option<&'r Plan>,
    run_id: &'r str,
    skills: Vec<&'r str>,
    spent: Spent,
    turn: u32,
}

impl Run {
    pub(super) fn note(&mut self, data: EventData) {
        self.notes.push(Happening { turn: self.turn, data });
    }

    pub(super) fn note_error(&mut self, code: &str, message: &str, retry_after_ms: Option<u64>) {
        let (code, message) = (code.to_owned(), message.to_owned());
        self.note(EventData::Error(Error { elapsed_ms: None, code, message, retry_after_ms }));
    }

    /// What is left of the budget.
    pub(super) fn left(&self) -> Left {
        self.setup.budget.left(&self.spent)
    }

    /// The end of every prompt: the plan and what is left.
    pub(super) fn state_text(&self) -> String {
        let plan = match &self.plan {
            None => "none yet; make one with your first reply".to_owned(),
            Some(plan) => json!(plan).to_string(),
        };
        let skills = match self.skills().join(", ") {
            names if names.is_empty() => "none".to_owned(),
            names => format!("{names} (see their text above)"),
        };
        format!(
            "[Run State]\nSelected skills: {skills}\nPlan: {plan}\nBudget left: {}\nReply with one JSON object.",
            json!(self.left())
        )
    }

    pub(super) fn state_chars(&self) -> usize {
        self.state_text().chars().count()
    }

    /// A snapshot for whoever looks at the run from outside; the events say the same, and more.
    pub fn state(&self) -> RunState<'_> {
        RunState {
            left: self.left(),
            phase: &self.phase,
            plan: self.plan.as_ref(),
            run_id: &self.setup.run_id,
            skills: self.selected.iter().map(|skill| skill.name.as_str()).collect(),
            spent: self.spent(),
            turn: self.turn,
        }
    }

    /// The plan, if the model has made one.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Steps of the plan that are not finished.
    pub(super) fn open_steps(&self) -> Vec<&str> {
        let open = |status| !matches!(status, StepStatus::Completed | StepStatus::Skipped);
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        steps.filter(|step| open(step.status)).map(|step| step.title.as_str()).collect()
    }
}
