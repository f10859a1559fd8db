//! The plan of a run: a goal and steps, changed by the model, held by the run.
//!
//! Invariant: a change is applied as a whole or not at all, and step ids stay unique.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::freeform::Freeform;

/// What a run is about to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// What is true at the end.
    pub goal: String,
    /// How to get there.
    #[serde(default)]
    pub steps: Vec<PlanStep>,
    /// What is taken for granted.
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// What the model set itself; it cannot change the run's budgets.
    #[serde(default)]
    pub constraints: BTreeMap<String, Freeform>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// Unique within the plan.
    pub id: String,
    /// In a few words.
    pub title: String,
    /// How far it is.
    #[serde(default)]
    pub status: StepStatus,
}

/// How far a step is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Cannot go on.
    Blocked,
    /// Not needed.
    Skipped,
}

impl StepStatus {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Skipped => "skipped",
        }
    }
}

/// How a plan changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "snake_case")]
pub enum PlanUpdate {
    /// A new plan.
    Replace {
        /// The plan.
        plan: Plan,
    },
    /// Changes to the current one.
    Patch {
        /// In their order.
        ops: Vec<PatchOp>,
    },
}

/// One change. Paths begin with `/goal`, `/steps/ID[/title|/status]`, `/assumptions[/N]` or
/// `/constraints/KEY`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PatchOp {
    /// What to do.
    pub op: Op,
    /// Where.
    pub path: String,
    /// With what; for `move` the id of the step to stand behind, or nothing for the first place.
    #[serde(default)]
    pub value: Freeform,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Replace what is there.
    Set,
    /// Put something new there.
    Add,
    /// Take it away.
    Remove,
    /// Put a step elsewhere.
    Move,
}

/// Why a change cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is nothing to change yet.
    #[error("there is no plan to patch; send one with mode `replace`")]
    NoPlan,
    /// Two steps have one id.
    #[error("two steps have the id `{0}`")]
    DuplicateStep(String),
    /// There is no such step.
    #[error("there is no step `{0}`")]
    NoSuchStep(String),
    /// The path means nothing.
    #[error("`{0}` is not a path in a plan")]
    BadPath(String),
    /// The value does not fit.
    #[error("the value for `{path}` does not fit: {reason}")]
    BadValue {
        /// The path.
        path: String,
        /// Why.
        reason: String,
    },
    /// It would not leave enough room for anything else.
    #[error("a plan of {chars} characters is too long, it may have {limit}")]
    TooLong {
        /// How long it is.
        chars: usize,
        /// How long it may be.
        limit: usize,
    },
}

impl Plan {
    /// The plan after `update`, which leaves the current one as it is.
    pub fn updated(current: Option<&Self>, update: &PlanUpdate) -> Result<Self, PlanError> {
        let plan = match update {
            PlanUpdate::Replace { plan } => plan.clone(),
            PlanUpdate::Patch { ops } => {
                let mut plan = current.cloned().ok_or(PlanError::NoPlan)?;
                ops.iter().try_for_each(|op| plan.apply(op))?;
                plan
            }
        };
        plan.check_ids()?;
        Ok(plan)
    }

    /// The plan, if as JSON it has at most so many characters.
    pub(crate) fn within(self, limit: usize) -> Result<Self, PlanError> {
        match serde_json::json!(self).to_string().chars().count() {
            chars if chars > limit => Err(PlanError::TooLong { chars, limit }),
            _ => Ok(self),
        }
    }

    fn check_ids(&self) -> Result<(), PlanError> {
        for (place, step) in self.steps.iter().enumerate() {
            if self.steps[..place].iter().any(|other| other.id == step.id) {
                return Err(PlanError::DuplicateStep(step.id.clone()));
            }
        }
        Ok(())
    }

    fn apply(&mut self, op: &PatchOp) -> Result<(), PlanError> {
        let parts: Vec<&str> = op.path.split('/').skip(1).collect();
        match (parts.as_slice(), op.op) {
            (["goal"], Op::Set) => self.goal = value(op)?,
            (["steps"] | ["steps", "-"], Op::Add) => self.steps.push(value(op)?),
            (["steps"], Op::Set) => self.steps = value(op)?,
            (["steps", id], Op::Add) => self.add_step(id, op)?,
            (["steps", id], Op::Set) => *self.step(id)? = value(op)?,
            (["steps", id], Op::Remove) => {
                let place = self.place(id)?;
                self.steps.remove(place);
            }
            (["steps", id], Op::Move) => self.move_step(id, op)?,
            (["steps", id, "title"], Op::Set) => self.step(id)?.title = value(op)?,
            (["steps", id, "status"], Op::Set) => self.step(id)?.status = value(op)?,
            (["assumptions"], Op::Set) => self.assumptions = value(op)?,
            (["assumptions"] | ["assumptions", "-"], Op::Add) => self.assumptions.push(value(op)?),
            (["assumptions", number], Op::Remove) => {
                let place = number.parse().ok().filter(|place| *place < self.assumptions.len());
                self.assumptions.remove(place.ok_or_else(|| PlanError::BadPath(op.path.clone()))?);
            }
            (["constraints", key], Op::Set | Op::Add) => {
                self.constraints.insert((*key).to_owned(), op.value.clone());
            }
            (["constraints", key], Op::Remove) if self.constraints.contains_key(*key) => {
                self.constraints.remove(*key);
            }
            _ => return Err(PlanError::BadPath(op.path.clone())),
        }
        Ok(())
    }

    fn place(&self, id: &str) -> Result<usize, PlanError> {
        let found = self.steps.iter().position(|step| step.id == id);
        found.ok_or_else(|| PlanError::NoSuchStep(id.to_owned()))
    }

    fn step(&mut self, id: &str) -> Result<&mut PlanStep, PlanError> {
        let place = self.place(id)?;
        Ok(&mut self.steps[place])
    }

    /// A new step; `/steps/ID` names it where the value does not.
    fn add_step(&mut self, id: &str, op: &PatchOp) -> Result<(), PlanError> {
        self.steps.push(value(&PatchOp { value: op.value.with("id", id), ..op.clone() })?);
        Ok(())
    }

    fn move_step(&mut self, id: &str, op: &PatchOp) -> Result<(), PlanError> {
        let from = self.place(id)?;
        let step = self.steps.remove(from);
        let to = match op.value.read::<Option<String>>() {
            Ok(None) => 0,
            Ok(Some(other)) => self.place(&other)? + 1,
            Err(_) => {
                return Err(PlanError::BadValue {
                    path: op.path.clone(),
                    reason: "name a step".to_owned(),
                });
            }
        };
        self.steps.insert(to, step);
        Ok(())
    }
}

fn value<T: DeserializeOwned>(op: &PatchOp) -> Result<T, PlanError> {
    op.value
        .read()
        .map_err(|error| PlanError::BadValue { path: op.path.clone(), reason: error.to_string() })
}
