//! `skillful uninstall` and `skillful restore`

use std::process::ExitCode;

use basics::text::for_terminal;
use pack::install::{InstallError, Kept, Replace, Root};
use permission::argument;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::trust::keep::is_waiting;
use crate::failure::{Exit, Failure};
use crate::installing::{Scope, ask, changing, times};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Remove an installed skill
///
/// The skill goes to .trash next to your skills. `skillful restore` brings it back.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful uninstall csv-report\n  skillful uninstall csv-report --purge --yes"
)]
pub(crate) struct Uninstall {
    /// The skill's name
    name: String,
    /// Remove the skill installed for you or for this project
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Delete it for good, after asking
    #[arg(long)]
    purge: bool,
    /// Delete it without asking
    #[arg(short, long, requires = "purge")]
    yes: bool,
    /// Show what would happen, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Bring back a skill that you uninstalled or replaced
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful restore csv-report\n  skillful restore csv-report --at 20261115T083000Z --backup"
)]
pub(crate) struct Restore {
    /// The skill's name
    name: String,
    /// Bring it back for you or for this project
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Bring back the copy from this time [default: the newest]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Keep the current skill in .backup
    #[arg(long, conflicts_with = "force")]
    backup: bool,
    /// Replace the current skill
    #[arg(long)]
    force: bool,
    /// Show what would happen, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A skill that was moved.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Moved {
    name: String,
    /// `user` or `project`.
    source: &'static str,
    /// The skill's own place.
    path: String,
    /// Where it, or the one that was in its place, is kept.
    kept: Option<String>,
    written: bool,
}

impl Uninstall {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let scope = session.scope_of(&self.name, self.scope)?;
        let root = session.install_root(scope)?;
        let is_there = root.has(&self.name);
        if !is_there && root.lockfile()?.get(&self.name).is_none() {
            return Err(InstallError::NotThere {
                name: self.name.clone(),
                root: root.path().to_owned(),
            }
            .into());
        }
        if self.purge && is_there && !self.yes && !self.dry_run {
            approve_deletion(&self.name, &root)?;
        }
        let (label, _) = times();
        let kept = match self.dry_run {
            true => None,
            false => changing(&root, &label, |opened| {
                Ok(opened.uninstall(&self.name, self.purge, &label)?)
            })?,
        };
        let words = match (is_there, self.purge) {
            (false, _) => "Its folder was already gone; the lockfile no longer lists it.",
            (true, true) => "Deleted.",
            (true, false) => "Uninstalled. `skillful restore` brings it back.",
        };
        report(
            &self.name,
            scope,
            root.skill(&self.name),
            kept,
            (!self.dry_run).then_some(words),
            session,
            output,
        )
    }
}

/// What is deleted cannot be brought back, so somebody has to say so.
fn approve_deletion(name: &str, root: &Root) -> Result<(), Failure> {
    match ask(&format!("Delete {} for good?", root.skill(name).display())) {
        Some(true) => Ok(()),
        Some(false) => Err(Failure::new(Exit::Approval, "Declined", "nothing was deleted")
            .hint("without --purge the skill goes to .trash")),
        None => Err(Failure::new(
            Exit::Approval,
            "ApprovalRequired",
            format!("deleting `{name}` for good needs your approval"),
        )
        .hint("add --yes, or leave out --purge to keep it in .trash")),
    }
}

impl Restore {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let scope = session.scope_of(&self.name, self.scope)?;
        let root = session.install_root(scope)?;
        let wanted = |kept: &Kept| self.at.as_ref().is_none_or(|at| *at == kept.label);
        let found = root.list_kept(&self.name)?.into_iter().find(wanted);
        let kept = found.ok_or_else(|| InstallError::NothingKept {
            name: self.name.clone(),
            root: root.path().to_owned(),
        })?;
        let replace = match (self.backup, self.force) {
            (true, _) => Replace::Backup,
            (_, true) => Replace::Force,
            _ => Replace::Never,
        };
        let (label, _) = times();
        let backup = match self.dry_run {
            true => None,
            false => changing(&root, &label, |opened| {
                Ok(opened.restore(&self.name, &kept, replace, &label)?)
            })?,
        };
        let path = root.skill(&self.name);
        // A copy that lay in the project may come from anyone. It is trusted only as what the user trusted before.
        let words = match scope == Scope::Project && is_waiting(session, &path)? {
            true => {
                let name = argument(&self.name);
                format!(
                    "Restored, but not trusted. Look at it (`skillful inspect {name}`), then run `skillful trust project {name}`."
                )
            }
            false => "Restored.".to_owned(),
        };
        let done = (!self.dry_run).then_some(words.as_str());
        report(&self.name, scope, path, backup, done, session, output)
    }
}

fn report(
    name: &str,
    scope: Scope,
    path: std::path::PathBuf,
    kept: Option<std::path::PathBuf>,
    done: Option<&str>,
    session: &Session,
    output: &Output,
) -> Result<ExitCode, Failure> {
    // The next start finds the cache as it should be.
    session.finish_interrupted_installs();
    session.index()?.prepare_search();
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    let moved = Moved {
        name: name.to_owned(),
        source: scope.as_str(),
        path: text(path),
        kept: kept.map(text),
        written: done.is_some(),
    };
    output.result(&moved, |out, Palette { bold, dim, .. }| {
        writeln!(
            out,
            "{bold}{}{bold:#}  {dim}{}{dim:#}",
            for_terminal(&moved.name),
            for_terminal(&moved.path)
        )?;
        moved.kept.iter().try_for_each(|kept| writeln!(out, "  kept in {}", for_terminal(kept)))
    })?;
    output.note(done.unwrap_or("Nothing was written."));
    Ok(ExitCode::SUCCESS)
}
