//! `skillful eval from-run`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eval::case::Case;
use eval::record::case_of;

use super::new::{Written, as_json, write};
use crate::commands::runs::of_journal;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;

/// Turn a recorded run into a case that repeats it
///
/// The model's decisions become the replies of the scripted model, and what came of them is expected again. Files that
/// the run named and that are still there are copied.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval from-run last\n  skillful eval from-run 20261115_083000_k3f9 --suite csv --id sales"
)]
pub(super) struct FromRun {
    /// The run, or `last`
    run: String,
    /// The suite it becomes a part of
    #[arg(long, value_name = "NAME", default_value = "recorded")]
    suite: String,
    /// The name of the case; the run's without it
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Say what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Larger files are left for the author to decide about.
const LARGEST: u64 = 1 << 20;

impl FromRun {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let events = agent::journal::read(&folder).map_err(|error| of_journal(&error))?;
        let own_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let id = self.id.clone().unwrap_or(own_name);
        let target = super::new::target(session, &self.suite, &id)?;
        let mut case = case_of(&id, &events);
        let inputs = keep_inputs(&mut case, &session.surroundings.working_directory, &target);
        let skills = session.surroundings.project().join(".agent/skills");
        if skills.is_dir() {
            case.setup.skill_roots = vec![PathBuf::from("./.agent/skills")];
        }
        let (file, bytes) = as_json(target.join("case.json"), &case)?;
        if !self.dry_run {
            inputs.iter().try_for_each(|(from, to)| copy(from, to))?;
            write(&file, &bytes)?;
        }
        let files = inputs.iter().map(|(_, to)| to).chain([&file]);
        Written::of(&self.suite, &id, files, !self.dry_run).print(output)
    }
}

/// What the run named and is still there belongs in `inputs/`; the case asks for nothing else.
fn keep_inputs(case: &mut Case, workspace: &Path, target: &Path) -> Vec<(PathBuf, PathBuf)> {
    let is_kept = |path: &PathBuf| {
        let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let metadata = fs::symlink_metadata(workspace.join(path));
        plain && metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST)
    };
    let named = std::mem::take(&mut case.setup.files).into_iter();
    let named: Vec<PathBuf> = named.filter(is_kept).collect();
    case.setup.files = named.iter().map(|path| Path::new("inputs").join(path)).collect();
    let places = named.iter().map(|path| (workspace.join(path), target.join("inputs").join(path)));
    places.collect()
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).map(|_| ()).map_err(|error| {
        let message = format!("cannot copy `{}`: {error}", from.display());
        Failure::new(Exit::Failed, "IOError", message).hint("check its permissions")
    })
}
