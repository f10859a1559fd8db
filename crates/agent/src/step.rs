//! What a run wants done next, and what it is told in return.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use skill::load::LoadReport;
use skill::metadata::RunMode;
use skill::roots::Source;
use tools::permission::{
    Answer, ApprovalRequest, Decision as PermissionDecision, Request as Permission, Risk,
    SkillHash, ToolSet,
};

use crate::action::{Action, Decision};
use crate::budget::{Budget, Spent, Usage};
use crate::context::Prompt;
use crate::outcome::Outcome;
use crate::run::Patience;

/// What the driver must do next; each is answered with one [`Input`].
#[derive(Debug)]
pub enum Step<'run> {
    /// Send the conversation to the model; answer with [`Input::Replied`].
    CallModel(Prompt<'run>),
    /// Find out what the action would touch, touching nothing; answer with [`Input::Prepared`].
    Prepare(&'run Action),
    /// Put the action to a person; answer with [`Input::Answered`]. Whoever asks needs the question that the
    /// permission engine gave when the action was prepared; without it, prepare the action again and answer with
    /// [`Input::Prepared`] where that gives something else.
    Ask(Noted<'run>),
    /// Do what was prepared; answer with [`Input::Observed`]. Whoever does it needs the proof that the
    /// permission engine gave when it was prepared or answered; without it, prepare the action again.
    Perform(Noted<'run>),
    /// Stop.
    Done(&'run Outcome),
}

/// An action under way, and what was noted when it was prepared.
///
/// The note is for comparison only: a record can come from anywhere, so nothing is decided, shown or done from it.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'run> {
    /// What is to be done.
    pub action: &'run Action,
    /// What it would touch, as it was noted.
    pub request: &'run Request,
}

/// What a run is told. Inputs are all that a run depends on, so their record is enough to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// What came back from the model.
    Replied(Reply),
    /// What the action would touch, and whether it may.
    Prepared(Prepared),
    /// What a person said.
    Answered(Answer),
    /// What came of it.
    Observed(Observation),
    /// Somebody wants the run to stop.
    Cancelled,
    /// The run goes on after an interruption, under other terms than before.
    Resumed(Terms),
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

/// What is known of an action before it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Prepared {
    /// It cannot be done.
    Refused {
        /// Why.
        refusal: Refusal,
    },
    /// It may not be done.
    Denied {
        /// What it would do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
        /// For the model.
        refusal: Refusal,
    },
    /// A person must answer first.
    Ask {
        /// What it would do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
        /// What the person is asked.
        question: ApprovalRequest,
    },
    /// It may be done.
    Allowed {
        /// What it will do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
    },
}

impl Prepared {
    /// What the rules say, where they were asked.
    pub fn decision(&self) -> Option<&PermissionDecision> {
        match self {
            Self::Refused { .. } => None,
            Self::Denied { decision, .. }
            | Self::Ask { decision, .. }
            | Self::Allowed { decision, .. } => Some(decision),
        }
    }

    /// What the action would do, where that could be found out.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Refused { .. } => None,
            Self::Denied { request, .. }
            | Self::Ask { request, .. }
            | Self::Allowed { request, .. } => Some(request),
        }
    }
}

/// What came back from the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and nearly always the large one"
)]
pub enum Reply {
    /// A decision.
    Decided {
        /// What it is.
        decision: Decision,
        /// Tokens and money.
        usage: Usage,
        /// The text it was read from.
        raw: Raw,
        /// Why its change of the plan was left out, in words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_problem: Option<String>,
        /// Whether what it selects is handed over even if it has been before, because a person chose it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// Something that is not a decision.
    Invalid {
        /// What is wrong with it, in words for the model.
        problem: String,
        /// Tokens and money.
        usage: Usage,
        /// The text.
        raw: Raw,
    },
    /// Nothing.
    Failed {
        /// A stable name.
        code: String,
        /// Why, in words for the user.
        message: String,
        /// How long to wait before it is worth asking again; nothing where it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
}

impl Reply {
    /// A decision and nothing else.
    pub fn decided(decision: Decision, usage: Usage, raw: Raw) -> Self {
        Self::Decided { decision, usage, raw, plan_problem: None, again: false }
    }

    /// The reply without the model's own words.
    pub(crate) fn without_text(mut self) -> Self {
        if let Self::Decided { raw, .. } | Self::Invalid { raw, .. } = &mut self {
            raw.text = None;
        }
        self
    }
}

/// What a model wrote, before it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Raw {
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// Its length.
    pub bytes: usize,
    /// The text; a run that does not store prompts forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What an action would do, found out without doing it: what permissions are decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The action.
    pub action: Action,
    /// The permission it needs.
    pub permission: String,
    /// What it touches.
    pub patterns: Vec<String>,
    /// How much it can harm.
    pub risk: Risk,
    /// What will happen, as a phrase that begins with a verb.
    pub effect: String,
    /// Its parameters, for the person who is asked.
    pub params: Value,
    /// The content of the skill it acts for; approvals end when that changes.
    pub skill_hash: Option<SkillHash>,
    /// Whether it changes nothing, so that it may be repeated after an interruption.
    pub read_only: bool,
}

impl Permission for Request {
    fn permission(&self) -> &str {
        &self.permission
    }

