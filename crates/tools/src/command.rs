//! Runs a shell command: in the same surroundings as a script, and nowhere else.
//!
//! Invariant: the shell that reads the string is inside the sandbox.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::sandbox::{Exit, Invocation, Kernel, Output, Stdin};
use crate::script::{ScriptError, Surroundings, environment, interpreter, real};

/// A shell command.
#[derive(Debug, Clone)]
pub struct Command {
    /// What the shell reads.
    pub text: OsString,
    /// Where it starts.
    pub folder: CommandFolder,
    /// The folder of the skill that it belongs to, which it can read.
    pub skill: Option<PathBuf>,
    /// What it can read from standard input.
    pub stdin: Stdin,
}

/// Where a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandFolder {
    /// In this folder of the workspace; empty for the workspace itself.
    Workspace(PathBuf),
    /// In this folder of its skill; empty for the skill itself.
    Skill(PathBuf),
}

/// Runs a command and waits until everything it started is gone.
///
/// # Errors
///
/// If the folder is not one inside workspace or skill, there is no shell, or the sandbox refuses.
pub fn run(
    kernel: &Kernel,
    command: &Command,
    surroundings: &Surroundings,
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, ScriptError> {
    let skill = command.skill.as_deref().map(real).transpose()?;
    let folder = folder(command, surroundings, skill.as_deref())?;
    let mut confinement = surroundings.confinement.clone();
    confinement.read.extend(skill.clone());
    let path = environment::reachable(&surroundings.environment.path, &confinement.read);
    let (program, _) = interpreter::locate(&["bash".to_owned()], &path)
        .or_else(|_| interpreter::locate(&["sh".to_owned()], &path))?;
    let invocation = Invocation {
        program,
        arguments: vec!["-c".into(), command.text.clone()],
        environment: surroundings.variables(&path, skill.as_deref()),
        folder,
        stdin: command.stdin.clone(),
    };
    Ok(surroundings.view.run(kernel, &confinement, &invocation, output, cancelled)?)
}

fn folder(
    command: &Command,
    surroundings: &Surroundings,
    skill: Option<&Path>,
) -> Result<PathBuf, ScriptError> {
    let (root, inner) = match (&command.folder, skill) {
        (CommandFolder::Workspace(inner), _) => (surroundings.view.folder(), inner),
        (CommandFolder::Skill(inner), Some(skill)) => (skill, inner),
        (CommandFolder::Skill(inner), None) => {
            return Err(ScriptError::Outside { path: inner.clone() });
        }
    };
    let is_inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    match inner.components().all(is_inside) {
        true => Ok(inner.components().fold(root.to_owned(), |path, part| match part {
            Component::Normal(name) => path.join(name),
            _ => path,
        })),
        false => Err(ScriptError::Outside { path: inner.clone() }),
    }
}
