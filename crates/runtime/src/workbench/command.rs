//! A command: understood, approved, run by a shell in the sandbox; while the run waits, or in the background.
//!
//! Invariant: the shell that reads the line is inside the walls.

use std::path::PathBuf;
use std::time::Duration;

use agent::action::Action;
use agent::observation::{Observation, SelectedSkill};
use agent::request::{Refusal, Request};
use basics::inner_path::InnerPath;
use permission::params::{Needs, RunCommand};
use permission::{Approved, Engine, Mode, Pattern, Permission, Risk, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skill::load::{Files, LoadError, check_trusted};
use state::Access;
use tools::command::{self, Command, CommandFolder};
use tools::sandbox::Stdin;

use super::program::{is_contained, observed, walls};
use super::streams::Streams;
use super::{Workbench, io_error};
use crate::driver::Means;
use crate::journal::Journal;

/// Bytes of the longest line.
const LONGEST: usize = 64 << 10;
/// How many times as long as usual a command may take, if the model asks for it.
const PATIENCE: u32 = 5;
/// What the folder of a command begins with that is in a skill.
const SKILL: &str = "skill:";

impl Workbench<'_> {
    pub(super) fn prepare_command(
        &mut self,
        action: &Action,
        means: &Means<'_>,
    ) -> Result<Request, Refusal> {
        let wanted = wanted(action)?;
        self.check_folder(&wanted)?;
        let line = shell::read(&wanted.command);
        check_skill(action, &wanted, &line, means.selected)?;
        let unclear = line.doubts();
        let program = match wanted.background {
            true => "a command in the background,",
            false => "a command",
        };
        let (effect, contained) = self.would_run(program, means.engine)?;
        let doubts = unclear.as_ref().map(|doubts| format!("; look closely: {doubts}"));
        Ok(Request {
            patterns: patterns(&line, &wanted.command),
            shadows: line.shadows(),
            always: line.always().unwrap_or_default(),
            unclear,
            hides: line.hides(),
            contained,
            risk: Risk::Medium,
            effect: effect + &doubts.unwrap_or_default(),
            params: json!(wanted),
            read_only: false,
            ..Request::new(action.clone(), Permission::RunCommand)
        })
    }

    /// Says that a program runs and what stands around it, and whether that is everything.
    ///
    /// Also where it cannot run: rules come first, and whoever is asked should know.
    pub(super) fn would_run(
        &mut self,
        program: &str,
        engine: &Engine,
    ) -> Result<(String, bool), Refusal> {
        let view = self.view()?;
        let applied = match view.applied(&self.scripts.kernel, &self.scripts.confinement) {
            Ok(applied) => applied,
            Err(error) => return Ok((format!("cannot run {program}: {error}"), false)),
        };
        let contained = is_contained(&applied);
        let mut effect = format!("runs {program} {}", walls(&applied));
        if !contained && engine.mode() == Mode::Contained {
            let missing: Vec<String> = applied
                .missing
                .iter()
                .map(|feature| json!(feature).as_str().unwrap_or_default().replace('_', " "))
                .collect();
            let why = match (missing.is_empty(), view.reason()) {
                (false, _) => format!("no {}", missing.join(", no ")),
                (true, Some(reason)) => reason.to_owned(),
                (true, None) => "the sandbox is off".to_owned(),
            };
            effect += &format!(
                "; it asks in the mode `contained`, because not every wall stands ({why})"
            );
        }
        Ok((effect, contained))
    }

    pub(super) fn run_command(
        &mut self,
        request: &Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let wanted = wanted(&request.action)?;
        let mut surroundings = self.surroundings()?;
        let command = self.command(&request.action, &wanted, means.selected)?;
        let usual = surroundings.confinement.limits.time;
        let asked = wanted.timeout_seconds.map(Duration::from_secs);
        let limit = match wanted.background {
            // It ends with the run.
            true => means.cancel.time_left().unwrap_or(usual),
            false => asked.unwrap_or(usual).min(usual.saturating_mul(PATIENCE)),
        };
        let left = means.cancel.time_left().unwrap_or(limit);
        surroundings.confinement.limits.time = limit.min(left);
        if wanted.background {
            return self.start_background(command, surroundings, means, journal);
        }
        let streams = Streams::create(journal, means.redactor).map_err(|error| io_error(&error))?;
        let (exit, kept) = streams.collect(means.show, |output| {
            command::run(&self.scripts.kernel, &command, &surroundings, output, means.cancel.flag())
        })?;
        Ok(observed(&exit, &kept))
    }

    /// The command with its folder, and the skill that it belongs to.
    fn command(
        &mut self,
        action: &Action,
        wanted: &RunCommand,
        selected: &[SelectedSkill],
    ) -> Result<Command, Refusal> {
        let inner = wanted.folder.as_deref().unwrap_or_default();
        let acting = match (inner.strip_prefix(SKILL), action) {
            (Some(place), _) => Some(place.split('/').next().unwrap_or_default().to_owned()),
            (None, Action::CallTool { skill: Some(skill), .. }) => Some(skill.name.clone()),
            (None, _) => selected.last().map(|skill| skill.name.clone()),
        };
        let skill = acting.map(|name| self.skill_copy(&name, selected)).transpose()?;
        let folder = match inner.strip_prefix(SKILL) {
            Some(place) => {
                let rest = place.split_once('/').map_or("", |(_, rest)| rest);
                CommandFolder::Skill(inner_folder(rest)?)
            }
            None => CommandFolder::Workspace(inner_folder(&self.beneath_workspace(inner))?),
        };
        let stdin = Stdin::Bytes(wanted.stdin.clone().unwrap_or_default().into_bytes());
        Ok(Command { text: wanted.command.clone().into(), folder, skill, stdin })
    }

    fn check_folder(&self, wanted: &RunCommand) -> Result<(), Refusal> {
        let Some(folder) = &wanted.folder else { return Ok(()) };
        let inner = match folder.strip_prefix(SKILL) {
            Some(place) => place.split_once('/').map_or("", |(_, rest)| rest).to_owned(),
            None => self.beneath_workspace(folder),
        };
        inner_folder(&inner).map(|_| ())
    }

    /// A folder by its path in the workspace, also where it is written as it is on disk.
    fn beneath_workspace(&self, folder: &str) -> String {
        let inner = std::path::Path::new(folder).strip_prefix(&self.folder);
        inner.map_or_else(|_| folder.to_owned(), |inner| inner.to_string_lossy().into_owned())
    }

    /// A private copy of a selected skill, made once for the run.
    fn skill_copy(&mut self, name: &str, selected: &[SelectedSkill]) -> Result<PathBuf, Refusal> {
        if let Some(copy) = self.copies.get(name) {
            return Ok(copy.clone());
        }
        let known = selected.iter().find(|skill| skill.name == name).ok_or_else(|| {
            Refusal::new(
                "InvalidAction",
                format!("the skill `{}` has not been selected", basics::text::for_terminal(name)),
                "select it with select_skills first",
            )
        })?;
        let reference =
            agent::action::SkillRef { name: known.name.clone(), source: Some(known.source) };
        let entry = self.entry(&reference)?;
        check_trusted(entry)?;
        let files = Files::open(entry)?;
        let run = self.run()?;
        let artifacts = run.create_folder("artifacts", Access::Private)?;
        let place_name = format!("skill-of-commands-{}", self.copies.len());
        artifacts.remove_tree(&place_name)?;
        let place = artifacts.new_folder(&place_name, Access::Private)?;
        let (folder, _) = files.copy_to(&place).map_err(|error| {
            Refusal::new("SkillChanged", error.to_string(), "look at the skill's files")
        })?;
        let copy = place.real_path()?.join(folder);
        self.copies.insert(name.to_owned(), copy.clone());
        Ok(copy)
    }
}

