//! `skillful search`

use std::process::ExitCode;

use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::Serialize;
use skill::search::Hit;

use crate::commands::list::mark;
use crate::failure::Failure;
use crate::output::fit::{clip, columns};
use crate::output::{Output, Palette};
use crate::session::{Session, describe_roots};

/// Find skills for a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful search \"summarise a csv file\"\n  skillful search --limit 3 --json release notes"
)]
pub(crate) struct Search {
    /// Your task, in your own words
    #[arg(required = true)]
    query: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    limit: usize,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|limit| *limit > 0).ok_or_else(|| "use 1 or more".to_owned())
}

/// Skills that fit a query, the best first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hits {
    hits: Vec<Hit>,
}

impl Search {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        let hits = Hits { hits: index.search(&self.query.join(" "), self.limit) };
        let width = output.width();
        let room = |taken: usize| width.map(|width| width.saturating_sub(taken));
        output.result(&hits, |out, Palette { bold, dim, warn, .. }| {
            for hit in &hits.hits {
                let Some(entry) = index.get(&hit.name, Some(hit.source)) else { continue };
                let name = for_terminal(&hit.name);
                let source = hit.source.as_str();
                let why = for_terminal(&hit.why);
                let why = clip(&why, room(columns(&name) + source.len() + 4));
                writeln!(out, "{bold}{name}{bold:#}  {dim}{source}  {why}{dim:#}")?;
                let mark = mark(entry);
                let description = basics::text::one_line(&entry.description);
                let description = clip(&description, room(mark.len() + 2));
                writeln!(out, "  {warn}{mark}{warn:#}{description}")?;
            }
            Ok(())
        })?;
        describe_roots(&index, output);
        if hits.hits.is_empty() {
            output.note("No skill matches. `skillful list` shows them all.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
