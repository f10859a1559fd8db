//! `skillful trust` and `skillful untrust`

pub(crate) mod evals;
pub(crate) mod key;

use std::path::PathBuf;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use skill::index::{Index, content_hash};
use skill::roots::{Root, Source};
use skill::text::for_terminal;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Trust a project's skills as they are now, or a key that signs packs
///
/// Skills of a cloned repository stay hidden from the model until you have looked at them. Trust is
/// bound to what they say about themselves: a new skill, description or tool list asks again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful trust project\n  skillful -C ~/work/app trust project --dry-run\n  skillful trust key team.pub --name \"Our team\" --for 'team-*'"
)]
pub(crate) struct Trust {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Trust the skills and evals of the project you are in
    #[command(
        after_help = "Examples:\n  skillful trust project --dry-run\n  skillful -C ~/work/app trust project"
    )]
    Project {
        /// Say what would be trusted, and write nothing
        #[arg(long)]
        dry_run: bool,
    },
    Evals(evals::TrustEvals),
    Key(key::TrustKey),
}

/// Take trust in a project's skills or in a key back
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful untrust\n  skillful untrust ~/work/app\n  skillful untrust --key 1A2B3C4D5E6F7081"
)]
pub(crate) struct Untrust {
    /// The project, or a folder above several [default: the project you are in]
    path: Option<PathBuf>,
    /// Revoke this key
    #[arg(long, value_name = "ID", conflicts_with = "path")]
    key: Option<String>,
    /// Say what would be taken back, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Folders whose skills were trusted, and files of eval cases.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Trusted {
    trusted: Vec<TrustedFolder>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    evals: Vec<evals::TrustedEvals>,
    written: bool,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct TrustedFolder {
    path: String,
    index_hash: String,
    skills: Vec<String>,
}

/// Folders whose skills and files whose eval cases are no longer trusted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Untrusted {
    untrusted: Vec<String>,
    written: bool,
}

impl Trust {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let dry_run = match &self.what {
            What::Project { dry_run } => *dry_run,
            What::Evals(command) => return command.run(session, output),
            What::Key(command) => return command.run(session, output),
        };
        let options = session.index_options()?;
        let roots = project_roots(session);
        let evals = evals::of_project(session, output)?;
        if roots.is_empty() && evals.is_empty() {
            return Err(Failure::new(
                Exit::Failed,
                "NoProjectSkills",
                "this project has no skills",
            )
            .hint("run it inside a project with .agent/skills, or use -C DIR"));
        }
        let file = session.trust_file().ok_or_else(no_home)?;
        let mut store = session.trust_store()?;
        let (_, now) = crate::installing::times();
        let mut trusted = Vec::new();
        for root in roots {
            let skills = Index::build(std::slice::from_ref(&root), &options);
            let names = skills
                .skills
                .iter()
                .chain(&skills.shadowed)
                .map(|entry| entry.name.clone())
                .collect();
            let Root { path, .. } = &root;
            let index_hash = content_hash(&root, &options);
            store.trust(path, index_hash.clone(), now.clone());
            trusted.push(TrustedFolder {
                path: path.to_string_lossy().into_owned(),
                index_hash,
                skills: names,
            });
        }
        for one in &evals {
            one.add_to(&mut store);
        }
        if !dry_run {
            store.write(&file)?;
        }
        let report = Trusted { trusted, evals, written: !dry_run };
        output.result(&report, |out, palette| {
            let Palette { bold, .. } = palette;
            for folder in &report.trusted {
                writeln!(out, "{bold}{}{bold:#}", for_terminal(&folder.path))?;
                for name in &folder.skills {
                    writeln!(out, "  {}", for_terminal(name))?;
                }
            }
            evals::print(&report.evals, out, palette)
        })?;
        output.note(if dry_run {
            "Nothing was written."
        } else {
            "Trusted as they are now. A new skill, description or tool list asks again."
        });
        Ok(ExitCode::SUCCESS)
    }
}

impl Untrust {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        if let Some(id) = &self.key {
            return key::revoke(id, self.dry_run, session, output);
        }
        let file = session.trust_file().ok_or_else(no_home)?;
        let folders = self.folders(session);
        let mut store = session.trust_store()?;
        let untrusted: Vec<String> =
            folders.iter().flat_map(|folder| store.untrust(folder)).collect();
        let written = !self.dry_run && !untrusted.is_empty();
        if written {
            store.write(&file)?;
        }
        let report = Untrusted { untrusted, written };
        output.result(&report, |out, Palette { dim, .. }| {
            report.untrusted.iter().try_for_each(|path| {
                writeln!(out, "{dim}no longer trusted{dim:#}  {}", for_terminal(path))
            })
        })?;
        if report.untrusted.is_empty() {
            output.note(&format!("Nothing below {} was trusted.", folders[0].display()));
        } else if self.dry_run {
            output.note("Nothing was written.");
        }
        Ok(ExitCode::SUCCESS)
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

impl Session {
    /// Whether every folder of the project's skills is trusted as it is.
    pub(crate) fn project_is_trusted(&self) -> Result<bool, Failure> {
        let store = self.trust_store()?;
        let options = self.index_options()?;
        let roots = project_roots(self);
        let trusted = |root: &Root| {
            let key = root.path.canonicalize().unwrap_or_else(|_| root.path.clone());
            let known = store.projects.get(&*key.to_string_lossy());
            known.is_some_and(|known| known.index_hash == content_hash(root, &options))
        };
        Ok(!roots.is_empty() && roots.iter().all(trusted))
    }

    /// Trusts the project's skills as they are now.
    pub(crate) fn trust_project(&self) -> Result<(), Failure> {
        let (file, mut store, options) =
            (self.trust_file().ok_or_else(no_home)?, self.trust_store()?, self.index_options()?);
        for root in project_roots(self) {
            store.trust(&root.path, content_hash(&root, &options), crate::installing::times().1);
        }
        Ok(store.write(&file)?)
    }
}

fn project_roots(session: &Session) -> Vec<Root> {
    let mut roots = session.surroundings.roots();
    roots.retain(|root| root.source == Source::Project);
    roots
}

fn no_home() -> Failure {
    Failure::new(Exit::Usage, "NoHome", "there is no home directory to remember trust in")
        .hint("set HOME")
}