/// The parameters of a call, as its tool reads them.
pub(super) fn params<T: DeserializeOwned>(action: &Action, tool: Tool) -> Result<T, Refusal> {
    let Action::CallTool { params, .. } = action else {
        return Err(Refusal::new("InvalidAction", "not a call of a tool", ""));
    };
    let params = if params.is_null() { json!({}) } else { params.clone() };
    serde_json::from_value::<T>(without_nulls(params)).map_err(|error| {
        Refusal::new(
            "InvalidAction",
            format!("wrong params for `{}`: {error}", tool.name()),
            format!("look at the schema of `{}` and call it again", tool.name()),
        )
    })
}

/// Models write null for what they leave out.
fn without_nulls(mut params: Value) -> Value {
    if let Value::Object(fields) = &mut params {
        fields.retain(|_, value| !value.is_null());
    }
    params
}

fn wanted(action: &Action) -> Result<RunCommand, Refusal> {
    let wanted: RunCommand = params(action, Tool::RunCommand)?;
    let invalid = |message: &str, hint: &str| Refusal::new("InvalidAction", message, hint);
    if wanted.command.trim().is_empty() {
        return Err(invalid("the command is empty", "give a command"));
    }
    if wanted.command.len() > LONGEST || wanted.command.contains('\0') {
        return Err(invalid(
            "the command is too long, or has a NUL byte in it",
            "write a script to a file first, and run that",
        ));
    }
    if let Some(Needs { network, secrets }) = &wanted.needs
        && !(network.is_empty() && secrets.is_empty())
    {
        return Err(Refusal::new(
            "ToolNotAllowed",
            "commands have no network and no secrets here",
            "leave `needs` out; `network_request` asks the user for an address",
        ));
    }
    Ok(wanted)
}

