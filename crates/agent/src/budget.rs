//! How much a run may use, and how much it has used.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::StopReason;

/// How much a run may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// How many decisions the model may make.
    pub max_turns: u32,
    /// How many tool calls are allowed, scripts and commands included.
    pub max_tool_calls: u32,
    /// How many scripts and commands may run.
    pub max_script_runs: u32,
    /// How many characters the context may have.
    pub max_context_chars: usize,
    /// How many seconds the run may take.
    pub max_wall_seconds: u64,
    /// How many tokens the model may write; no limit by default.
    pub max_output_tokens: Option<u64>,
    /// How many US dollars the model may cost; no limit by default.
    pub max_cost_usd: Option<f64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            max_turns: 40,
            max_tool_calls: 100,
            max_script_runs: 40,
            max_context_chars: 200_000,
            max_wall_seconds: 1_800,
            max_output_tokens: None,
            max_cost_usd: None,
        }
    }
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Tokens the model read.
    pub input_tokens: u64,
    /// Of these, tokens that came from a cache.
    pub cached_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// What they cost, in US dollars, where prices are known.
    pub cost_usd: Option<f64>,
    /// Whether the numbers are estimates, because the provider gave none.
    pub estimated: bool,
}

impl Usage {
    /// Adds the usage of another call.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        self.estimated |= other.estimated;
    }
}

/// How much a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Spent {
    /// Decisions of the model.
    pub turns: u32,
    /// Calls of tools and scripts.
    pub tool_calls: u32,
    /// Runs of scripts and commands.
    pub script_runs: u32,
    /// Characters of the context now.
    pub context_chars: usize,
    /// Milliseconds since the start.
    pub wall_milliseconds: u64,
    /// Tokens and money.
    pub usage: Usage,
}

/// How much a run may still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Left {
    /// Decisions of the model.
    pub turns: u32,
    /// Calls of tools and scripts.
    pub tool_calls: u32,
    /// Runs of scripts and commands.
    pub script_runs: u32,
    /// Characters of the context.
    pub context_chars: usize,
    /// Seconds.
    pub seconds: u64,
}

impl Budget {
    /// What is left after this much.
    pub fn left(&self, spent: &Spent) -> Left {
        Left {
            turns: self.max_turns.saturating_sub(spent.turns),
            tool_calls: self.max_tool_calls.saturating_sub(spent.tool_calls),
            script_runs: self.max_script_runs.saturating_sub(spent.script_runs),
            context_chars: self.max_context_chars.saturating_sub(spent.context_chars),
            seconds: self.max_wall_seconds.saturating_sub(spent.wall_milliseconds / 1_000),
        }
    }

    /// The limit that ends the run before another decision, if one does.
    pub(crate) fn exhausted(&self, spent: &Spent) -> Option<StopReason> {
        let over_tokens =
            self.max_output_tokens.is_some_and(|max| spent.usage.output_tokens >= max);
        let over_cost =
            self.max_cost_usd.is_some_and(|max| spent.usage.cost_usd.unwrap_or(0.0) >= max);
        if spent.turns >= self.max_turns {
            Some(StopReason::MaxTurns)
        } else if spent.wall_milliseconds >= self.max_wall_seconds.saturating_mul(1_000) {
            Some(StopReason::MaxWallSeconds)
        } else if spent.context_chars > self.max_context_chars {
            Some(StopReason::MaxContextChars)
        } else if over_tokens {
            Some(StopReason::MaxOutputTokens)
        } else if over_cost {
            Some(StopReason::MaxCostUsd)
        } else {
            None
        }
    }

    /// The same with as much again of what came to this limit; nothing where more of it is not to be had.
    pub(crate) fn extended(&self, limit: StopReason, first: &Self) -> Option<Self> {
        let mut more = self.clone();
        match limit {
            StopReason::MaxTurns => {
                more.max_turns = more.max_turns.saturating_add(first.max_turns.max(1))
            }
            StopReason::MaxToolCalls => {
                more.max_tool_calls =
                    more.max_tool_calls.saturating_add(first.max_tool_calls.max(1));
            }
            StopReason::MaxScriptRuns => {
                more.max_script_runs =
                    more.max_script_runs.saturating_add(first.max_script_runs.max(1));
            }
            StopReason::MaxWallSeconds => {
                more.max_wall_seconds =
                    more.max_wall_seconds.saturating_add(first.max_wall_seconds.max(1));
            }
            StopReason::MaxOutputTokens => {
                more.max_output_tokens = more
                    .max_output_tokens
                    .zip(first.max_output_tokens)
                    .map(|(now, first)| now.saturating_add(first.max(1)));
            }
            StopReason::MaxCostUsd => {
                more.max_cost_usd =
                    more.max_cost_usd.zip(first.max_cost_usd).map(|(now, first)| now + first);
            }
            _ => return None,
        }
        Some(more)
    }

    /// What a child run may use: half of what is left, and at least one turn. Its clock is the parent's.
    pub(crate) fn share(&self, spent: &Spent) -> Self {
        let half = |max: u32, used: u32| (max.saturating_sub(used)).div_ceil(2);
        let elapsed = spent.wall_milliseconds / 1_000;
        Self {
            max_turns: half(self.max_turns, spent.turns).max(1),
            max_tool_calls: half(self.max_tool_calls, spent.tool_calls),
            max_script_runs: half(self.max_script_runs, spent.script_runs),
            max_context_chars: self.max_context_chars,
            max_wall_seconds: elapsed
                .saturating_add(self.max_wall_seconds.saturating_sub(elapsed).div_ceil(2)),
            max_output_tokens: self
                .max_output_tokens
                .map(|max| max.saturating_sub(spent.usage.output_tokens).div_ceil(2)),
            max_cost_usd: self
                .max_cost_usd
                .map(|max| (max - spent.usage.cost_usd.unwrap_or(0.0)).max(0.0) / 2.0),
        }
    }
}
