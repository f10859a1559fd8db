//! `skillful search`

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use skill::search::Hit;
use skill::text::for_terminal;

use crate::commands::list::shortened;
use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Find the skills that fit a task
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful search \"summarise a csv file\"\n  skillful search --limit 3 --json release notes"
)]
pub(crate) struct Search {
    /// What is to be done, in any words
    #[arg(required = true)]
    query: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
}

/// Skills that fit a query, the best first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Hits {
    hits: Vec<Hit>,
}

impl Search {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let hits = Hits { hits: index.search(&self.query.join(" "), self.limit) };
        let width = output.width();
        output.result(&hits, |out, Palette { bold, dim, .. }| {
            for hit in &hits.hits {
                let description =
                    index.get(&hit.name, Some(hit.source)).map_or("", |entry| &entry.description);
                let description = skill::text::one_line(description);
                writeln!(
                    out,
                    "{bold}{}{bold:#}  {dim}{}  {}{dim:#}",
                    for_terminal(&hit.name),
                    hit.source,
                    for_terminal(&hit.why)
                )?;
                writeln!(
                    out,
                    "  {}",
                    shortened(&description, width.map(|width| width.saturating_sub(3)))
                )?;
            }
            Ok(())
        })?;
        if hits.hits.is_empty() {
            output.note("No skill matches. `skillful list` shows them all.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
