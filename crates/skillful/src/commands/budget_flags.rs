//! How much a run may use, as said on the command line.

use agent::budget::Budget;

/// Limits of this run, over those of the settings.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Limits of this run")]
pub(crate) struct BudgetFlags {
    /// How many decisions the model may make
    #[arg(long, value_name = "N")]
    max_turns: Option<u32>,
    /// How many tool calls are allowed, scripts and commands included
    #[arg(long, value_name = "N")]
    max_tool_calls: Option<u32>,
    /// How many scripts and commands may run
    #[arg(long, value_name = "N")]
    max_script_runs: Option<u32>,
    /// How many seconds the run may take
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// How many tokens the model may write
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// How many US dollars the model may cost
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,
}

impl BudgetFlags {
    /// Sets what was said.
    pub(crate) fn set(&self, budget: &mut Budget) {
        let Self { max_turns, max_tool_calls, max_script_runs, .. } = *self;
        budget.max_turns = max_turns.unwrap_or(budget.max_turns);
        budget.max_tool_calls = max_tool_calls.unwrap_or(budget.max_tool_calls);
        budget.max_script_runs = max_script_runs.unwrap_or(budget.max_script_runs);
        budget.max_wall_seconds = self.max_seconds.unwrap_or(budget.max_wall_seconds);
        budget.max_output_tokens = self.max_tokens.or(budget.max_output_tokens);
        budget.max_cost_usd = self.max_cost.or(budget.max_cost_usd);
    }

    /// The same as words of a command line.
    pub(crate) fn again(&self) -> impl Iterator<Item = String> {
        fn word<T: ToString>(name: &str, value: Option<T>) -> Option<[String; 2]> {
            value.map(|value| [name.to_owned(), value.to_string()])
        }
        let words = [
            word("--max-turns", self.max_turns),
            word("--max-tool-calls", self.max_tool_calls),
            word("--max-script-runs", self.max_script_runs),
            word("--max-seconds", self.max_seconds),
            word("--max-tokens", self.max_tokens),
            word("--max-cost", self.max_cost),
        ];
        words.into_iter().flatten().flatten()
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    let dollars: f64 = text.trim_start_matches('$').parse().map_err(|_| "it is not a number")?;
    match dollars.is_finite() && dollars >= 0.0 {
        true => Ok(dollars),
        false => Err("it must be a number from 0".to_owned()),
    }
}
