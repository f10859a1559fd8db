//! What happens in a run, as data: the record that a run is resumed, replayed and judged from.
//!
//! Invariant: a record of any version can be read. What this version does not know is kept as it is.

mod line;
mod version_1;

#[cfg(test)]
mod tests;

use basics::sha256::Sha256;
use basics::skill::LoadReport;
use permission::{Answer, ApprovalId, ApprovalRequest, ToolSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::{Action, ActionKind};
use crate::budget::{Left, Spent, Usage};
use crate::changes::NotedChanges;
use crate::context::Message;
use crate::observation::{LoadedFile, Observation, SelectedSkill};
use crate::outcome::{Status, StopReason};
use crate::plan::{Plan, PlanUpdate};
use crate::question::{Question, QuestionAnswer};
use crate::reply::Reply;
use crate::request::{Prepared, Refusal};
use crate::setup::{Setup, Terms};
pub use line::Unknown;

/// The version of the format.
pub const VERSION: u32 = 2;

/// Every type of event that this version writes.
const KINDS: [&str; 26] = [
    "run_started",
    "run_finished",
    "turn_started",
    "turn_finished",
    "model_request",
    "model_response",
    "assistant_delta",
    "action_planned",
    "action_validated",
    "action_executed",
    "observation_recorded",
    "question_asked",
    "question_answered",
    "changes_made",
    "changes_applied",
    "changes_undone",
    "plan_created",
    "plan_updated",
    "skill_loaded",
    "resource_loaded",
    "approval_required",
    "approval_granted",
    "approval_denied",
    "budget_updated",
    "context_compacted",
    "error",
];

/// One line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// The version of the format.
    pub v: u32,
    /// Counted from 1.
    pub seq: u64,
    /// When, in RFC 3339 with milliseconds, UTC.
    pub ts: String,
    /// The run.
    pub run_id: String,
    /// The turn; 0 before the first.
    pub turn: u32,
    /// What happened.
    #[serde(flatten)]
    pub data: EventData,
    /// SHA-256 of the previous line; empty for the first.
    pub prev: String,
}

/// An event before it has a place in the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// The turn.
    pub turn: u32,
    /// What happened.
    pub data: EventData,
}

/// What happened: its type, and the details that belong to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "data", rename_all = "snake_case")]
pub enum EventData {
    /// A run began.
    RunStarted(Box<RunStarted>),
    /// A run ended.
    RunFinished(RunFinished),
    /// A turn began.
    TurnStarted(TurnStarted),
    /// A turn ended.
    TurnFinished(TurnFinished),
    /// The model was asked.
    ModelRequest(ModelRequest),
    /// The model replied, or failed to.
    ModelResponse(Box<ModelResponse>),
    /// A piece of text came in; shown, not stored.
    AssistantDelta(AssistantDelta),
    /// The model, or the user, wants something done.
    ActionPlanned(ActionPlanned),
    /// It is legal and allowed, or it is not.
    ActionValidated(Box<ActionValidated>),
    /// It was done, or it failed.
    ActionExecuted(Box<ActionExecuted>),
    /// The result entered the context.
    ObservationRecorded(ObservationRecorded),
    /// A person is asked something.
    QuestionAsked(QuestionAsked),
    /// They answered, or nobody will.
    QuestionAnswered(QuestionAnswered),
    /// The run's layer holds something else than before.
    ChangesMade(Box<ChangesMade>),
    /// Changes came to the workspace.
    ChangesApplied(Box<ChangesApplied>),
    /// Changes were taken back from the workspace.
    ChangesUndone(Box<ChangesUndone>),
    /// There is a plan.
    PlanCreated(PlanCreated),
    /// The plan changed, or a change was refused.
    PlanUpdated(PlanUpdated),
    /// A skill's body entered the context.
    SkillLoaded(Box<SkillLoaded>),
    /// A file or chunk of a skill entered the context.
    ResourceLoaded(Box<ResourceLoaded>),
    /// A person must answer.
    ApprovalRequired(Box<ApprovalRequired>),
    /// The answer was yes.
    ApprovalGranted(Answered),
    /// The answer was no.
    ApprovalDenied(Answered),
    /// What is left changed.
    BudgetUpdated(Box<BudgetUpdated>),
    /// Old observations were shortened.
    ContextCompacted(ContextCompacted),
    /// Something went wrong.
    Error(Error),
    /// Something that another version of this program wrote.
    #[serde(untagged, skip_deserializing)]
    #[schemars(skip)]
    Unknown(Unknown),
}