fn inner_folder(inner: &str) -> Result<PathBuf, Refusal> {
    let inner = inner.trim_end_matches('/');
    if inner.is_empty() || inner == "." {
        return Ok(PathBuf::new());
    }
    let inner = inner.strip_prefix("./").unwrap_or(inner);
    Ok(InnerPath::new(inner).map_err(LoadError::from)?.as_str().into())
}

/// What rules are asked about. Where nothing needs a rule by itself, it is all of it: each command asks.
fn patterns(line: &shell::Line, text: &str) -> Vec<String> {
    match line.patterns(text) {
        patterns if patterns.is_empty() => line.commands.iter().map(shell::Command::text).collect(),
        patterns => patterns,
    }
}

/// What a skill that is narrowed to some commands may run besides: it changes nothing but where the next one starts.
const PASSING: [&str; 5] = ["cd", "pwd", "true", "false", ":"];

/// Holds a command to those that the acting skill may run: the one that is named, or any that is loaded.
fn check_skill(
    action: &Action,
    wanted: &RunCommand,
    line: &shell::Line,
    selected: &[SelectedSkill],
) -> Result<(), Refusal> {
    let named = match action {
        Action::CallTool { skill: Some(skill), .. } => Some(skill.name.as_str()),
        _ => None,
    };
    let mut acting =
        selected.iter().filter(|skill| named.is_none_or(|name| skill.name == name)).peekable();
    if acting.peek().is_none() {
        return Ok(());
    }
    let mut refused = None;
    for skill in acting {
        let runs = skill
            .allowed_tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|tool| tool == Tool::RunCommand.name()));
        let Some(patterns) = skill.allowed_commands.as_ref().filter(|_| runs) else {
            match runs {
                true => return Ok(()),
                false => continue,
            }
        };
        let may_run = |command: &shell::Command| {
            let passes = command.words.first().is_some_and(|word| PASSING.contains(&word.as_str()));
            passes || is_among(&command.text(), patterns)
        };
        if line.is_clear() && line.commands.iter().all(may_run) {
            return Ok(());
        }
        refused = refused.or(Some((skill.name.clone(), patterns.join(", "))));
    }
    match refused {
        None => Ok(()),
        Some((skill, patterns)) => Err(Refusal::new(
            "ToolNotAllowed",
            format!(
                "`{}` is not among the commands that `{skill}` may run",
                basics::text::prefix(&basics::text::one_line(&wanted.command), 200)
            ),
            format!("it may run: {patterns}"),
        )),
    }
}

/// A pattern that ends with ` *` is also about the command without arguments.
fn is_among(text: &str, patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| {
        Pattern::new(pattern.as_str()).matches(text) || pattern.strip_suffix(" *") == Some(text)
    })
}
