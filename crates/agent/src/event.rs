//! What happens in a run, as data: the record that a run is resumed, replayed and judged from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const VERSION: u32 = 1;

/// One line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(rename = "type")]
    pub kind: EventKind,
    /// The details.
    pub data: Value,
    /// SHA-256 of the previous line; empty for the first.
    pub prev: String,
}

/// An event before it has a place in the record.
#[derive(Debug, Clone, PartialEq)]
pub struct Happening {
    /// The turn.
    pub turn: u32,
    /// What happened.
    pub kind: EventKind,
    /// The details.
    pub data: Value,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A run began.
    RunStarted,
    /// A run ended.
    RunFinished,
    /// A turn began.
    TurnStarted,
    /// A turn ended.
    TurnFinished,
    /// The model was asked.
    ModelRequest,
    /// The model replied, or failed to.
    ModelResponse,
    /// A piece of text came in; shown, not stored.
    AssistantDelta,
    /// The model, or the user, wants something done.
    ActionPlanned,
    /// It is legal and allowed, or it is not.
    ActionValidated,
    /// It was done, or it failed.
    ActionExecuted,
    /// The result entered the context.
    ObservationRecorded,
    /// There is a plan.
    PlanCreated,
    /// The plan changed, or a change was refused.
    PlanUpdated,
    /// A skill's body entered the context.
    SkillLoaded,
    /// A file or chunk of a skill entered the context.
    ResourceLoaded,
    /// A person must answer.
    ApprovalRequired,
    /// The answer was yes.
    ApprovalGranted,
    /// The answer was no.
    ApprovalDenied,
    /// What is left changed.
    BudgetUpdated,
    /// Old observations were shortened.
    ContextCompacted,
    /// Something went wrong.
    Error,
}
