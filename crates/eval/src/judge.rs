//! From the record of a run to scores: pure functions, one module a dimension.

mod breakdown;
mod budget;
mod cost;
mod disclosure;
mod files;
mod output;
mod security;
mod sequence;
mod streaming;
mod trigger;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use agent::event::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::{Case, ExpectedContent, Place};
use crate::trace::Trace;
pub use cost::Cost;
pub use trigger::Triggered;

/// What is judged.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// The right skills are chosen.
    Trigger,
    /// The right things are done, in the order that the loop promises.
    Sequence,
    /// Nothing is read before it is asked for and allowed.
    Disclosure,
    /// Nothing is done that was not let through.
    Security,
    /// No more is used than allowed.
    Budget,
    /// The answer is what was expected.
    Output,
    /// So are the files.
    Files,
    /// What was shown early is what came in the end.
    Streaming,
}

impl Dimension {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 8] = [
        Self::Trigger,
        Self::Sequence,
        Self::Disclosure,
        Self::Security,
        Self::Budget,
        Self::Output,
        Self::Files,
        Self::Streaming,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Sequence => "sequence",
            Self::Disclosure => "disclosure",
            Self::Security => "security",
            Self::Budget => "budget",
            Self::Output => "output",
            Self::Files => "files",
            Self::Streaming => "streaming",
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Which dimension it belongs to.
    pub dimension: Dimension,
    /// Whether it holds.
    pub passed: bool,
    /// What holds, or what is wrong.
    pub message: String,
    /// The events it was seen in, by their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u64>,
}

/// What the judges say about one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Why the run broke, where the case does not expect that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Everything that was checked.
    pub checks: Vec<Check>,
    /// The skills that were chosen, against those that were expected.
    pub triggered: Triggered,
    /// What it took.
    pub cost: Cost,
}

impl Verdict {
    /// Whether the run is whole and every check holds.
    pub fn passed(&self) -> bool {
        self.error.is_none() && self.checks.iter().all(|check| check.passed)
    }

    /// The share of checks of a dimension that hold; nothing where none was made.
    pub fn score(&self, dimension: Dimension) -> Option<f64> {
        let own = self.checks.iter().filter(|check| check.dimension == dimension);
        let (held, all) =
            own.fold((0, 0), |(held, all), check| (held + u32::from(check.passed), all + 1));
        (all > 0).then(|| f64::from(held) / f64::from(all))
    }
}

/// Where the files of a finished run are.
pub trait Files {
    /// The content of a file; nothing where there is none.
    fn read(&self, path: &Path, place: Place) -> Option<Vec<u8>>;
}

/// What is left of a run.
#[derive(Clone, Copy)]
pub struct Evidence<'a> {
    /// Its record.
    pub events: &'a [Event],
    /// Its files; without them, what a case expects of files is not judged.
    pub files: Option<&'a dyn Files>,
    /// What the case's `expected/` folder holds.
    pub expected: &'a [ExpectedContent],
    /// What in the workspace is not as the run found it; nothing where nobody looked.
    pub touched: Option<&'a [PathBuf]>,
    /// Whether the events were seen as they happened, deltas included.
    pub is_live: bool,
}

/// Judges one run of a case from its record.
pub fn judge(case: &Case, evidence: &Evidence<'_>) -> Verdict {
    // Child runs are shown among the events of their parent, each with a record of its own.
    let main = evidence.events.first().map(|event| event.run_id.as_str());
    let (own, children): (Vec<Event>, Vec<Event>) =
        evidence.events.iter().cloned().partition(|event| Some(event.run_id.as_str()) == main);
    let trace = Trace::new(&own);
    let mut checks = Checks::default();
    for child in by_run(&children) {
        let trace = Trace::new(&child);
        sequence::promises(&trace, &mut checks);
        disclosure::judge(&trace, &mut checks);
        security::promises(&trace, &mut checks);
    }
    trigger::judge(case, &trace, &mut checks);
    sequence::judge(case, &trace, &mut checks);
    disclosure::judge(&trace, &mut checks);
    security::judge(case, &trace, evidence.touched, &mut checks);
    budget::judge(case, &trace, &mut checks);
    output::judge(case, &trace, &mut checks);
    if let Some(files) = evidence.files {
        files::judge(case, files, &mut checks);
        files::compare(evidence.expected, case.place(), files, &mut checks);
    }
    streaming::judge(case, &trace, evidence.is_live, &mut checks);
    Verdict {
        error: breakdown::judge(case, &trace),
        checks: checks.0,
        triggered: Triggered::of(case, &trace),
        cost: Cost::of(&trace),
    }
}

/// Events of several runs, apart.
fn by_run(events: &[Event]) -> Vec<Vec<Event>> {
    let mut runs: Vec<Vec<Event>> = Vec::new();
    for event in events {
        match runs.iter_mut().find(|run| run[0].run_id == event.run_id) {
            Some(run) => run.push(event.clone()),
            None => runs.push(vec![event.clone()]),
        }
    }
    runs
}

/// Checks as they are made.
#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    fn add(
        &mut self,
        dimension: Dimension,
        result: Result<String, String>,
        events: impl IntoIterator<Item = u64>,
    ) {
        let (passed, message) = match result {
            Ok(message) => (true, message),
            Err(message) => (false, message),
        };
        self.0.push(Check { dimension, passed, message, events: events.into_iter().collect() });
    }

    /// One check for a promise about many places: what is wrong with each, or that nothing is.
    fn promise(
        &mut self,
        dimension: Dimension,
        promise: &str,
        wrong: impl IntoIterator<Item = (String, Vec<u64>)>,
    ) {
        let mut held = true;
        for (message, events) in wrong {
            held = false;
            self.add(dimension, Err(message), events);
        }
        if held {
            self.add(dimension, Ok(promise.to_owned()), []);
        }
    }
}
