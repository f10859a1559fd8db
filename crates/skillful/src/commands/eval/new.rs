//! `skillful eval new`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::skill::Source;
use basics::text::for_terminal;
use eval::case::{Case, Constraints, Expect, SequenceConstraint, Setup};
use model::scripted::Script;
use permission::shell_quoted;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use skill::index::Entry;
use state::Folder;

use crate::commands::trust::evals::trust_files;
use crate::commands::trust::keep::Before;
use crate::failure::{Exit, Failure, cannot_write};
use crate::installing::Scope;
use crate::output::Output;
use crate::session::Session;

/// Create a first case and trigger queries for a skill
///
/// The case fails if the skill is not chosen. `eval run --model` lets a model choose; without --model the offline
/// planner does. With --mock the replies are scripted: such a case only shows that the skill can be found and loaded.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval new csv-report\n  skillful eval run --model openai:gpt-5-mini\n  skillful eval new csv-report --mock"
)]
pub(super) struct New {
    /// The skill
    skill: String,
    /// Write a case with scripted replies; it needs no model
    #[arg(long)]
    mock: bool,
    /// Show what would be written, but write nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    pub(super) suite: String,
    pub(super) id: String,
    pub(super) files: Vec<String>,
    pub(super) written: bool,
}

/// Whether what was written can be run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trusted {
    Already,
    Never,
}

impl Written {
    pub(super) fn of<'f>(
        suite: &str,
        id: &str,
        files: impl Iterator<Item = &'f PathBuf>,
        written: bool,
    ) -> Self {
        let files = files.map(|path| path.to_string_lossy().into_owned()).collect();
        Self { suite: suite.to_owned(), id: id.to_owned(), files, written }
    }

    pub(super) fn print(&self, trusted: Trusted, output: &Output) -> Result<ExitCode, Failure> {
        output.result(self, |out, _| {
            self.files.iter().try_for_each(|file| writeln!(out, "{}", for_terminal(file)))
        })?;
        let case = self.files.iter().find(|file| file.ends_with("case.json"));
        let case = shell_quoted(case.map_or("", String::as_str).as_ref());
        output.note(&match (self.written, trusted) {
            (false, _) => "Nothing was written.".to_owned(),
            (true, Trusted::Already) => "`skillful eval run` runs it.".to_owned(),
            (true, Trusted::Never) => {
                format!(
                    "Look at it, then run `skillful trust evals {case}` and `skillful eval run`."
                )
            }
        });
        Ok(ExitCode::SUCCESS)
    }
}

impl New {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        let entry = session.find(&index, &self.skill)?;
        let case = if self.mock { scripted_case(entry) } else { first_case(entry) };
        let case = Case { setup: setup(session, entry), ..case };
        let target = target(session, &entry.name, &case.id)?;
        let mut files = vec![as_json(target.join("case.json"), &case)?];
        files.extend(queries(session, entry)?);
        let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let can_trust = entry.trusted && session.trust_file().is_some();
        let trusted = if can_trust { Trusted::Already } else { Trusted::Never };
        if !self.dry_run {
            // What is written into a skill changes it, and it was trusted as it was.
            let before = Before::of(session, Scope::Project)?;
            files.iter().try_for_each(|(path, bytes)| write(path, bytes))?;
            before.keep(session, std::slice::from_ref(&entry.name))?;
            if trusted == Trusted::Already {
                trust_files(session, &paths, output)?;
            }
        }
        let written = Written::of(&entry.name, &case.id, paths.iter(), !self.dry_run);
        let ended = written.print(trusted, output)?;
        output.note(if self.mock { ABOUT_SCRIPTED } else { ABOUT_FIRST });
        Ok(ended)
    }
}

const ABOUT_FIRST: &str = "With --model, a model decides whether to use the skill. Without it, the offline planner does; it only compares words. Change `input` to a real request, and describe a good answer in `expect.output` and `assertions`.";
const ABOUT_SCRIPTED: &str = "Its replies are scripted: the case shows that the skill can be found and loaded. It does not show that a model chooses the skill, or how well it works.";

/// Somebody decides to use the skill for a request that fits it.
fn first_case(entry: &Entry) -> Case {
    Case {
        id: "chosen".to_owned(),
        input: first_sentence(entry).to_owned(),
        setup: Setup::default(),
        expect: Expect {
            skills_all_of: vec![entry.name.clone()],
            action_sequence_constraints: vec![SequenceConstraint::MustOccur {
                must_occur: "select_skills".to_owned(),
                before: Some("final_answer".to_owned()),
                after: None,
            }],
            ..Expect::default()
        },
        constraints: Constraints::default(),
        mock: None,
        assertions: vec!["The answer does what the request asks for".to_owned()],
    }
}

