//! `skillful runs changes`

use std::io::Write;
use std::process::ExitCode;

use basics::text::for_terminal;
use runtime::changes::KeptRun;
use schemars::JsonSchema;
use serde::Serialize;
use tools::changes::{Conflict, Held, Line, summary};

use crate::commands::run::diff::paint;
use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Bytes of a difference that are shown.
const MOST: usize = 16 << 20;

/// Show the files that a run changed and that are not applied
///
/// A run writes into a layer of its own. Your files change when you apply it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs changes last\n  skillful runs changes last --diff\n  skillful runs changes last --patch > changes.patch"
)]
pub(super) struct Changes {
    /// The run, or `last`
    run: String,
    /// Show how the texts differ
    #[arg(long, conflicts_with = "patch")]
    diff: bool,
    /// Print a patch for `git apply`
    #[arg(long, conflicts_with = "json")]
    patch: bool,
}

/// What a run changed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ChangedFiles {
    changes: Vec<Line>,
    /// What is never applied, and why.
    held: Vec<Held>,
    /// What somebody else changed since the run first saw it.
    conflicts: Vec<Conflict>,
    /// How the texts differ, with `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

impl Changes {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let mut kept = KeptRun::open(session, &index, &self.run, "runs changes")?;
        let set = kept.collect()?;
        let Some(layered) = &kept.layered else {
            let nothing = ChangedFiles {
                changes: Vec::new(),
                held: Vec::new(),
                conflicts: Vec::new(),
                diff: None,
            };
            output.result(&nothing, |_, _| Ok(()))?;
            output.note("Nothing waits to be applied.");
            return Ok(ExitCode::SUCCESS);
        };
        if self.patch {
            let mut out = std::io::stdout().lock();
            layered.write_patch(&set, &mut out)?;
            let _ = out.flush();
            return Ok(ExitCode::SUCCESS);
        }
        let diff = self.diff.then(|| layered.difference(&set, MOST)).transpose()?;
        let listing = layered.listing(&set)?;
        let changes = summary(&set, &session.surroundings.working_directory)?;
        let found = ChangedFiles { changes, held: set.held, conflicts: set.conflicts, diff };
        output.result(&found, |out, palette| {
            list(&listing, palette, out)?;
            match &found.diff {
                Some(diff) => write!(out, "{}", paint(diff, palette)),
                None => Ok(()),
            }
        })?;
        if listing.is_empty() {
            output.note("Nothing waits to be applied.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Lines with a mark at their beginning, in its colour.
pub(super) fn list(lines: &[String], palette: Palette, out: &mut dyn Write) -> std::io::Result<()> {
    let Palette { good, bad, warn, dim, .. } = palette;
    for line in lines {
        let (mark, rest) = line.split_at_checked(1).unwrap_or(("", line));
        let style = match mark {
            "+" => good,
            "-" | "*" => bad,
            "~" => warn,
            _ => dim,
        };
        writeln!(out, "{style}{mark}{style:#}{}", for_terminal(rest))?;
    }
    Ok(())
}
