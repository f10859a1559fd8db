//! `skillful runs apply`

use std::path::PathBuf;
use std::process::ExitCode;

use permission::{CommandLine, Permission};
use runtime::changes::{KeptRun, part};
use schemars::JsonSchema;
use serde::Serialize;
use tools::changes::{ChangeSet, LayerPath, Selection, Way};

use super::changes::list;
use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Apply the files that a run changed to your files
///
/// All of them or none. `skillful runs undo` takes them back. If you changed the same file meanwhile, nothing is
/// applied; choose a way out.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs apply last\n  skillful runs apply last report.md src/\n  skillful runs apply last --merge\n  skillful runs apply last --to ../elsewhere"
)]
pub(super) struct Apply {
    /// The run, or `last`
    run: String,
    /// Only these files and folders
    paths: Vec<String>,
    /// Put the files into this folder instead
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Where both changed a file, keep yours
    #[arg(long, conflicts_with_all = ["ours", "merge"])]
    theirs: bool,
    /// Where both changed a file, take the run's
    #[arg(long, conflicts_with = "merge")]
    ours: bool,
    /// Where both changed a text, merge the two, if their changes do not overlap
    #[arg(long)]
    merge: bool,
}

/// What came to the user's files.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AppliedFiles {
    run_id: String,
    applied: Vec<String>,
    /// The folder, where that is not the run's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

impl Apply {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let mut kept = KeptRun::open(session, &index, &self.run, "runs apply")?;
        let mut set = kept.collect()?;
        if kept.layered.is_none() || set.is_empty() {
            return Err(Failure::new(Exit::Failed, "NotFound", "the run has nothing to apply")
                .hint(format!("`skillful runs files {}` shows what it made", self.run)));
        }
        // What is below `.git` is applied when somebody names it.
        let in_git = part(&set, true).changes.len();
        if self.paths.is_empty() {
            set = part(&set, false);
        }
        self.check_rules(session, &set)?;
        let path = |path: &String| {
            LayerPath::new(path.trim_start_matches("./").trim_end_matches('/').as_bytes())
        };
        let paths: Vec<LayerPath> =
            self.paths.iter().map(path).collect::<Result<_, _>>().map_err(|error| {
                Failure::from_error(Exit::Usage, "Usage", &error)
                    .hint("name paths in the run's folder")
            })?;
        let selection = Selection { paths: &paths, way: self.way() };
        let (applied, to) = match &self.to {
            Some(folder) => (kept.export(&set, &selection, folder)?, Some(folder)),
            None => (kept.apply(&set, &selection)?, None),
        };
        let result = AppliedFiles {
            run_id: self.run.clone(),
            applied,
            to: to.map(|folder| folder.display().to_string()),
        };
        output.result(&result, |out, palette| {
            let lines: Vec<String> =
                result.applied.iter().map(|path| format!("~ {path}")).collect();
            list(&lines, Palette { warn: palette.good, ..palette }, out)
        })?;
        if to.is_none() {
            output.note(&format!("Applied. `skillful runs undo {}` takes it back.", self.run));
        }
        if self.paths.is_empty() && in_git > 0 {
            output.note(&format!(
                "Not applied: {} below .git. To apply these, too: `skillful runs apply {} .git`.",
                count(in_git, "change"),
                self.run
            ));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What a rule denies is not applied by hand, either.
    fn check_rules(&self, session: &Session, set: &ChangeSet) -> Result<(), Failure> {
        let engine = session.engine(CommandLine::default(), None)?;
        let denied = engine.denials(Permission::ApplyChanges);
        let paths = set.changes.iter().map(|change| change.path.to_string());
        match paths.into_iter().find(|path| denied(path)) {
            None => Ok(()),
            Some(path) => Err(Failure::new(
                Exit::Refused,
                "ToolNotAllowed",
                format!("a rule denies `apply_changes` for `{path}`"),
            )
            .hint("change the rule in your settings, or name other paths")),
        }
    }

    fn way(&self) -> Way {
        match (self.ours, self.theirs, self.merge) {
            (true, ..) => Way::Ours,
            (_, true, _) => Way::Theirs,
            (_, _, true) => Way::Merge,
            _ => Way::Refuse,
        }
    }
}
