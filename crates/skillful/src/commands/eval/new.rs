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
}

/// What was written.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Written {
    pub(super) suite: String,
    pub(super) id: String,
    pub(super) files: Vec<String>,
}

impl Written {
    pub(super) fn print(&self, output: &Output) -> Result<ExitCode, Failure> {
        output.result(self, |out, _| {
            self.files.iter().try_for_each(|file| writeln!(out, "{file}"))
        })?;
        output.note("`skillful eval run` runs it.");
        Ok(ExitCode::SUCCESS)
    }
}

impl New {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let entry = session.find(&index, &self.skill)?;
        let target = target(session, &entry.name, "loads")?;
        let mut files = vec![write_case(&target, &first_case(session, entry))?];
        if entry.source != Source::Builtin {
            files.extend(queries(entry)?);
        }
        Written { suite: entry.name.clone(), id: "loads".to_owned(), files }.print(output)
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
fn queries(entry: &Entry) -> Result<Option<String>, Failure> {
    let file = entry.path.join("evals/triggers.json");
    if file.exists() {
        return Ok(None);
    }
    fs::create_dir_all(entry.path.join("evals"))?;
    let first = entry.description.split(". ").next().unwrap_or_default();
    let queries = json!([
        {"query": first, "should_trigger": true},
        {"query": "What is the capital of France?", "should_trigger": false}
    ]);
    fs::write(&file, serde_json::to_string_pretty(&queries).unwrap_or_default() + "\n")?;
    Ok(Some(file.to_string_lossy().into_owned()))
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

pub(super) fn write_case(target: &Path, case: &Case) -> Result<String, Failure> {
    fs::create_dir_all(target)?;
    let file = target.join("case.json");
    fs::write(&file, serde_json::to_string_pretty(case).unwrap_or_default() + "\n")?;
    Ok(file.to_string_lossy().into_owned())
}
