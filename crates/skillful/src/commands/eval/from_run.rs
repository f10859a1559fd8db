//! `skillful eval from-run`

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use eval::case::Case;
use eval::folder::Folder;
use eval::record::case_of;
use tools::workspace::PathPatterns;

use super::new::{NewFile, Trusted, Written, as_json, write};
use crate::commands::runs::tell_origin;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;

/// Turn a recorded run into a case that repeats it
///
/// The case replays the model's decisions and expects the same results. It gets copies of the files that the run used,
/// except files that look like secrets.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval from-run last\n  skillful eval from-run 20261115_083000_k3f9 --suite csv --id sales"
)]
pub(super) struct FromRun {
    /// The run, or `last`
    run: String,
    /// Add the case to this suite
    #[arg(long, value_name = "NAME", default_value = "recorded")]
    suite: String,
    /// Name the case [default: the run's name]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// Show what would be written, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Larger files are left for the author to decide about.
const LARGEST: u64 = 1 << 20;

impl FromRun {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        tell_origin(&self.run, &folder, session, output)?;
        let events = runtime::journal::read(&folder)?;
        let own_name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let id = self.id.clone().unwrap_or(own_name);
        let target = super::new::target(session, &self.suite, &id)?;
        let mut case = case_of(&id, &events);
        let inputs = keep_inputs(&mut case, &session.surroundings.working_directory)?;
        let skills = session.surroundings.project().join(".agent/skills");
        if skills.is_dir() {
            case.setup.skill_roots = vec![PathBuf::from("./.agent/skills")];
        }
        let (file, bytes) = as_json(target.join("case.json"), &case)?;
        if !self.dry_run {
            for (path, bytes) in &inputs {
                write(&target.join("inputs").join(path), bytes)?;
            }
            write(&file, &bytes)?;
        }
        let inputs = inputs.iter().map(|(path, _)| target.join("inputs").join(path));
        let files: Vec<PathBuf> = inputs.chain([file]).collect();
        // A record may be anybody's, and so is what it says.
        Written::of(&self.suite, &id, files.iter(), !self.dry_run).print(Trusted::Never, output)
    }
}

/// What the run named and is still there belongs in `inputs/`; the case asks for nothing else. A record that came
/// from elsewhere can name anything, so nothing outside of the workspace and no secret is taken along.
fn keep_inputs(case: &mut Case, workspace: &Path) -> Result<Vec<NewFile>, Failure> {
    let folder = Folder::open(workspace).map_err(|error| {
        Failure::from_error(Exit::Failed, "IOError", &error).hint("check its permissions")
    })?;
    let secrets = PathPatterns::secrets();
    let is_open = |path: &PathBuf| {
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        let is_kept = path.starts_with(".git") || path.starts_with(".agent");
        plain && !is_kept && secrets.matching(&path.to_string_lossy()).is_none()
    };
    let named = std::mem::take(&mut case.setup.files).into_iter().filter(is_open);
    let read = |path: PathBuf| folder.read(&path, LARGEST).ok().map(|bytes| (path, bytes));
    let kept: Vec<NewFile> = named.filter_map(read).collect();
    case.setup.files = kept.iter().map(|(path, _)| Path::new("inputs").join(path)).collect();
    Ok(kept)
}
