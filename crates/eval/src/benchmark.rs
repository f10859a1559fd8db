//! Does a skill help: the same cases with and without it, as the open standard's `benchmark.json` shows it.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Graded;
use crate::judge::Dimension;
use crate::runner::{CaseResult, Variant};

/// The comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Benchmark {
    /// The skill.
    pub skill: String,
    /// Both sides, and the difference.
    pub run_summary: RunSummary,
}

/// Both sides, and the difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// With the skill.
    pub with_skill: Side,
    /// Without it.
    pub without_skill: Side,
    /// The first less the second.
    pub delta: Delta,
}

/// One side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Share of what was checked that held, choosing the skill itself and what a model judged left out.
    pub pass_rate: Spread,
    /// Share of the sentences that a model judged and found true, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion_pass_rate: Option<Spread>,
    /// Seconds a run took.
    pub time_seconds: Spread,
    /// Tokens a run took.
    pub tokens: Spread,
}

/// Mean and standard deviation over the runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the sample.
    pub stddev: f64,
}

/// The difference of the means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Delta {
    /// Of the pass rates.
    pub pass_rate: f64,
    /// Of the shares of true sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertion_pass_rate: Option<f64>,
    /// Of the times.
    pub time_seconds: f64,
    /// Of the tokens.
    pub tokens: f64,
}

impl Spread {
    /// Of these numbers.
    pub fn of(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        if numbers.is_empty() {
            return Self::default();
        }
        let mean = numbers.iter().sum::<f64>() / count;
        let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
        let stddev = if numbers.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Self { mean, stddev }
    }
}

impl Benchmark {
    /// Compares the runs of both variants.
    pub fn of(skill: &str, results: &[CaseResult]) -> Self {
        let with_skill = Side::of(results, Variant::With);
        let without_skill = Side::of(results, Variant::Without);
        let difference =
            |part: fn(&Side) -> Spread| part(&with_skill).mean - part(&without_skill).mean;
        let delta = Delta {
            pass_rate: difference(|side| side.pass_rate),
            assertion_pass_rate: with_skill
                .assertion_pass_rate
                .zip(without_skill.assertion_pass_rate)
                .map(|(with, without)| with.mean - without.mean),
            time_seconds: difference(|side| side.time_seconds),
            tokens: difference(|side| side.tokens),
        };
        Self {
            skill: skill.to_owned(),
            run_summary: RunSummary { with_skill, without_skill, delta },
        }
    }
}

impl RunSummary {
    /// What is compared, both sides of it, and the difference.
    pub fn rows(&self) -> Vec<(&'static str, Spread, Spread, f64)> {
        let Self { with_skill: with, without_skill: without, delta } = self;
        let mut rows = vec![("checks", with.pass_rate, without.pass_rate, delta.pass_rate)];
        let judged = (with.assertion_pass_rate, without.assertion_pass_rate);
        if let ((Some(with), Some(without)), Some(delta)) = (judged, delta.assertion_pass_rate) {
            rows.push(("assertions", with, without, delta));
        }
        rows.push(("seconds", with.time_seconds, without.time_seconds, delta.time_seconds));
        rows.push(("tokens", with.tokens, without.tokens, delta.tokens));
        rows
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{:.2} ± {:.2}", self.mean, self.stddev))
    }
}

impl Side {
    fn of(results: &[CaseResult], variant: Variant) -> Self {
        let own = || results.iter().filter(move |result| result.variant == variant);
        let judged: Vec<f64> = own().filter_map(found_true).collect();
        let costs = || own().filter_map(|result| Some(result.verdict.as_ref()?.cost));
        Self {
            pass_rate: Spread::of(&own().map(share_held).collect::<Vec<_>>()),
            assertion_pass_rate: (!judged.is_empty()).then(|| Spread::of(&judged)),
            time_seconds: Spread::of(
                &costs().map(|cost| cost.milliseconds as f64 / 1_000.0).collect::<Vec<_>>(),
            ),
            tokens: Spread::of(&costs().map(|cost| cost.tokens() as f64).collect::<Vec<_>>()),
        }
    }
}

/// The share of the sentences that a model found true; nothing where it judged none. Without an answer none is true,
/// so that a run that broke is no gain.
fn found_true(result: &CaseResult) -> Option<f64> {
    let counts = |graded: &&Graded| graded.judged || result.answer.is_none();
    let counted = result.graded.iter().filter(counts);
    let (passed, all) =
        counted.fold((0, 0), |(passed, all), graded| (passed + u32::from(graded.passed), all + 1));
    (all > 0).then(|| f64::from(passed) / f64::from(all))
}

/// The share of what was checked that held. Whether the skill was chosen is no fair question without it.
fn share_held(result: &CaseResult) -> f64 {
    let Some(verdict) = &result.verdict else { return 0.0 };
    let fair = |dimension: Dimension| matches!(dimension, Dimension::Output | Dimension::Files);
    let mut counts =
        verdict.checks.iter().filter(|check| fair(check.dimension)).map(|check| check.passed);
    let (passed, all) =
        counts.by_ref().fold((0, 0), |(passed, all), held| (passed + u32::from(held), all + 1));
    match (all, &result.error) {
        (_, Some(_)) => 0.0,
        (0, None) => f64::from(u8::from(
            verdict.checks.iter().all(|c| c.passed || c.dimension == Dimension::Trigger),
        )),
        (all, None) => f64::from(passed) / f64::from(all),
    }
}