/// The skill is found and its text is read, because a script says so.
fn scripted_case(entry: &Entry) -> Case {
    let select = json!({"action": {"type": "select_skills", "payload": {"skills": [{"name": entry.name, "source": source(entry)}], "reason": "the script says so"}}});
    let answer =
        json!({"action": {"type": "final_answer", "payload": {"content": ABOUT_SCRIPTED}}});
    let first = first_case(entry);
    Case {
        id: "loads".to_owned(),
        expect: Expect { stop_reason: Some("final_answer".to_owned()), ..first.expect },
        mock: serde_json::from_value::<Script>(json!({"turns": [select, answer]})).ok(),
        assertions: Vec::new(),
        ..first
    }
}

/// Where the skill is.
fn setup(session: &Session, entry: &Entry) -> Setup {
    let root = entry.path.parent().unwrap_or(&entry.path);
    let root = root.strip_prefix(session.surroundings.project()).unwrap_or(root);
    let skill_roots = match entry.source {
        Source::Builtin => Vec::new(),
        _ => vec![root.to_owned()],
    };
    Setup { skill_roots, ..Setup::default() }
}

/// What the skill says first about itself: the nearest to a request that there is.
fn first_sentence(entry: &Entry) -> &str {
    entry.description.split(". ").next().unwrap_or_default()
}

/// Whoever names a root reaches its skills as explicit ones.
fn source(entry: &Entry) -> &'static str {
    if entry.source == Source::Builtin { "builtin" } else { "explicit" }
}

/// Queries to begin with, in the skill's folder; one that is there stays.
fn queries(session: &Session, entry: &Entry) -> Result<Option<NewFile>, Failure> {
    // Skills may be reached through a link, but what is written for them is written beside them.
    let folder = entry.path.canonicalize().unwrap_or_else(|_| entry.path.clone());
    let file = folder.join("evals/triggers.json");
    if entry.source == Source::Builtin || file.exists() {
        return Ok(None);
    }
    if entry.source == Source::Project {
        session.refuse_led_out(&entry.path)?;
    }
    refuse_links(&entry.path, &file)?;
    let queries = json!([
        {"query": first_sentence(entry), "should_trigger": true},
        {"query": "What is the capital of France?", "should_trigger": false}
    ]);
    as_json(file, &queries).map(Some)
}

/// The folder of a case that is not there yet.
pub(super) fn target(session: &Session, suite: &str, id: &str) -> Result<PathBuf, Failure> {
    let is_name = |name: &str| {
        !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
    };
    if !is_name(suite) || !is_name(id) {
        return Err(Failure::new(
            Exit::Usage,
            "Usage",
            "the names of suites and cases have no slashes",
        ));
    }
    let project = session.surroundings.project();
    let target = project.join(".agent/evals").join(suite).join(id);
    refuse_links(project, &target)?;
    if target.exists() {
        let message = format!("`{}` already has a case", target.display());
        return Err(Failure::new(Exit::Failed, "AlreadyExists", message).hint("remove it first"));
    }
    Ok(target)
}

/// A file that is to be written, and what it will hold.
pub(super) type NewFile = (PathBuf, Vec<u8>);

pub(super) fn as_json(path: PathBuf, content: &impl Serialize) -> Result<NewFile, Failure> {
    let mut bytes = serde_json::to_vec_pretty(content).map_err(std::io::Error::from)?;
    bytes.push(b'\n');
    Ok((path, bytes))
}

/// Writes a file that is not there yet: a link in its place would lead elsewhere.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = Folder::create(path.parent().unwrap_or(path))?;
    let mut file = folder.create_file(path.file_name().unwrap_or_default())?;
    file.write_all(bytes).map_err(|error| cannot_write(path, &error))
}

/// Refuses folders below `top` on the way to `path` that a repository made links.
fn refuse_links(top: &Path, path: &Path) -> Result<(), Failure> {
    let below = path.ancestors().take_while(|folder| *folder != top);
    let is_link = |folder: &&Path| folder.symlink_metadata().is_ok_and(|found| found.is_symlink());
    match below.into_iter().find(is_link) {
        Some(link) => {
            let message =
                format!("`{}` is a link, and links are not followed here", link.display());
            Err(Failure::new(Exit::Refused, "StateUnsafe", message)
                .hint("replace it with a folder"))
        }
        None => Ok(()),
    }
}
