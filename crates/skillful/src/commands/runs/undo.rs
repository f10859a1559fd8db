//! `skillful runs undo`

use std::process::ExitCode;

use agent::changes::NotedChanges;
use basics::text::for_terminal;
use runtime::changes::KeptRun;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Take back what a run changed in your files
///
/// All of it or nothing, byte for byte. If a file changed after the run, nothing is taken back, and you get a list.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skillful runs undo last --dry-run\n  skillful runs undo last")]
pub(super) struct Undo {
    /// The run, or `last`
    run: String,
    /// Show what would be taken back, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was taken back.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Undone {
    restored: Vec<String>,
    written: bool,
}

impl Undo {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let mut kept = KeptRun::open(session, &index, &self.run, "runs undo")?;
        let mut undone = Undone { restored: Vec::new(), written: !self.dry_run };
        // The last first, so that a file changed twice ends as it began.
        let mut failed = None;
        for applied in kept.applied()?.iter().rev() {
            match self.dry_run {
                true => undone.restored.extend(paths_to_restore(&kept, applied, &undone)?),
                false => match kept.undo(applied) {
                    Ok(paths) => undone.restored.extend(paths),
                    Err(failure) => {
                        failed = Some(match failure.code {
                            "Conflict" => failure.hint(
                                "nothing of it was taken back; it must be as the run left it for that",
                            ),
                            _ => failure,
                        });
                        break;
                    }
                },
            }
        }
        let restored = if self.dry_run { "would restore" } else { "restored" };
        if failed.is_none() || !output.json {
            output.result(&undone, |out, Palette { good, .. }| {
                undone.restored.iter().try_for_each(|path| {
                    writeln!(out, "{good}{restored}{good:#}  {}", for_terminal(path))
                })
            })?;
        }
        if let Some(failure) = failed {
            return Err(failure);
        }
        if undone.restored.is_empty() {
            output.note("The run changed none of your files.");
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What would be restored, as far as that can be known: what is taken back before changes what is found here.
fn paths_to_restore(
    kept: &KeptRun,
    applied: &NotedChanges,
    before: &Undone,
) -> Result<Vec<String>, Failure> {
    let paths = kept.paths_of(applied)?;
    match paths.iter().any(|path| before.restored.contains(path)) {
        true => Ok(paths),
        false => kept.check_undo(applied),
    }
}
