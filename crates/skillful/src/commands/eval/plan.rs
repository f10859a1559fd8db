//! What a run of a suite would do.

use std::process::ExitCode;

use basics::text::for_terminal;
use eval::runner::Job;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette, count};

/// What a run of a suite would do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Plan {
    /// The cases that would be run, in their order.
    cases: Vec<PlannedCase>,
    /// Files that hold no usable cases.
    problems: Vec<String>,
}

/// A case that would be run.
#[derive(Serialize, JsonSchema)]
struct PlannedCase {
    /// Suite and case.
    name: String,
    /// The file that says it.
    file: String,
    /// How often it would be run, with and without a skill taken together.
    runs: usize,
}

impl Plan {
    pub(super) fn of(jobs: &[Job<'_>], problems: Vec<String>) -> Self {
        let same = |a: &Job<'_>, b: &Job<'_>| std::ptr::eq(a.located, b.located);
        let cases = jobs.chunk_by(same).map(|jobs| PlannedCase {
            name: jobs[0].located.name(),
            file: jobs[0].located.file.to_string_lossy().into_owned(),
            runs: jobs.len(),
        });
        Self { cases: cases.collect(), problems }
    }

    pub(super) fn print(&self, output: &Output) -> Result<ExitCode, Failure> {
        output.result(self, |out, Palette { bad, dim, .. }| {
            for PlannedCase { name, runs, .. } in &self.cases {
                let runs = count(*runs, "run");
                writeln!(out, "{} {dim}{runs}{dim:#}", for_terminal(name))?;
            }
            let mut problems = self.problems.iter();
            problems.try_for_each(|p| writeln!(out, "{bad}✗{bad:#} {}", for_terminal(p)))
        })?;
        output.note("Nothing was run.");
        Ok(if self.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
