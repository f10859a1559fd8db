//! What a run begins with.

mod scanned;

use basics::sha256::Sha256;
use basics::skill::CatalogFormat;
use permission::{Mode, ToolSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::SkillRef;
use crate::budget::Budget;
use crate::changes::ApplyWhen;
use crate::context::LATEST_RULES;
use crate::conversation::{Carried, Link};
use crate::observation::{SelectedSkill, or_default};

pub use scanned::{Scanned, ScannedConflict, ScannedLoser, ScannedPath, ScannedRoot};

/// What a run begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Which version of the rules the model is told.
    #[serde(default = "first_rules")]
    pub rules: u32,
    /// A skill the user chose.
    pub invoked: Option<SkillRef>,
    /// Skills that are in the context from the start.
    pub preloaded: Vec<Preloaded>,
    /// Who began it.
    pub kind: RunKind,
    /// The run that it continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<Link>,
    /// What that one ended with, made from its record.
    #[serde(skip)]
    pub carried: Option<Box<Carried>>,
    /// Whether prompts and the model's own words are recorded, not only their hash and size.
    #[serde(default)]
    pub store_prompts: bool,
    /// What may be done unasked, and what not at all.
    #[serde(default)]
    pub mode: Mode,
    /// When what it changed is put to somebody.
    #[serde(default = "never")]
    pub apply: ApplyWhen,
    /// Whether a person is there, who is asked at a limit whether to go on.
    #[serde(default)]
    pub attended: bool,
    /// Where it works, in words for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<Here>,
    /// What it came from, for whoever reads the record.
    #[serde(default, deserialize_with = "or_default")]
    pub facts: Provenance,
}

/// Where a run works, in words for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Here {
    /// The workspace.
    pub workspace: String,
    /// Where programs begin.
    pub folder: String,
    /// The operating system.
    pub system: String,
    /// The day it began.
    pub date: String,
    /// What runs commands.
    pub shell: String,
    /// The interpreters that programs find.
    pub interpreters: Vec<String>,
}

/// Who began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunKind {
    /// The user.
    Own,
    /// Another run, for a skill that runs on its own. It has no child runs itself.
    Child,
    /// A client elsewhere, which decides itself and may read from a skill that it has not selected.
    Served,
}

/// What a run came from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Provenance {
    /// The run that began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Who decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The client that calls, where one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The hash of the index of skills.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_hash: Option<String>,
    /// How that index came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scan: Option<Scanned>,
    /// How much of the index the model was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub catalog: Option<ShownCatalog>,
    /// Which skills were in the context from the start, where more than names were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclosure: Option<Disclosed>,
    /// The version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The folder it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// How much of the index a model was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownCatalog {
    /// Skills that were listed.
    pub shown: Vec<String>,
    /// Skills that were not, for want of room.
    pub not_shown: usize,
    /// How they were written.
    pub format: CatalogFormat,
    /// The hash of the list, which is kept beside the events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Sha256>,
}

/// Which skills were in the context from the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disclosed {
    /// With their whole body.
    pub core: Vec<String>,
    /// With name and description alone.
    pub metadata: Vec<String>,
}

impl Setup {
    /// A run of the user's without skills and tools, and with everything else as it is by default.
    pub fn new(run_id: impl Into<String>, request: impl Into<String>) -> Self {
        Self {
            run_id: run_id.into(),
            request: request.into(),
            catalog: String::new(),
            tools: no_tools(),
            budget: Budget::default(),
            patience: Patience::default(),
            rules: LATEST_RULES,
            invoked: None,
            preloaded: Vec::new(),
            kind: RunKind::Own,
            continues: None,
            carried: None,
            store_prompts: false,
            mode: Mode::default(),
            apply: ApplyWhen::default(),
            attended: false,
            here: None,
            facts: Provenance::default(),
        }
    }

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

/// Of records that do not say it: they were made before there were layers.
fn never() -> ApplyWhen {
    ApplyWhen::Never
}

fn no_tools() -> ToolSet {
    ToolSet::from_names([])
}

/// A skill that is in the context from the start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// How often to ask again in a turn if the reply is not a decision.
    pub corrections: u32,
    /// How often the same action may fail in a row before the run ends.
    pub same_failures: u32,
    /// How many skills one action may load.
    pub skills_per_turn: usize,
    /// How many questions the model may ask the user.
    #[serde(default = "questions")]
    pub questions: u32,
}

impl Default for Patience {
    fn default() -> Self {
        Self { corrections: 2, same_failures: 3, skills_per_turn: 2, questions: questions() }
    }
}

fn questions() -> u32 {
    5
}

/// What the user's settings say about a run, at its beginning and whenever it is taken up again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// How much it may use.
    pub budget: Budget,
    /// How patient it is.
    pub patience: Patience,
    /// Tools that the configuration and the runtime's policy leave.
    pub tools: ToolSet,
    /// Whether prompts and the model's own words are recorded.
    pub store_prompts: bool,
}

/// Of records that do not say it.
fn first_rules() -> u32 {
    1
}
