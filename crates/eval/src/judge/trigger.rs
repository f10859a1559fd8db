//! Were the right skills chosen?

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checks, Dimension};
use crate::case::{Case, Expect};
use crate::trace::Trace;

/// Chosen against expected skills, for precision and recall over many runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triggered {
    /// Expected and chosen.
    pub right: u32,
    /// Chosen, though not expected.
    pub wrong: u32,
    /// Expected, but not chosen.
    pub missed: u32,
}

impl Triggered {
    /// Counts for one run. Where one of several is expected, that counts as one.
    pub(super) fn of(case: &Case, trace: &Trace<'_>) -> Self {
        let expect = &case.expect;
        let chosen = trace.skills();
        let is_chosen = |name: &String| chosen.contains(&name.as_str());
        let mut counts = Self::default();
        let mut count = |right| if right { counts.right += 1 } else { counts.missed += 1 };
        if let Some(names) = any_of(expect) {
            count(names.iter().any(is_chosen));
        }
        all_of(expect).into_iter().for_each(|name| count(is_chosen(name)));
        let expected = || expect.skills_any_of.iter().chain(&expect.skills_all_of);
        let names_any = expected().next().is_some();
        let unexpected = chosen.iter().filter(|name| {
            expect.skills_none_of.iter().any(|none| none == *name)
                || names_any && !expected().any(|wanted| wanted == *name)
        });
        counts.wrong = unexpected.count() as u32;
        counts
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            right: self.right.saturating_add(other.right),
            wrong: self.wrong.saturating_add(other.wrong),
            missed: self.missed.saturating_add(other.missed),
        }
    }

    /// The share of chosen skills that were expected.
    pub fn precision(self) -> Option<f64> {
        ratio(self.right, [f64::from(self.wrong)])
    }

    /// The share of expected skills that were chosen.
    pub fn recall(self) -> Option<f64> {
        ratio(self.right, [f64::from(self.missed)])
    }

    /// Both in one number.
    pub fn f1(self) -> Option<f64> {
        // As the mean of both kinds of mistakes: twice the right ones might not fit.
        ratio(self.right, [self.wrong, self.missed].map(|mistakes| f64::from(mistakes) / 2.0))
    }
}

fn ratio<const N: usize>(part: u32, rest: [f64; N]) -> Option<f64> {
    let whole = f64::from(part) + rest.iter().sum::<f64>();
    (whole > 0.0).then(|| f64::from(part) / whole)
}

pub(super) fn judge(case: &Case, trace: &Trace<'_>, checks: &mut Checks) {
    let expect = &case.expect;
    let chosen = trace.skills();
    let shown = if chosen.is_empty() { "none".to_owned() } else { quoted(&chosen) };
    let is_chosen = |name: &&String| chosen.contains(&name.as_str());
    let mut check = |result| checks.add(Dimension::Trigger, result, []);
    if let Some(names) = any_of(expect) {
        check(match names.iter().find(is_chosen) {
            Some(name) => Ok(format!("`{name}` was chosen")),
            None => {
                Err(format!("one of {} should have been chosen; chosen: {shown}", quoted(names)))
            }
        });
    }
    for name in all_of(expect) {
        check(match is_chosen(&name) {
            true => Ok(format!("`{name}` was chosen")),
            false => Err(format!("`{name}` should have been chosen; chosen: {shown}")),
        });
    }
    for name in &expect.skills_none_of {
        check(match is_chosen(&name) {
            false => Ok(format!("`{name}` was not chosen")),
            true => Err(format!("`{name}` was chosen, but should not have been")),
        });
    }
}

/// The skills of which one is expected; nothing where one of them is expected anyway.
fn any_of(expect: &Expect) -> Option<&[String]> {
    let names = expect.skills_any_of.as_slice();
    let is_implied = names.iter().any(|name| expect.skills_all_of.contains(name));
    (!names.is_empty() && !is_implied).then_some(names)
}

/// The skills that are all expected, each once.
fn all_of(expect: &Expect) -> BTreeSet<&String> {
    expect.skills_all_of.iter().collect()
}

fn quoted(names: &[impl AsRef<str>]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
