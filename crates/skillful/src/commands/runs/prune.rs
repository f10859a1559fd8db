//! `skillful runs prune`

use std::process::ExitCode;

use runtime::journal::{self, Pruning};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Delete old runs
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs prune --older-than 30 --dry-run\n  skillful runs prune --max-megabytes 500"
)]
pub(super) struct Prune {
    /// Delete runs that are older than this many days
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
    /// Delete the oldest runs until the rest fits into this size
    #[arg(long, value_name = "MB")]
    max_megabytes: Option<u64>,
    /// Show what would be deleted, but delete nothing
    #[arg(long)]
    dry_run: bool,
}

/// Runs that were deleted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Pruned {
    removed: Vec<String>,
    bytes: u64,
    written: bool,
}

impl Prune {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        if self.older_than.is_none() && self.max_megabytes.is_none() {
            return Err(Failure::new(Exit::Usage, "Usage", "choose which runs to delete")
                .hint("use --older-than DAYS or --max-megabytes MB"));
        }
        let pruning = Pruning {
            older_than: self
                .older_than
                .map(|days| jiff::SignedDuration::from_hours(i64::from(days) * 24)),
            max_total_bytes: self
                .max_megabytes
                .map(|megabytes| megabytes.saturating_mul(1_000_000)),
        };
        let now = jiff::Timestamp::now();
        let chosen = match self.dry_run {
            true => journal::prunable(&session.runs(), &pruning, now),
            false => journal::prune(&session.runs(), &pruning, now),
        };
        let (removed, problems) = chosen?;
        problems
            .iter()
            .for_each(|problem| output.warn(&format!("{}: {}", problem.run_id, problem.message)));
        let bytes = removed.iter().map(|run| run.bytes).sum();
        let removed = removed.into_iter().map(|run| run.run_id).collect();
        let pruned = Pruned { removed, bytes, written: !self.dry_run };
        output.result(&pruned, |out, Palette { dim, .. }| {
            let word = if pruned.written { "removed" } else { "would remove" };
            pruned.removed.iter().try_for_each(|run| writeln!(out, "{dim}{word}{dim:#}  {run}"))
        })?;
        let count = pruned.removed.len();
        let runs = if count == 1 { "run" } else { "runs" };
        let happens = if self.dry_run { "would be removed" } else { "removed" };
        output.note(&format!("{count} {runs} {happens}."));
        Ok(ExitCode::SUCCESS)
    }
}
