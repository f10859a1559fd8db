//! `skillful runs list`

use std::process::ExitCode;

use basics::text::{for_terminal, one_line, prefix};
use runtime::journal::{self, ListedRun, Origin};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// List the runs of this project, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs list\n  skillful runs list --limit 3 --json | jq '.runs[].status'"
)]
pub(super) struct List {
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

/// Runs, the newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Listed {
    runs: Vec<ListedRun>,
    /// Folders that could not be read.
    problems: Vec<String>,
}

impl List {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let (runs, problems) =
            journal::list(&session.runs(), Some(self.limit), session.owner()?.as_ref())?;
        let listed = Listed {
            runs,
            problems: problems
                .iter()
                .map(|problem| format!("{}: {}", problem.run_id, problem.message))
                .collect(),
        };
        output.result(&listed, |out, Palette { bold, dim, warn, .. }| {
            for ListedRun { summary: run, origin } in &listed.runs {
                let origin = match origin {
                    Origin::Here => String::new(),
                    other => format!("{}  ", other.describe()),
                };
                let status =
                    run.stop_reason.map_or("unfinished".to_owned(), |reason| super::word(&reason));
                writeln!(
                    out,
                    "{bold}{}{bold:#}  {status:17}  {:>2} turns  {warn}{origin}{warn:#}{dim}{}{dim:#}",
                    run.run_id,
                    run.turns,
                    for_terminal(prefix(&one_line(&run.request), 80))
                )?;
            }
            Ok(())
        })?;
        listed.problems.iter().for_each(|problem| output.warn(problem));
        if listed.runs.is_empty() {
            output.note("No runs yet. `skillful run \"…\"` starts one.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
