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
use crate::judge::Files;

/// A place to run a case in; it goes away with this value.
pub(super) struct Place {
    folder: TempDir,
}

/// Why a case cannot be set up.
#[derive(Debug, Error)]
pub(super) enum PlaceError {
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot copy `{}`: {source}", path.display())]
    Copy { path: PathBuf, source: io::Error },
    #[error("`{}` leads out of the workspace", path.display())]
    Outside { path: PathBuf },
    #[error("cannot install `{}`: {reason}", path.display())]
    Install { path: PathBuf, reason: String },
    #[error("`{}` {reason}", path.display())]
    NotRefused { path: PathBuf, reason: String },
}

impl Place {
    /// A place with the settings that all cases begin with.
    pub(super) fn empty(options: &Options) -> Result<Self, PlaceError> {
        let folder = TempDir::with_prefix("skillful-eval-")
            .map_err(|source| PlaceError::Write { path: std::env::temp_dir(), source })?;
        let place = Self { folder };
        for folder in [place.workspace(), place.home().join(".agent/skills")] {
            fs::create_dir_all(&folder)
                .map_err(|source| PlaceError::Write { path: folder, source })?;
        }
        place.configure(options.config.clone())?;
        Ok(place)
    }

    pub(super) fn prepare(job: &Job<'_>, options: &Options) -> Result<Self, PlaceError> {
        let place = Self::empty(options)?;
        let case = &job.located.case;
        let own_inputs = job.located.folder.join("inputs");
        if job.located.has_folder() && own_inputs.is_dir() {
            copy(&own_inputs, &place.workspace())?;
        }
        for file in &case.setup.files {
            let from = job.located.resolve(file, &options.elsewhere);
            copy(&from, &place.workspace().join(below(file)?))?;
        }
        for skill in &case.setup.preinstall_skills {
            place.install(&job.located.resolve(skill, &options.elsewhere), options)?;
        }
        for pack in &case.setup.refused_skills {
            place.refuse(&job.located.resolve(pack, &options.elsewhere), options)?;
        }
        place.configure(settings(case, options))?;
        if let Some(script) = &case.mock {
            place.write(&place.script(), &json!(script))?;
        }
        Ok(place)
    }

    fn configure(&self, settings: Map<String, Value>) -> Result<(), PlaceError> {
        self.write(&self.home().join(".agent/config.json"), &Value::Object(settings))
    }

    fn write(&self, path: &Path, json: &Value) -> Result<(), PlaceError> {
        let failed = |source| PlaceError::Write { path: path.to_owned(), source };
        fs::write(path, json.to_string()).map_err(failed)
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
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
    pub(super) fn command(&self, job: &Job<'_>, options: &Options) -> Command {
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
        for root in &case.setup.skill_roots {
            command.arg("--root").arg(job.located.resolve(root, &options.elsewhere));
        }
        for tool in &case.constraints.deny_tools {
            command.args(["--deny", tool]);
        }
        if let Some(skill) = job.without {
            command.arg("--deny").arg(format!("skill:{skill}"));
        }
        for approved in &case.setup.approve {
            command.args(["--approve", approved]);
        }
        if case.setup.yes {
            command.arg("--yes");
        }
        if let Some(skill) = &case.setup.skill {
            command.args(["--skill", skill]);
        }
        command.arg("--").arg(&case.input);
        command
    }

    /// A question to a model, without skills and tools.
    pub(super) fn ask(&self, question: &str, model: &str, options: &Options) -> Command {
        let mut command = self.program(options);
        command.args(["run", "--events", "--quiet", "--deny", "skill"]).args(&options.arguments);
        command.args(["--model", model, "--", question]);
        command
    }

    fn install(&self, skill: &Path, options: &Options) -> Result<(), PlaceError> {
        if skill.is_dir() {
            let name =
                skill.canonicalize().ok().and_then(|real| real.file_name().map(ToOwned::to_owned));
            let name = name.ok_or_else(|| PlaceError::Outside { path: skill.to_owned() })?;
            return copy(skill, &self.home().join(".agent/skills").join(name));
        }
        let failed = |reason: String| PlaceError::Install { path: skill.to_owned(), reason };
        let mut command = self.program(options);
        let output = command.args(["install", "--allow-unsafe"]).arg(skill).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }

    /// Tries to install what must be refused.
    fn refuse(&self, pack: &Path, options: &Options) -> Result<(), PlaceError> {
        let before = everything(self.folder.path());
        let refused = match self.install(pack, options) {
            Ok(()) => Err("should have been refused, but was installed".to_owned()),
            Err(_) if everything(self.folder.path()) != before => {
                Err("was refused, but left something behind".to_owned())
            }
            Err(_) => Ok(()),
        };
        refused.map_err(|reason| PlaceError::NotRefused { path: pack.to_owned(), reason })
    }

    /// Folders that scripts wrote to.
    fn sandboxes(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.workspace().join(".agent/runs"));
        let folders = runs.into_iter().flatten().flatten().map(|entry| entry.path());
        folders.flat_map(|run| [run.join("sandbox"), run.join("artifacts")]).collect()
    }
}

impl Files for Place {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        let path = below(path).ok()?;
        let places = std::iter::once(self.workspace()).chain(self.sandboxes());
        places
            .map(|place| place.join(&path))
            .find(|file| file.is_file())
            .and_then(|file| fs::read(file).ok())
    }
}

/// Where a file of the case is put: its path, without a leading `inputs/`.
fn below(path: &Path) -> Result<PathBuf, PlaceError> {
    let is_plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_plain {
        return Err(PlaceError::Outside { path: path.to_owned() });
    }
    let plain: PathBuf =
        path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    Ok(plain.strip_prefix("inputs").map(Path::to_owned).unwrap_or(plain))
}

/// What all cases begin with, then the case's limits, then what it says itself.
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
    if !limits.is_empty() {
        merge(&mut settings, Map::from_iter([("budget".to_owned(), Value::Object(limits))]));
    }
    merge(&mut settings, case.setup.config.clone());
    settings
}

fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => merge(inner, more),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// Copies a file or a folder; links are copied as what they lead to, so that a place needs nothing outside of it.
fn copy(from: &Path, to: &Path) -> Result<(), PlaceError> {
    let failed = |source| PlaceError::Copy { path: from.to_owned(), source };
    if !from.is_dir() {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        return fs::copy(from, to).map(|_| ()).map_err(failed);
    }
    fs::create_dir_all(to).map_err(failed)?;
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
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