    fn patterns(&self) -> Vec<String> {
        self.patterns.clone()
    }

    fn risk(&self) -> Risk {
        self.risk
    }

    fn effect(&self) -> String {
        self.effect.clone()
    }

    fn params(&self) -> Value {
        self.params.clone()
    }
}

/// Why something is not done, in a form the model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// A stable name, such as `PathTraversalBlocked`.
    pub code: String,
    /// What could not be done, and why.
    pub message: String,
    /// What to do instead.
    pub hint: String,
}

impl Refusal {
    /// A refusal with its three parts.
    pub fn new(
        code: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into() }
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// What the model is told.
    pub text: String,
    /// The error's code, if it failed.
    #[serde(default)]
    pub code: Option<String>,
    /// What the record says of it besides.
    #[serde(default, deserialize_with = "or_default")]
    pub facts: Facts,
    /// Where the whole content is kept, when `text` is a part of it.
    #[serde(default)]
    pub storage_ref: Option<String>,
    /// What entered the context with it.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
    /// What a child run used.
    #[serde(default)]
    pub spent: Option<Spent>,
}

impl Observation {
    /// Something that went wrong.
    pub fn failed(refusal: &Refusal) -> Self {
        Self {
            text: format!("{}: {}\nHint: {}", refusal.code, refusal.message, refusal.hint),
            code: Some(refusal.code.clone()),
            ..Self::of("")
        }
    }

    /// Something that went well.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: None,
            facts: Facts::default(),
            storage_ref: None,
            loaded: Vec::new(),
            spent: None,
        }
    }
}

/// What the record says of an action besides what the model is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// Changes of files, which can be taken back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Stored>,
    /// The child run that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_run: Option<String>,
    /// SHA-256 of the last event of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_record: Option<String>,
    /// The exit code of a program that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What a program wrote to standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Stream>,
    /// What a program wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
    /// Whatever else is known: durations, limits, sizes. Nothing is decided by it.
    #[serde(flatten)]
    pub more: Details,
}

/// A file beside the events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stored {
    /// Relative to the run's folder.
    #[serde(rename = "ref")]
    pub name: String,
    /// Its SHA-256.
    pub sha256: String,
}

/// What a program wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// How much.
    pub bytes: u64,
    /// Where it is kept, relative to the run's folder; nowhere if it is empty.
    #[serde(rename = "ref")]
    pub name: Option<String>,
    /// Its SHA-256.
    pub sha256: String,
}

/// Details for people who read the record; the program does not look at them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Details(Map<String, Value>);

impl Details {
    /// The fields of something.
    pub fn of(something: &impl Serialize) -> Self {
        match serde_json::to_value(something) {
            Ok(Value::Object(fields)) => Self(fields),
            _ => Self::default(),
        }
    }
}

/// Reads null as the default.
pub(crate) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Something that entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Loaded {
    /// A skill's body.
    Skill(SelectedSkill),
    /// A file of a skill.
    Resource(LoadedFile),
    /// A chunk of a skill.
    Chunk {
        /// The skill.
        skill: String,
        /// The chunk.
        id: String,
    },
}

/// A file of a skill that entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedFile {
    /// The skill.
    pub skill: String,
    /// The file.
    pub path: String,
    /// What was read and handed over.
    pub report: LoadReport,
}

/// A skill the run may act for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedSkill {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// Its content.
    pub hash: SkillHash,
    /// The tools it may use, where it says so.
    pub allowed_tools: Option<Vec<String>>,
    /// In the conversation or in a child run.
    pub run_mode: RunMode,
    /// What was read and handed over.
    pub report: LoadReport,
}
