//! The workspace and home of one run of a case, new and empty.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use thiserror::Error;

use super::{Job, Options};
use crate::case::Case;
use crate::folder::{Folder, FolderError, Quota};
use crate::left::Left;

/// The permission to change the workspace.
const APPLY: &str = "apply_changes";

/// A place to run a case in; it goes away with this value.
pub(super) struct Scratch {
    folder: TempDir,
}

/// How a run of a case begins.
#[derive(Clone, Copy)]
pub(super) enum Beginning<'a> {
    /// With the request.
    New,
    /// With the answer to the question that it waits with.
    Answered { run_id: &'a str, answer: &'a str },
}

/// Why a case cannot be set up.
#[derive(Debug, Error)]
pub(super) enum ScratchError {
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot copy `{}`: {}", path.display(), reasons(source))]
    Copy { path: PathBuf, source: FolderError },
    #[error("`{}` leads outside the workspace", path.display())]
    Outside { path: PathBuf },
    #[error("cannot install `{}`: {reason}", path.display())]
    Install { path: PathBuf, reason: String },
    #[error("cannot make the workspace a Git repository: {reason}")]
    Repository { reason: String },
    #[error("`{}` {reason}", path.display())]
    NotRefused { path: PathBuf, reason: String },
}

impl Scratch {
    /// A place with the settings that all cases begin with.
    pub(super) fn empty(options: &Options) -> Result<Self, ScratchError> {
        let folder = TempDir::with_prefix("skillful-eval-")
            .map_err(|source| ScratchError::Write { path: std::env::temp_dir(), source })?;
        let place = Self { folder };
        for folder in [place.workspace(), place.home().join(".agent/skills")] {
            fs::create_dir_all(&folder)
                .map_err(|source| ScratchError::Write { path: folder, source })?;
        }
        place.configure(options.config.clone())?;
        Ok(place)
    }

    pub(super) fn prepare(job: &Job<'_>, options: &Options) -> Result<Self, ScratchError> {
        let place = Self::empty(options)?;
        let case = &job.located.case;
        let own_inputs = job.located.folder.join("inputs");
        let own = &job.located.folder;
        if job.located.has_folder() && own_inputs.is_dir() {
            copy(own, Path::new("inputs"), &place.workspace())?;
        }
        for file in &case.setup.files {
            copy(own, file, &place.workspace().join(below(file)?))?;
        }
        place.commit(&case.setup.commits)?;
        for skill in &case.setup.preinstall_skills {
            place.install(&job.located.resolve(skill, &options.elsewhere), options)?;
        }
        for pack in &case.setup.refused_skills {
            place.refuse(&job.located.resolve(pack, &options.elsewhere), options)?;
        }
        place.configure(settings(case, options))?;
        place.write(&place.case_settings(), &json!(case.setup.config))?;
        if let Some(script) = &case.mock {
            place.write(&place.script(), &json!(script))?;
        }
        Ok(place)
    }

    fn configure(&self, settings: Map<String, Value>) -> Result<(), ScratchError> {
        self.write(&self.home().join(".agent/config.json"), &Value::Object(settings))
    }

    fn write(&self, path: &Path, json: &Value) -> Result<(), ScratchError> {
        let failed = |source| ScratchError::Write { path: path.to_owned(), source };
        fs::write(path, json.to_string()).map_err(failed)
    }

    pub(super) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What the case says about settings. It counts as a project's word, in place of any file among its inputs.
    fn case_settings(&self) -> PathBuf {
        self.folder.path().join("settings.json")
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script.json")
    }

