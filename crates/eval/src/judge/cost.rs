//! What a run took. Nothing here passes or fails.

use agent::budget::Spent;
use agent::event::EventData;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trace::Trace;

/// What a run took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens of them that it had read before.
    pub cached_tokens: u64,
    /// Tokens that it wrote.
    pub output_tokens: u64,
    /// Money, where the prices are known.
    pub cost_usd: Option<f64>,
    /// Time.
    pub milliseconds: u64,
    /// Turns.
    pub turns: u64,
    /// Calls of tools, scripts included.
    pub tool_calls: u64,
}

impl Cost {
    /// What the last account of the run says.
    pub(super) fn of(trace: &Trace<'_>) -> Self {
        let mut accounts = trace.events.iter().rev().filter_map(|event| match &event.data {
            EventData::RunFinished(finished) => Some(finished.spent),
            EventData::BudgetUpdated(updated) => Some(updated.spent),
            _ => None,
        });
        let Spent { turns, tool_calls, wall_milliseconds, usage, .. } =
            accounts.next().unwrap_or_default();
        Self {
            input_tokens: usage.input_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: usage.cost_usd,
            milliseconds: wall_milliseconds,
            turns: u64::from(turns),
            tool_calls: u64::from(tool_calls),
        }
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        let usd = other.cost_usd.map(|own| own + self.cost_usd.unwrap_or(0.0));
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_usd: usd.or(self.cost_usd),
            milliseconds: self.milliseconds.saturating_add(other.milliseconds),
            turns: self.turns.saturating_add(other.turns),
            tool_calls: self.tool_calls.saturating_add(other.tool_calls),
        }
    }

    /// Tokens read and written.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}
