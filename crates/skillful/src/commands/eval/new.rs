//! `skillful eval new`

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use eval::case::{Case, Constraints, Expect, SequenceConstraint, Setup};
use model::scripted::Script;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use skill::index::Entry;
use skill::roots::Source;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;

/// Start the evals of a skill: a case that runs, and queries to fill in
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  skillful eval new csv-report\n  skillful eval run")]
pub(super) struct New {
    /// The skill
    skill: String,
    /// Say what would be written, and write nothing
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

    pub(super) fn print(&self, output: &Output) -> Result<ExitCode, Failure> {
        output.result(self, |out, _| {
            self.files.iter().try_for_each(|file| writeln!(out, "{file}"))
        })?;
        output.note(if self.written {
            "`skillful eval run` runs it."
        } else {
            "Nothing was written."
        });
        Ok(ExitCode::SUCCESS)
    }
}

impl New {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let entry = session.find(&index, &self.skill)?;
        let target = target(session, &entry.name, "loads")?;
        let mut files = vec![as_json(target.join("case.json"), &first_case(session, entry))?];
        files.extend(queries(entry)?);
        if !self.dry_run {
            files.iter().try_for_each(|(path, bytes)| write(path, bytes))?;
        }
        let paths = files.iter().map(|(path, _)| path);
        Written::of(&entry.name, "loads", paths, !self.dry_run).print(output)
    }
}

/// The skill is found for a request that fits it, and its text is read.
fn first_case(session: &Session, entry: &Entry) -> Case {
    let select = json!({"action": {"type": "select_skills", "payload": {"skills": [{"name": entry.name, "source": source(entry)}], "reason": "it fits the request"}}});
    let answer = json!({"action": {"type": "final_answer", "payload": {"content": "done"}}});
    let mock = serde_json::from_value::<Script>(json!({"turns": [select, answer]})).ok();
    let root = entry.path.parent().unwrap_or(&entry.path);
    let root = root.strip_prefix(session.surroundings.project()).unwrap_or(root);
    let skill_roots = match entry.source {
        Source::Builtin => Vec::new(),
        _ => vec![root.to_owned()],
    };
    Case {
        id: "loads".to_owned(),
        input: format!("A task for {}: say here what a user would ask", entry.name),
        setup: Setup { skill_roots, ..Setup::default() },
        expect: Expect {
            skills_all_of: vec![entry.name.clone()],
            action_sequence_constraints: vec![SequenceConstraint::MustOccur {
                must_occur: "select_skills".to_owned(),
                before: Some("final_answer".to_owned()),
                after: None,
            }],
            stop_reason: Some("final_answer".to_owned()),
            ..Expect::default()
        },
        constraints: Constraints::default(),
        mock,
        assertions: Vec::new(),
    }
}

/// Whoever names a root reaches its skills as explicit ones.
fn source(entry: &Entry) -> &'static str {
    if entry.source == Source::Builtin { "builtin" } else { "explicit" }
}

/// Queries to begin with, in the skill's folder; one that is there stays.
fn queries(entry: &Entry) -> Result<Option<NewFile>, Failure> {
    let file = entry.path.join("evals/triggers.json");
    if entry.source == Source::Builtin || file.exists() {
        return Ok(None);
    }
    let first = entry.description.split(". ").next().unwrap_or_default();
    let queries = json!([
        {"query": first, "should_trigger": true},
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
            "a suite and a case are named without slashes",
        ));
    }
    let target = session.surroundings.project().join(".agent/evals").join(suite).join(id);
    if target.exists() {
        let message = format!("there is a case at `{}` already", target.display());
        return Err(Failure::new(Exit::Failed, "AlreadyExists", message).hint("remove it first"));
    }
    Ok(target)
}

/// A file that is to be written, and what it will hold.
type NewFile = (PathBuf, Vec<u8>);

pub(super) fn as_json(path: PathBuf, content: &impl Serialize) -> Result<NewFile, Failure> {
    let mut bytes = serde_json::to_vec_pretty(content).map_err(std::io::Error::from)?;
    bytes.push(b'\n');
    Ok((path, bytes))
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, bytes));
    written.map_err(|error| Failure::cannot_write(path, &error))
}
