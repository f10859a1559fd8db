//! `skillful trust evals`, and the part of `skillful trust project` that is about eval cases

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use basics::failure::one_line;
use basics::text::for_terminal;
use eval::case::{Located, Setup};
use eval::shelf::{Reach, Shelf};
use eval::suite;
use schemars::JsonSchema;
use serde::Serialize;
use skill::trust::TrustStore;

use super::no_home;
use super::project::Trusted;
use crate::commands::eval::gate::{Whose, places, users_skills, whose};
use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette, count};
use crate::session::Session;
use runtime::spelling::real;

/// Trust eval cases of a project
///
/// You trust the file and everything that its cases use: inputs, skill folders, packs. If any of it changes, Skillful
/// asks again.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful trust evals evals/agent.yaml\n  skillful trust evals tests/evals --dry-run"
)]
pub(crate) struct TrustEvals {
    /// Files and folders with cases
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Show what would be trusted, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A file of eval cases that was trusted.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TrustedEvals {
    path: String,
    /// Of the file and everything that its cases bring along.
    sha256: String,
    cases: usize,
    /// What its cases approve beforehand.
    approves: Vec<String>,
    /// Folders of skills, packs and files that they name.
    brings: Vec<String>,
}

impl TrustedEvals {
    pub(super) fn add_to(&self, store: &mut TrustStore) {
        store.trust_evals(self.path.as_ref(), self.sha256.clone());
    }
}

impl TrustEvals {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let here = &session.surroundings.working_directory;
        let paths: Vec<PathBuf> = self.paths.iter().map(|path| here.join(path)).collect();
        let evals = survey(session, &paths, output)?;
        if evals.is_empty() {
            return Err(Failure::new(
                Exit::Failed,
                "NoCases",
                "there are no project cases to trust there",
            )
            .hint("your own cases need no trust; `skillful eval run --dry-run PATH` lists cases"));
        }
        if !self.dry_run {
            remember(session, &evals)?;
        }
        let mut report = Trusted::default();
        (report.evals, report.written) = (evals, !self.dry_run);
        output.result(&report, |out, palette| print(&report.evals, out, palette))?;
        output.note(match self.dry_run {
            true => "Nothing was written.",
            false => "Trusted as they are now. If anything in them changes, Skillful asks again.",
        });
        Ok(ExitCode::SUCCESS)
    }
}

/// The files of cases that the project has in the usual places.
pub(super) fn of_project(session: &Session, output: &Output) -> Result<Vec<TrustedEvals>, Failure> {
    survey(session, &places(session)?, output)
}

/// Trusts files that the user has just had written.
pub(crate) fn trust_files(
    session: &Session,
    paths: &[PathBuf],
    output: &Output,
) -> Result<(), Failure> {
    let evals = survey(session, paths, output)?;
    if evals.is_empty() { Ok(()) } else { remember(session, &evals) }
}

fn remember(session: &Session, evals: &[TrustedEvals]) -> Result<(), Failure> {
    let file = session.trust_file().ok_or_else(no_home)?;
    Ok(TrustStore::change(&file, |store| evals.iter().for_each(|one| one.add_to(store)))?)
}

/// Files of cases that are a project's word, as they are now. What cannot be taken is told, and stays untrusted.
fn survey(
    session: &Session,
    paths: &[PathBuf],
    output: &Output,
) -> Result<Vec<TrustedEvals>, Failure> {
    let (cases, problems) = suite::find(paths);
    problems.iter().for_each(|problem| output.warn(&problem.to_string()));
    let mut shelf = Shelf::new()?;
    let users = users_skills(session);
    let mut found = Vec::new();
    for cases in cases.chunk_by(|a, b| a.file == b.file) {
        let file = real(&cases[0].file);
        let Whose::Projects(project) = whose(session, &file, &[]) else { continue };
        match shelf.take(cases, Reach { project: &project, users: &users }) {
            Ok(taken) => found.push(TrustedEvals {
                path: file.to_string_lossy().into_owned(),
                sha256: taken.sha256,
                cases: cases.len(),
                approves: sorted(cases.iter().flat_map(approvals)),
                brings: sorted(cases.iter().flat_map(brought)),
            }),
            Err(error) => output.warn(&format!("not trusted: {}", one_line(&error))),
        }
    }
    Ok(found)
}

fn approvals(located: &Located) -> Vec<String> {
    let Setup { approve, yes, apply, .. } = &located.case.setup;
    let flags = [yes.then_some("medium risk"), apply.then_some("apply_changes")];
    flags.into_iter().flatten().map(str::to_owned).chain(approve.iter().cloned()).collect()
}

fn brought(located: &Located) -> Vec<String> {
    let files = located.case.setup.files.iter().map(PathBuf::as_path);
    located.references().chain(files).map(|path| path.display().to_string()).collect()
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

pub(super) fn print(
    evals: &[TrustedEvals],
    out: &mut dyn Write,
    Palette { bold, .. }: Palette,
) -> std::io::Result<()> {
    for one in evals {
        let mut line = count(one.cases, "case");
        for (what, list) in [("approves", &one.approves), ("brings", &one.brings)] {
            if !list.is_empty() {
                line.push_str(&format!("; {what} {}", list.join(", ")));
            }
        }
        writeln!(out, "{bold}{}{bold:#}", for_terminal(&one.path))?;
        writeln!(out, "  {}", for_terminal(&line))?;
    }
    Ok(())
}
