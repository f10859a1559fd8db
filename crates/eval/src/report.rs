//! What came of many cases, for machines and for people.

mod html;
mod junit;
mod markdown;
mod plot;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeMap;

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::benchmark::Benchmark;
use crate::judge::{Cost, Dimension, Triggered};
use crate::regressions::Changes;
use crate::runner::{CaseResult, Variant};

pub use html::html;
pub use junit::junit;
pub use markdown::{failures, markdown};

/// The version of the format.
pub const VERSION: u32 = 1;
/// A query counts as triggering where it does so in at least this share of its runs, unless the user says otherwise.
pub const TRIGGER_THRESHOLD: f64 = 0.5;

/// Why a sentence is not judged where nobody was asked to.
const NO_GRADER: &str = "no --model and no --grader";

/// Everything that is known after all cases have run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The version of the format.
    pub version: u32,
    /// When, in RFC 3339.
    pub created: String,
    /// The model; nothing where each case brought its own.
    pub model: Option<String>,
    /// The figures.
    pub summary: Summary,
    /// Files that hold no usable cases.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Every run of every case.
    pub results: Vec<CaseResult>,
    /// With a skill and without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<Benchmark>,
    /// Against an earlier report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

/// The figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Cases.
    pub cases: usize,
    /// Runs of them.
    pub runs: usize,
    /// Cases whose every run passed; for a trigger query, whose rate is right.
    pub passed: usize,
    /// The others.
    pub failed: usize,
    /// The mean over the cases of the share of their runs that passed.
    pub pass_rate: f64,
    /// The mean score of each dimension that was judged.
    pub dimensions: BTreeMap<Dimension, f64>,
    /// Chosen against expected skills.
    pub trigger: TriggerSummary,
    /// The share of its runs from which on a query counts as triggering.
    #[serde(default = "usual_threshold")]
    pub trigger_threshold: f64,
    /// How often each query of a trigger set chose its skill.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trigger_rates: Vec<TriggerRate>,
    /// Sentences that a model judged, apart from everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertions: Option<AssertionSummary>,
    /// Sentences that no model judged: none was asked, or it came to no judgement.
    #[serde(default)]
    pub unjudged: usize,
    /// What all runs took together.
    pub cost: Cost,
}

/// Precision, recall and F1 of choosing skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerSummary {
    /// The counts.
    #[serde(flatten)]
    pub counts: Triggered,
    /// The share of chosen skills that were expected.
    pub precision: Option<f64>,
    /// The share of expected skills that were chosen.
    pub recall: Option<f64>,
    /// Both in one number.
    pub f1: Option<f64>,
}

/// How often a query chose its skill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerRate {
    /// Suite and case.
    pub name: String,
    /// The query.
    pub query: String,
    /// Whether it should choose it.
    pub should_trigger: bool,
    /// The share of its runs that did.
    pub rate: f64,
    /// Whether the rate is on the right side of the threshold.
    pub passed: bool,
}

/// Sentences that a model judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssertionSummary {
    /// True of their answers.
    pub passed: usize,
    /// All.
    pub total: usize,
}

/// What a report says besides its results.
#[derive(Debug, Clone)]
pub struct About<'a> {
    /// When, in RFC 3339.
    pub created: String,
    /// The model; nothing where each case brought its own.
    pub model: Option<String>,
    /// Files that hold no usable cases.
    pub problems: Vec<String>,
    /// A skill that cases were run with and without.
    pub compared: Option<&'a str>,
    /// The share of its runs from which on a query counts as triggering.
    pub trigger_threshold: f64,
}

impl Default for About<'_> {
    fn default() -> Self {
        Self {
            created: String::new(),
            model: None,
            problems: Vec::new(),
            compared: None,
            trigger_threshold: TRIGGER_THRESHOLD,
        }
    }
}

fn usual_threshold() -> f64 {
    TRIGGER_THRESHOLD
}

impl Report {
    /// A report about these results.
    pub fn new(about: About<'_>, mut results: Vec<CaseResult>) -> Self {
        let About { created, model, problems, compared, trigger_threshold } = about;
        results.sort_by(|a, b| {
            let key = |r: &CaseResult| {
                (r.suite.clone(), r.id.clone(), r.variant == Variant::Without, r.number)
            };
            key(a).cmp(&key(b))
        });
        let benchmark = compared.map(|skill| Benchmark::of(skill, &results));
        let summary = Summary::of(&results, trigger_threshold);
        Self {
            version: VERSION,
            created,
            model,
            summary,
            problems,
            results,
            benchmark,
            changes: None,
        }
    }

    /// Results that are counted: those without the skill in question are there for comparison only.
    fn counted(&self) -> impl Iterator<Item = &CaseResult> {
        self.results.iter().filter(|result| result.variant == Variant::With)
    }

    /// Runs that failed, but for those that the rate of their trigger query can afford.
    pub fn failed(&self) -> impl Iterator<Item = &CaseResult> {
        self.counted().filter(|result| !self.is_well(result))
    }

    /// Why sentences were not judged, and how many for each reason.
    pub fn unjudged(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for result in self.counted() {
            if result.unjudged > 0 {
                let asked = reasons.entry(NO_GRADER).or_insert(0_usize);
                *asked = asked.saturating_add(result.unjudged);
            }
            for graded in result.graded.iter().filter(|graded| !graded.judged) {
                let why = graded.evidence.trim_start_matches("not judged: ");
                *reasons.entry(why).or_insert(0) += 1;
            }
        }
        reasons
    }