    /// The program, seeing nothing but this place.
    fn program(&self, options: &Options) -> Command {
        let mut command = Command::new(&options.program);
        command.env_clear();
        for name in ["PATH", "LANG", "TZ", "TMPDIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(options.environment.iter().cloned()).env("HOME", self.home());
        command.current_dir(self.workspace());
        command
    }

    /// The run of the case.
    pub(super) fn command(
        &self,
        job: &Job<'_>,
        options: &Options,
        beginning: Beginning<'_>,
    ) -> Command {
        let case = &job.located.case;
        let mut command = self.program(options);
        command.args(["run", "--events", "--quiet"]).args(&options.arguments);
        match (&options.model, &case.mock) {
            (Some(model), _) => {
                command.args(["--model", model]);
            }
            (None, Some(_)) => {
                command.arg("--model").arg(format!("scripted:{}", self.script().display()));
            }
            (None, None) => {
                command.args(["--model", "offline"]);
            }
        }
        command.arg("--project-config").arg(self.case_settings());
        for root in &case.setup.skill_roots {
            command.arg("--root").arg(job.located.resolve(root, &options.elsewhere));
        }
        for tool in &case.constraints.deny_tools {
            command.args(["--deny", tool]);
        }
        if let Some(skill) = job.without {
            command.arg("--deny").arg(format!("skill:{skill}"));
        }
        if case.setup.yes {
            command.arg("--yes");
        }
        if case.setup.no_questions {
            command.arg("--no-questions");
        }
        match beginning {
            Beginning::New => {
                if let Some(skill) = &case.setup.skill {
                    command.args(["--skill", skill]);
                }
                command.arg("--").arg(&case.input);
            }
            Beginning::Answered { run_id, answer } => {
                command.args(["--resume", run_id]).arg(format!("--answer={answer}"));
            }
        }
        command
    }

    /// The files that the run left behind.
    pub(super) fn left(&self, run_id: &str) -> Result<Left, String> {
        let run = self.workspace().join(".agent/runs").join(run_id);
        Left::open(&self.workspace(), &run)
            .map_err(|error| format!("cannot read what the run changed: {error}"))
    }

    /// Makes the workspace a repository whose first commit has everything that is there.
    fn commit(&self, messages: &[String]) -> Result<(), ScratchError> {
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.env_clear().env("HOME", self.home()).env("GIT_CONFIG_NOSYSTEM", "1");
            if let Some(path) = std::env::var_os("PATH") {
                command.env("PATH", path);
            }
            for who in ["GIT_AUTHOR", "GIT_COMMITTER"] {
                command.env(format!("{who}_NAME"), "Case");
                command.env(format!("{who}_EMAIL"), "case@example.com");
                command.env(format!("{who}_DATE"), "2026-01-01T00:00:00Z");
            }
            let output = command.current_dir(self.workspace()).args(arguments).output();
            let reason = match output {
                Ok(output) if output.status.success() => return Ok(()),
                Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
                Err(error) => error.to_string(),
            };
            Err(ScratchError::Repository { reason })
        };
        for (place, message) in messages.iter().enumerate() {
            if place == 0 {
                git(&["init", "--quiet", "--initial-branch=main", "."])?;
                git(&["add", "--all", "--force"])?;
            }
            git(&["commit", "--quiet", "--allow-empty", "--message", message])?;
        }
        Ok(())
    }

    /// A question to a model, without skills and tools.
    pub(super) fn ask(&self, question: &str, model: &str, options: &Options) -> Command {
        let mut command = self.program(options);
        command.args(["run", "--events", "--quiet", "--deny", "skill"]).args(&options.arguments);
        command.args(["--model", model, "--", question]);
        command
    }

