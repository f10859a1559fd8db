//! What a run begins with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::permission::ToolSet;

use crate::action::SkillRef;
use crate::budget::Budget;
use crate::step::{SelectedSkill, Terms};

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The run's name, which sorts by time.
    pub run_id: String,
    /// What the user wants.
    pub request: String,
    /// The skills to choose from, as text for the model.
    #[serde(skip)]
    pub catalog: String,
    /// Tools that the configuration and the runtime's policy leave.
    #[serde(skip, default = "no_tools")]
    pub tools: ToolSet,
    /// How much it may use.
    pub budget: Budget,
    /// How patient it is.
    pub patience: Patience,
    /// A skill the user chose.
    pub invoked: Option<SkillRef>,
    /// Skills that are in the context from the start.
    pub preloaded: Vec<Preloaded>,
    /// Whether this is a child run, which has none of its own.
    pub is_child: bool,
    /// Whether the model is a client elsewhere, which may read from a skill that it has not selected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_served: bool,
    /// Whether prompts and the model's own words are recorded, not only their hash and size.
    #[serde(default)]
    pub store_prompts: bool,
    /// Facts for the record: index hash, model, versions, parent.
    pub facts: Value,
}

impl Setup {
    /// What the user's settings say about it.
    pub fn terms(&self) -> Terms {
        Terms {
            budget: self.budget.clone(),
            patience: self.patience,
            tools: self.tools.clone(),
            store_prompts: self.store_prompts,
        }
    }
}

fn no_tools() -> ToolSet {
    ToolSet::named([])
}

/// A skill that is in the context from the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preloaded {
    /// The skill.
    pub skill: SelectedSkill,
    /// Its text.
    pub text: String,
}

/// How often something may go wrong, and how much may be asked at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Patience {
    /// Corrective tries in a turn after a reply that is not a decision.
    pub corrections: u32,
    /// Failures of the same action in a row that end the run.
    pub same_failures: u32,
    /// Bodies that one action may load.
    pub skills_per_turn: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { corrections: 2, same_failures: 3, skills_per_turn: 2 }
    }
}