    /// Whether a run passed, or is of a trigger query whose rate is right without it.
    fn is_well(&self, result: &CaseResult) -> bool {
        if result.passed || result.should_trigger.is_none() {
            return result.passed;
        }
        let name = result.name();
        self.summary.trigger_rates.iter().any(|rate| rate.passed && rate.name == name)
    }
}

impl Summary {
    fn of(results: &[CaseResult], threshold: f64) -> Self {
        let counted: Vec<&CaseResult> =
            results.iter().filter(|result| result.variant == Variant::With).collect();
        let cases: Vec<&[&CaseResult]> = counted.chunk_by(|a, b| a.name() == b.name()).collect();
        let rates: Vec<f64> = cases.iter().map(|runs| case_rate(runs, threshold)).collect();
        let passed = rates.iter().filter(|rate| **rate >= 1.0).count();
        let counts = verdicts(&counted)
            .fold(Triggered::default(), |sum, verdict| sum.plus(verdict.triggered));
        let graded = || counted.iter().flat_map(|result| &result.graded);
        let judged = || graded().filter(|graded| graded.judged);
        let unasked = counted.iter().fold(0, |sum: usize, run| sum.saturating_add(run.unjudged));
        Self {
            cases: cases.len(),
            runs: counted.len(),
            passed,
            failed: cases.len() - passed,
            pass_rate: mean(&rates).unwrap_or(1.0),
            dimensions: dimensions(&counted),
            trigger: TriggerSummary {
                counts,
                precision: counts.precision(),
                recall: counts.recall(),
                f1: counts.f1(),
            },
            trigger_threshold: threshold,
            trigger_rates: cases.iter().filter_map(|runs| trigger_rate(runs, threshold)).collect(),
            assertions: judged().next().map(|_| AssertionSummary {
                passed: judged().filter(|graded| graded.passed).count(),
                total: judged().count(),
            }),
            unjudged: unasked.saturating_add(graded().count() - judged().count()),
            cost: verdicts(&counted).fold(Cost::default(), |sum, verdict| sum.plus(verdict.cost)),
        }
    }
}

fn verdicts<'r>(results: &'r [&CaseResult]) -> impl Iterator<Item = &'r crate::judge::Verdict> {
    results.iter().filter_map(|result| result.verdict.as_ref())
}

/// The share of runs that passed; a trigger query passes or fails as a whole.
fn case_rate(runs: &[&CaseResult], threshold: f64) -> f64 {
    if let Some(rate) = trigger_rate(runs, threshold) {
        return f64::from(u8::from(rate.passed));
    }
    runs.iter().filter(|run| run.passed).count() as f64 / runs.len().max(1) as f64
}

fn trigger_rate(runs: &[&CaseResult], threshold: f64) -> Option<TriggerRate> {
    let first = runs.first()?;
    let should_trigger = first.should_trigger?;
    let chose = |run: &&&CaseResult| {
        let counts = run.verdict.as_ref().map(|verdict| verdict.triggered).unwrap_or_default();
        // Any other skill that was chosen says nothing about the one in question.
        if should_trigger { counts.right > 0 } else { counts.wrong > 0 }
    };
    let rate = runs.iter().filter(chose).count() as f64 / runs.len() as f64;
    // A run that broke says nothing about the description, and must not look like a success.
    let broken = runs.iter().any(|run| run.is_broken());
    let passed = !broken && (rate >= threshold) == should_trigger;
    Some(TriggerRate {
        name: first.name(),
        query: first.input.clone(),
        should_trigger,
        rate,
        passed,
    })
}

/// Splits queries into those to work with and those to believe, two fifths, the same way every time. Queries that
/// should and that should not trigger are split alike.
pub fn split(rates: Vec<TriggerRate>) -> (Vec<TriggerRate>, Vec<TriggerRate>) {
    let (mut train, mut validation) = (Vec::new(), Vec::new());
    let (should, should_not): (Vec<_>, Vec<_>) =
        rates.into_iter().partition(|rate| rate.should_trigger);
    for mut kind in [should, should_not] {
        // In an order that has nothing to do with the author's.
        kind.sort_by_key(|rate| Sha256::of(rate.query.as_bytes()).to_string());
        let believed = kind.len() * 2 / 5;
        train.extend(kind.split_off(believed));
        validation.extend(kind);
    }
    (train, validation)
}

fn dimensions(results: &[&CaseResult]) -> BTreeMap<Dimension, f64> {
    let scored = |dimension: Dimension| {
        let scores: Vec<f64> =
            verdicts(results).filter_map(|verdict| verdict.score(dimension)).collect();
        Some((dimension, mean(&scores)?))
    };
    Dimension::ALL.into_iter().filter_map(scored).collect()
}

fn mean(numbers: &[f64]) -> Option<f64> {
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A share in percent, without pretending that nearly all is all.
fn percent(share: f64) -> String {
    let tenths = (share * 1_000.0).floor() / 10.0;
    if tenths.fract() == 0.0 { format!("{tenths:.0} %") } else { format!("{tenths:.1} %") }
}