    fn install(&self, skill: &Path, options: &Options) -> Result<(), ScratchError> {
        if skill.is_dir() {
            let name =
                skill.canonicalize().ok().and_then(|real| real.file_name().map(ToOwned::to_owned));
            let name = name.ok_or_else(|| ScratchError::Outside { path: skill.to_owned() })?;
            return copy(skill, Path::new("."), &self.home().join(".agent/skills").join(name));
        }
        let failed = |reason: String| ScratchError::Install { path: skill.to_owned(), reason };
        let mut command = self.program(options);
        let output = command.args(["install", "--allow-unsafe"]).arg(skill).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Tries to install what must be refused.
    fn refuse(&self, pack: &Path, options: &Options) -> Result<(), ScratchError> {
        let before = everything(self.folder.path());
        let refused = match self.install(pack, options) {
            Ok(()) => Err("should have been refused, but was installed".to_owned()),
            Err(_) if everything(self.folder.path()) != before => {
                Err("was refused, but left files behind".to_owned())
            }
            Err(_) => Ok(()),
        };
        refused.map_err(|reason| ScratchError::NotRefused { path: pack.to_owned(), reason })
    }
}

/// Where a file of the case is put: its path, without a leading `inputs/`.
fn below(path: &Path) -> Result<PathBuf, ScratchError> {
    let is_plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain {
        return Err(ScratchError::Outside { path: path.to_owned() });
    }
    let plain: PathBuf =
        path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    Ok(plain.strip_prefix("inputs").map(Path::to_owned).unwrap_or(plain))
}

/// What all cases begin with, the case's limits and numbers where they are lower, and what it approves. An approval
/// is a rule of the weakest kind here, not a flag, so that what the user denies stays denied.
fn settings(case: &Case, options: &Options) -> Map<String, Value> {
    let mut settings = options.config.clone();
    let constraints = &case.constraints;
    let limits = [
        ("max_turns", constraints.max_turns.map(u64::from)),
        ("max_tool_calls", constraints.max_tool_calls.map(u64::from)),
        ("max_script_runs", constraints.max_script_runs.map(u64::from)),
        ("max_wall_seconds", constraints.max_wall_seconds),
    ];
    let limits: Map<String, Value> = limits
        .into_iter()
        .filter_map(|(key, limit)| Some((key.to_owned(), limit?.into())))
        .collect();
    let time = constraints.max_script_seconds;
    let time = time.map(|seconds| ("timeout_seconds".to_owned(), seconds.into()));
    change(&mut settings, "budget", |budget| lower(budget, limits));
    change(&mut settings, "execution", |execution| lower(execution, time.into_iter().collect()));
    lower_known(&mut settings, &case.setup.config);
    change(&mut settings, "permissions", |permissions| {
        let applied = case.setup.apply.then_some(APPLY);
        for approved in case.setup.approve.iter().map(String::as_str).chain(applied) {
            let (tool, pattern) = approved.split_once(':').unwrap_or((approved, "*"));
            change(permissions, tool, |rules| {
                drop(rules.insert(pattern.to_owned(), "allow".into()))
            });
        }
    });
    settings
}

/// Changes the object at a key; an empty one is none.
fn change(settings: &mut Map<String, Value>, key: &str, how: impl FnOnce(&mut Map<String, Value>)) {
    let mut inner = match settings.remove(key) {
        Some(Value::Object(inner)) => inner,
        _ => Map::new(),
    };
    how(&mut inner);
    if !inner.is_empty() {
        settings.insert(key.to_owned(), Value::Object(inner));
    }
}

/// Numbers that count where none is lower already.
fn lower(settings: &mut Map<String, Value>, limits: Map<String, Value>) {
    for (key, limit) in limits {
        let known = settings.get(&key).and_then(Value::as_f64);
        if known.is_none_or(|known| limit.as_f64().is_some_and(|limit| limit < known)) {
            settings.insert(key, limit);
        }
    }
}

/// The same for numbers of the case that the user has set, too: what is in a user's file counts more than what is in
/// a project's.
fn lower_known(settings: &mut Map<String, Value>, case: &Map<String, Value>) {
    for (key, value) in case {
        match (settings.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => lower_known(inner, more),
            (Some(known @ Value::Number(_)), Value::Number(_))
                if value.as_f64() < known.as_f64() =>
            {
                *known = value.clone();
            }
            _ => {}
        }
    }
}

/// Copies what is in a folder; links are copied as what they lead to, so that a place needs nothing outside of it.
fn copy(folder: &Path, inner: &Path, to: &Path) -> Result<(), ScratchError> {
    let failed = |source| ScratchError::Copy { path: folder.join(inner), source };
    let folder = Folder::open(folder).map_err(failed)?;
    folder.copy(inner, to, &mut Quota::default()).map(|_| ()).map_err(failed)
}

/// An error and what caused it.
fn reasons(error: &FolderError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// The files below a folder; those of installers themselves, whose names begin with a dot, do not count.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(everything(&path));
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(path);
        }
    }
    found.sort();
    found
}
