//! `skillful trust` and `skillful untrust`

mod author;
pub(crate) mod evals;
mod hidden;
pub(crate) mod keep;
pub(crate) mod key;
pub(crate) mod project;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::skill::Source;
use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::Serialize;
use skill::roots::Root;
use skill::trust::TrustStore;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;
pub(crate) use hidden::{LOOK_FIRST, hidden, tell_fitting, tell_hidden};

/// Trust a project's skills, or a key that signs packs
///
/// Skills in a cloned repository stay hidden from the model until you trust them. You trust a skill with
/// all its files: if a file changes, Skillful asks again for this skill.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful trust project\n  skillful -C ~/work/app trust project --dry-run\n  skillful trust key team.pub --name \"Our team\" --for 'team-*'"
)]
pub(crate) struct Trust {
    #[command(subcommand)]
    what: TrustCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TrustCommand {
    Project(project::TrustProject),
    Evals(evals::TrustEvals),
    Key(key::TrustKey),
}

/// Stop trusting a project's skills, or a key
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful untrust\n  skillful untrust --skill deploy\n  skillful untrust ~/work/app\n  skillful untrust --key 1A2B3C4D5E6F7081"
)]
pub(crate) struct Untrust {
    /// The project, or a folder that contains projects [default: this project]
    path: Option<PathBuf>,
    /// Stop trusting only this skill (repeatable)
    #[arg(long = "skill", value_name = "NAME")]
    skills: Vec<String>,
    /// Revoke this key
    #[arg(long, value_name = "ID", conflicts_with_all = ["path", "skills"])]
    key: Option<String>,
    /// Show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What is no longer trusted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Untrusted {
    /// Folders of skills, single skills, workspaces whose skills you write, and files of eval cases.
    untrusted: Vec<String>,
    written: bool,
}

impl Trust {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        match &self.what {
            TrustCommand::Project(command) => command.run(session, output),
            TrustCommand::Evals(command) => command.run(session, output),
            TrustCommand::Key(command) => command.run(session, output),
        }
    }
}

impl Untrust {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        if let Some(id) = &self.key {
            return key::revoke(id, self.dry_run, session, output);
        }
        let file = session.trust_file().ok_or_else(no_home)?;
        let folders = self.folders(session);
        if let Some(path) = self.path.as_ref().filter(|_| !folders[0].exists()) {
            let message = format!("`{}` does not exist", path.display());
            let known = session.trust_store()?.untrust(&folders[0]);
            if known.is_empty() {
                return Err(Failure::new(Exit::Failed, "NotFound", message)
                    .hint("give an existing folder; without one, the command uses this project"));
            }
        }
        let mut untrusted = self.take_back(&folders, &mut session.trust_store()?);
        let written = !self.dry_run && !untrusted.is_empty();
        if written {
            untrusted = TrustStore::change(&file, |store| self.take_back(&folders, store))?;
        }
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let report = Untrusted { untrusted: untrusted.iter().map(text).collect(), written };
        output.result(&report, |out, Palette { dim, .. }| {
            report.untrusted.iter().try_for_each(|path| {
                writeln!(out, "{dim}no longer trusted{dim:#}  {}", for_terminal(path))
            })
        })?;
        if report.untrusted.is_empty() {
            output.note(&self.nothing(&folders[0]));
        } else if self.dry_run {
            output.note("Nothing was written.");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What to say where nothing was trusted.
    fn nothing(&self, folder: &Path) -> String {
        let folder = folder.display();
        match self.skills.as_slice() {
            [] => format!("You trusted nothing in {folder}."),
            names => format!("You trusted no skill {} in {folder}.", names.join(", ")),
        }
    }

    fn take_back(&self, folders: &[PathBuf], store: &mut TrustStore) -> Vec<PathBuf> {
        let of_skills = |folder: &PathBuf, store: &mut TrustStore| -> Vec<PathBuf> {
            self.skills.iter().flat_map(|name| store.untrust_skill(folder, name)).collect()
        };
        let each = folders.iter().flat_map(|folder| match self.skills.is_empty() {
            true => store.untrust(folder),
            false => of_skills(folder, store),
        });
        each.collect()
    }

    fn folders(&self, session: &Session) -> Vec<PathBuf> {
        let surroundings = &session.surroundings;
        let folders = match &self.path {
            Some(path) => vec![surroundings.working_directory.join(path)],
            // A project's settings may name folders elsewhere.
            None => std::iter::once(surroundings.project().to_owned())
                .chain(project_roots(session).into_iter().map(|root| root.path))
                .collect(),
        };
        folders.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect()
    }
}

fn project_roots(session: &Session) -> Vec<Root> {
    let mut roots = session.surroundings.roots();
    roots.retain(|root| root.source == Source::Project);
    roots
}

fn no_home() -> Failure {
    Failure::new(Exit::Usage, "NoHome", "you have no home directory, so trust cannot be stored")
        .hint("set HOME")
}
