//! How a run ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model answered.
    FinalAnswer,
    /// Whoever decides answered that it could not do the work.
    NoResult,
    /// No decisions are left.
    MaxTurns,
    /// No tool calls are left.
    MaxToolCalls,
    /// No scripts and commands are left.
    MaxScriptRuns,
    /// No time is left.
    MaxWallSeconds,
    /// The context is full.
    MaxContextChars,
    /// No output tokens are left.
    MaxOutputTokens,
    /// No money is left.
    MaxCostUsd,
    /// The same action failed again and again.
    RepeatedFailure,
    /// The model's replies could not be understood.
    InvalidOutput,
    /// The model could not be reached.
    ModelError,
    /// A person must answer first, and nobody is there.
    ApprovalRequired,
    /// Somebody stopped it.
    Cancelled,
}

/// Whether a run did what it was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// With an answer of the model.
    Completed,
    /// With an answer made without the model, from what was done.
    Degraded,
    /// It waits for an approval.
    Blocked,
    /// Somebody stopped it.
    Cancelled,
}

impl StopReason {
    /// What it means for the run.
    pub fn status(self) -> Status {
        match self {
            Self::FinalAnswer => Status::Completed,
            Self::ApprovalRequired => Status::Blocked,
            Self::Cancelled => Status::Cancelled,
            _ => Status::Degraded,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FinalAnswer => "final_answer",
            Self::NoResult => "no_result",
            Self::MaxTurns => "max_turns",
            Self::MaxToolCalls => "max_tool_calls",
            Self::MaxScriptRuns => "max_script_runs",
            Self::MaxWallSeconds => "max_wall_seconds",
            Self::MaxContextChars => "max_context_chars",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::MaxCostUsd => "max_cost_usd",
            Self::RepeatedFailure => "repeated_failure",
            Self::InvalidOutput => "invalid_output",
            Self::ModelError => "model_error",
            Self::ApprovalRequired => "approval_required",
            Self::Cancelled => "cancelled",
        }
    }

    /// The reason in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::FinalAnswer => "the model answered",
            Self::NoResult => "the work could not be done",
            Self::MaxTurns => "the run used all its turns (`max_turns`)",
            Self::MaxToolCalls => "the run used all its tool calls (`max_tool_calls`)",
            Self::MaxScriptRuns => "the run used all its scripts and commands (`max_script_runs`)",
            Self::MaxWallSeconds => "the run used all its time (`max_wall_seconds`)",
            Self::MaxContextChars => "the context is full (`max_context_chars`)",
            Self::MaxOutputTokens => "the model wrote as much as it may (`max_output_tokens`)",
            Self::MaxCostUsd => "the run cost as much as it may (`max_cost_usd`)",
            Self::RepeatedFailure => "the same action failed again and again",
            Self::InvalidOutput => "the model's replies could not be understood",
            Self::ModelError => "the model could not be reached",
            Self::ApprovalRequired => "an approval is needed and nobody is there to give it",
            Self::Cancelled => "the run was cancelled",
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Why it ended.
    pub stop_reason: StopReason,
    /// What it has to say.
    pub answer: String,
}