/// A run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStarted {
    /// What it begins with.
    pub setup: Setup,
    /// The tools it may use.
    pub tools: ToolSet,
}

/// A run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunFinished {
    /// Whether it did what it was for.
    pub status: Status,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// What it has to say.
    pub answer: String,
    /// Tokens and money.
    pub usage: Usage,
    /// What it used of its budget.
    pub spent: Spent,
}

/// A turn began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// What is left of the budget.
    pub budget: Left,
}

/// A turn ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnFinished {}

/// The model was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// Which try this is within the turn, counted from 1.
    pub attempt: u32,
    /// What was sent.
    pub prompt: SentPrompt,
    /// How many tokens that is, about.
    pub estimated_tokens: usize,
}

/// What was sent to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SentPrompt {
    /// SHA-256 over all of it.
    pub sha256: Sha256,
    /// Its length in characters.
    pub chars: usize,
    /// How many messages the conversation has.
    pub messages: usize,
    /// The whole, where prompts are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Box<PromptText>>,
}

/// A prompt, word for word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptText {
    /// Rules, protocol and catalog.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Plan and budget, sent last.
    pub state: String,
}

/// The model replied, or failed to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelResponse {
    /// Milliseconds since the run began.
    pub elapsed_ms: u64,
    /// Which try this is within the turn, counted from 1.
    pub attempt: u32,
    /// What came back.
    pub reply: Reply,
}

/// A piece of the answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantDelta {
    /// The text.
    pub content: String,
}

/// The model, or the user, wants something done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionPlanned {
    /// Who wants it.
    pub initiator: Initiator,
    /// What.
    pub action: Action,
}

/// Who wants something done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initiator {
    /// The user, on the command line.
    User,
    /// The model.
    Model,
    /// The run itself: at its end, what was changed is put to the user.
    Run,
}

impl Initiator {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
            Self::Run => "run",
        }
    }
}

/// Whether an action is legal and allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum ActionValidated {
    /// By the state of the run, before anything was looked up.
    Guard {
        /// Whether it is legal.
        ok: bool,
        /// Why not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
    /// By the permission engine.
    Permission {
        /// Milliseconds since the run began.
        elapsed_ms: u64,
        /// Whether it is allowed, or may still be by a person.
        ok: bool,
        /// What it would touch, and what the rules say.
        prepared: Box<Prepared>,
    },
}

impl ActionValidated {
    /// Whether the action may go on.
    pub fn is_ok(&self) -> bool {
        match self {
            Self::Guard { ok, .. } | Self::Permission { ok, .. } => *ok,
        }
    }

    /// What it would touch, and what the rules say, where it came that far.
    pub fn prepared(&self) -> Option<&Prepared> {
        match self {
            Self::Guard { .. } => None,
            Self::Permission { prepared, .. } => Some(prepared),
        }
    }
}

/// An action was done, or it failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExecuted {
    /// Milliseconds since the run began.
    pub elapsed_ms: u64,
    /// What was done.
    pub action: ActionKind,
    /// Whether it went well.
    pub ok: bool,
    /// What came of it.
    pub observation: Observation,
}

/// The result of an action entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObservationRecorded {
    /// Counted from 1.
    pub number: u32,
    /// What was done.
    pub action: ActionKind,
    /// Whether it went well.
    pub ok: bool,
    /// The error's code, if it failed.
    pub code: Option<String>,
    /// How long the text is that the model sees.
    pub chars: usize,
    /// SHA-256 of that text.
    pub sha256: Sha256,
    /// Where the whole content is kept, when the text is a part of it.
    pub storage_ref: Option<String>,
}

/// A person is asked something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAsked {
    /// Counted from 1.
    pub number: u32,
    /// The question.
    #[serde(flatten)]
    pub question: Question,
}

/// They answered, or nobody will.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswered {
    /// Milliseconds since the run began.
    pub elapsed_ms: u64,
    /// Which question.
    pub number: u32,
    /// What became of it.
    pub answer: QuestionAnswer,
}

/// The run's layer holds something else than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesMade {
    /// What it holds that the workspace does not.
    #[serde(flatten)]
    pub changes: NotedChanges,
}

/// Changes came to the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesApplied {
    /// Which ones, with what it takes to undo them.
    #[serde(flatten)]
    pub changes: NotedChanges,
}

/// Changes were taken back from the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesUndone {
    /// Which ones.
    #[serde(flatten)]
    pub changes: NotedChanges,
}

/// There is a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanCreated {
    /// The plan.
    pub plan: Plan,
}

