//! What a run writes down, and what it tells the model about itself.

use serde_json::{Value, json};

use super::Run;
use crate::budget::Left;
use crate::event::{Error, EventData, Happening};
use crate::plan::StepStatus;

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
    pub fn state(&self) -> Value {
        json!({
            "run_id": self.setup.run_id,
            "turn": self.turn,
            "plan": self.plan,
            "spent": self.spent,
            "left": self.left(),
            "skills": self.selected.iter().map(|skill| &skill.name).collect::<Vec<_>>(),
            "phase": self.phase,
        })
    }

    /// Steps of the plan that are not finished.
    pub(super) fn open_steps(&self) -> Vec<&str> {
        let open = |status| !matches!(status, StepStatus::Completed | StepStatus::Skipped);
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        steps.filter(|step| open(step.status)).map(|step| step.title.as_str()).collect()
    }
}
