//! Has anything become worse since an earlier report?

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runner::{CaseResult, Variant};

/// What changed since an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// Cases that pass less often.
    pub regressions: Vec<Change>,
    /// Cases that pass more often.
    pub improvements: Vec<Change>,
    /// Cases that are gone.
    pub missing: Vec<String>,
}

/// A case whose pass rate changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Suite and case.
    pub name: String,
    /// The rate before.
    pub before: f64,
    /// The rate now.
    pub now: f64,
}

impl Changes {
    /// From the results of an earlier report to those of this one.
    pub fn between(before: &[CaseResult], now: &[CaseResult]) -> Self {
        let (before, now) = (rates(before), rates(now));
        let mut changes = Self::default();
        for (name, rate) in before {
            let Some(current) = now.get(&name).copied() else {
                changes.missing.push(name);
                continue;
            };
            let change = Change { name, before: rate, now: current };
            if current < rate {
                changes.regressions.push(change);
            } else if current > rate {
                changes.improvements.push(change);
            }
        }
        changes
    }
}

fn rates(results: &[CaseResult]) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for result in results.iter().filter(|result| result.variant == Variant::With) {
        let (passed, all) = counts.entry(result.name()).or_default();
        *passed += u32::from(result.passed);
        *all += 1;
    }
    counts
        .into_iter()
        .map(|(name, (passed, all))| (name, f64::from(passed) / f64::from(all)))
        .collect()
}