/// The plan changed, or a change was refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum PlanUpdated {
    /// It changed.
    Changed {
        /// The plan as it is now.
        plan: Plan,
    },
    /// It stays as it was.
    Refused {
        /// Why.
        refused: String,
        /// The change, where it could be understood.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        update: Option<PlanUpdate>,
    },
}

/// A skill's body entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillLoaded {
    /// The skill.
    pub skill: SelectedSkill,
}

/// A file or chunk of a skill entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ResourceLoaded {
    /// A chunk.
    Chunk {
        /// The skill.
        skill: String,
        /// The chunk's name.
        chunk: String,
        /// What was read and handed over; earlier versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<LoadReport>>,
    },
    /// A file.
    File(Box<LoadedFile>),
}

/// A person must answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequired {
    /// The question.
    pub approval: ApprovalRequest,
}

/// A person answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// Milliseconds since the run began.
    pub elapsed_ms: u64,
    /// Which question.
    pub id: ApprovalId,
    /// The permission that was asked for.
    pub tool: String,
    /// The answer.
    pub answer: Answer,
}

/// What is left changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetUpdated {
    /// Milliseconds since the run began, where it was taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// What the settings say now, where it was taken up again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Terms>,
    /// What was used.
    pub spent: Spent,
    /// What is left.
    pub left: Left,
}

/// Old observations were shortened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextCompacted {
    /// How many.
    pub observations: usize,
    /// Characters of the context now.
    pub chars: usize,
}

/// Something went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    /// Milliseconds since the run began, where somebody stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// A stable name.
    pub code: String,
    /// What, in words.
    pub message: String,
    /// How long is waited before the model is asked again, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl EventData {
    /// The word for its type.
    pub fn kind(&self) -> &str {
        match self {
            Self::RunStarted(_) => "run_started",
            Self::RunFinished(_) => "run_finished",
            Self::TurnStarted(_) => "turn_started",
            Self::TurnFinished(_) => "turn_finished",
            Self::ModelRequest(_) => "model_request",
            Self::ModelResponse(_) => "model_response",
            Self::AssistantDelta(_) => "assistant_delta",
            Self::ActionPlanned(_) => "action_planned",
            Self::ActionValidated(_) => "action_validated",
            Self::ActionExecuted(_) => "action_executed",
            Self::ObservationRecorded(_) => "observation_recorded",
            Self::QuestionAsked(_) => "question_asked",
            Self::QuestionAnswered(_) => "question_answered",
            Self::ChangesMade(_) => "changes_made",
            Self::ChangesApplied(_) => "changes_applied",
            Self::ChangesUndone(_) => "changes_undone",
            Self::PlanCreated(_) => "plan_created",
            Self::PlanUpdated(_) => "plan_updated",
            Self::SkillLoaded(_) => "skill_loaded",
            Self::ResourceLoaded(_) => "resource_loaded",
            Self::ApprovalRequired(_) => "approval_required",
            Self::ApprovalGranted(_) => "approval_granted",
            Self::ApprovalDenied(_) => "approval_denied",
            Self::BudgetUpdated(_) => "budget_updated",
            Self::ContextCompacted(_) => "context_compacted",
            Self::Error(_) => "error",
            Self::Unknown(unknown) => unknown.kind(),
        }
    }

    /// Whether it is the end of a run.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::RunFinished(_))
    }

    /// Whether it is about what became of the changes: such events may follow the end of a run.
    pub fn is_epilogue(&self) -> bool {
        matches!(self, Self::ChangesMade(_) | Self::ChangesApplied(_) | Self::ChangesUndone(_))
    }

    /// Milliseconds since the run began, where it says so.
    pub fn elapsed_ms(&self) -> Option<u64> {
        match self {
            Self::ModelResponse(response) => Some(response.elapsed_ms),
            Self::ActionExecuted(executed) => Some(executed.elapsed_ms),
            Self::QuestionAnswered(answered) => Some(answered.elapsed_ms),
            Self::ApprovalGranted(answered) | Self::ApprovalDenied(answered) => {
                Some(answered.elapsed_ms)
            }
            Self::ActionValidated(validated) => match &**validated {
                ActionValidated::Permission { elapsed_ms, .. } => Some(*elapsed_ms),
                ActionValidated::Guard { .. } => None,
            },
            Self::BudgetUpdated(updated) => updated.elapsed_ms,
            Self::Error(error) => error.elapsed_ms,
            _ => None,
        }
    }
}
