//! `skillful eval from-run`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eval::case::Case;
use eval::record::case_of;

use super::new::Written;
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
        let mut files = keep_inputs(&mut case, &session.surroundings.working_directory, &target)?;
        let skills = session.surroundings.project().join(".agent/skills");
        if skills.is_dir() {
            case.setup.skill_roots = vec![PathBuf::from("./.agent/skills")];
        }
        files.push(super::new::write_case(&target, &case)?);
        Written { suite: self.suite.clone(), id, files }.print(output)
    }
}

/// Copies what the run named and is still there to `inputs/`; the case asks for nothing else.
fn keep_inputs(case: &mut Case, workspace: &Path, target: &Path) -> Result<Vec<String>, Failure> {
    let is_kept = |path: &PathBuf| {
        let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let metadata = fs::symlink_metadata(workspace.join(path));
        plain && metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST)
    };
    let named = std::mem::take(&mut case.setup.files);
    let mut written = Vec::new();
    for path in named.into_iter().filter(is_kept) {
        let to = target.join("inputs").join(&path);
        let parent = to.parent().unwrap_or(target);
        fs::create_dir_all(parent)?;
        fs::copy(workspace.join(&path), &to).map_err(|error| {
            Failure::new(
                Exit::Failed,
                "IOError",
                format!("cannot copy `{}`: {error}", path.display()),
            )
        })?;
        written.push(to.to_string_lossy().into_owned());
        case.setup.files.push(Path::new("inputs").join(path));
    }
    Ok(written)
}
