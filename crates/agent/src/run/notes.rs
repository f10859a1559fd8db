//! What a run writes down, and what it tells the model about itself.

use serde_json::{Value, json};

use super::Run;
use crate::event::{EventKind, Happening};
use crate::plan::StepStatus;

impl Run {
    pub(super) fn note(&mut self, kind: EventKind, data: Value) {
        self.notes.push(Happening { turn: self.turn, kind, data });
    }

    /// What is left of the budget.
    pub(super) fn left(&self) -> Value {
        let (budget, spent) = (&self.setup.budget, &self.spent);
        json!({
            "turns": budget.max_turns.saturating_sub(spent.turns),
            "tool_calls": budget.max_tool_calls.saturating_sub(spent.tool_calls),
            "script_runs": budget.max_script_runs.saturating_sub(spent.script_runs),
            "context_chars": budget.max_context_chars.saturating_sub(spent.context_chars),
            "seconds": budget.max_wall_seconds.saturating_sub(spent.wall_milliseconds / 1_000),
        })
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
            self.left()
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
