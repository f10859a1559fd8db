//! `skillful runs undo`

use std::process::ExitCode;

use basics::text::for_terminal;
use runtime::journal;
use runtime::runner::{check_workspace, read_setup};
use runtime::workbench::open_workspace;
use schemars::JsonSchema;
use serde::Serialize;
use tools::undo::{Restoration, Undoing};

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Restore the files that a run changed or deleted
///
/// Files that changed after the run stay as they are; you get a list of them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skillful runs undo last --dry-run\n  skillful runs undo last")]
pub(super) struct Undo {
    /// The run, or `last`
    run: String,
    /// Show what would be restored, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What became of the changes of a run.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Undone {
    restored: Vec<String>,
    /// Files that need no undo: they are as they were before the run.
    unchanged: Vec<String>,
    failed: Vec<NotRestored>,
    written: bool,
}

/// A file that was left as it is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NotRestored {
    path: String,
    reason: String,
}

impl Undo {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let (changes, origin) = journal::changes(&folder, &session.known_owner(&self.run)?)?;
        let events = journal::read(&folder)?;
        check_workspace(session, &read_setup(&folder, &events)?, origin, "runs undo")?;
        let workspace = open_workspace(session)?;
        let mut undone = Undone {
            restored: Vec::new(),
            unchanged: Vec::new(),
            failed: Vec::new(),
            written: !self.dry_run,
        };
        let mut undoing = Undoing::new(&workspace, self.dry_run);
        // The last change first, so that a file changed twice ends as it began.
        for change in changes.iter().rev() {
            match undoing.undo(change) {
                Ok(Restoration::Done) => undone.restored.push(change.path.clone()),
                // It may just have been restored, by a change that came later.
                Ok(Restoration::NotNeeded) if undone.restored.contains(&change.path) => {}
                Ok(Restoration::NotNeeded) => undone.unchanged.push(change.path.clone()),
                Err(error) => undone
                    .failed
                    .push(NotRestored { path: change.path.clone(), reason: error.to_string() }),
            }
        }
        let restored = if self.dry_run { "would restore" } else { "restored" };
        output.result(&undone, |out, Palette { good, bad, dim, .. }| {
            for path in &undone.restored {
                writeln!(out, "{good}{restored}{good:#}  {}", for_terminal(path))?;
            }
            for path in &undone.unchanged {
                let path = for_terminal(path);
                writeln!(out, "{dim}unchanged{dim:#}  {path}  already as before the run")?;
            }
            for failed in &undone.failed {
                writeln!(out, "{bad}left{bad:#}  {}", for_terminal(&failed.reason))?;
            }
            Ok(())
        })?;
        if changes.is_empty() {
            output.note("The run changed no files.");
        }
        Ok(if undone.failed.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(Exit::Failed as u8)
        })
    }
}
