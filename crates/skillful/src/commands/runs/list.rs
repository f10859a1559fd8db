//! `skillful runs list`

use std::io::{self, Write};
use std::process::ExitCode;

use basics::text::{for_terminal, one_line, prefix};
use runtime::journal::{self, ListedRun, Origin};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// List the conversations of this project, newest first
///
/// Each line is a conversation, with the name of its last run; --all shows every run of it below.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs list\n  skillful runs list --all\n  skillful runs list --limit 3 --json | jq '.runs[].status'"
)]
pub(super) struct List {
    /// Show at most this many conversations
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Show every run of a conversation
    #[arg(long)]
    all: bool,
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
        let conversations = conversations(&listed.runs);
        output.result(&listed, |out, palette| {
            for links in &conversations {
                let Some((last, before)) = links.split_first() else { continue };
                write_line(out, &palette, last, before.len() + 1, "")?;
                let before = before.iter().filter(|_| self.all);
                before.into_iter().try_for_each(|run| write_line(out, &palette, run, 1, "  "))?;
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

/// The runs of each conversation, the newest first. One that was continued twice is in both.
fn conversations(runs: &[ListedRun]) -> Vec<Vec<&ListedRun>> {
    let by_name = |name: &str| runs.iter().find(|run| run.summary.run_id == name);
    let is_continued = |run: &&ListedRun| {
        let name = Some(run.summary.run_id.as_str());
        runs.iter().any(|other| other.summary.continues.as_deref() == name)
    };
    let last = runs.iter().filter(|run| !is_continued(run));
    last.map(|run| {
        let before = |run: &&ListedRun| {
            let earlier = by_name(run.summary.continues.as_deref()?)?;
            // A record may say anything of itself.
            (earlier.summary.run_id < run.summary.run_id).then_some(earlier)
        };
        std::iter::successors(Some(run), before).collect()
    })
    .collect()
}

fn write_line(
    out: &mut dyn Write,
    Palette { bold, dim, warn, .. }: &Palette,
    ListedRun { summary: run, origin }: &ListedRun,
    links: usize,
    indent: &str,
) -> io::Result<()> {
    let origin = match origin {
        Origin::Here => String::new(),
        other => format!("{}  ", other.describe()),
    };
    let status = run.stop_reason.map_or("unfinished".to_owned(), |reason| super::word(&reason));
    let links = if links > 1 { format!("{links} runs  ") } else { String::new() };
    let cost = run.spent.usage.cost_usd.map(|cost| format!("${cost:.4}  ")).unwrap_or_default();
    let model = one_line(run.model.as_deref().unwrap_or_default());
    writeln!(
        out,
        "{indent}{bold}{}{bold:#}  {status:17}  {:>2} turns  {links}{cost}{warn}{origin}{warn:#}{dim}{}  {}{dim:#}",
        run.run_id,
        run.turns,
        for_terminal(prefix(&one_line(&run.request), 80)),
        for_terminal(&model),
    )
}
