//! Runs a skill's script: the content that was approved, in a clean environment, inside the
//! sandbox.
//!
//! Invariant: what runs is the approved content, whatever happens to the file meanwhile, and it
//! never passes through a shell.

mod closed;
mod environment;
mod error;
mod interpreter;
mod mirror;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use state::{Access, Folder, StateError};

use crate::sandbox::{self, Confinement, Exit, Invocation, Kernel, Output, SandboxMode};
use crate::workspace::PathPatterns;
pub use environment::Environment;
use environment::Folders;
pub use error::ScriptError;
pub use interpreter::Interpreters;
use mirror::Mirror;

/// The bytes of a script, proven to be those that were approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovedContent(Vec<u8>);

impl ApprovedContent {
    /// Takes `bytes` if their SHA-256 is `approved`.
    ///
    /// # Errors
    ///
    /// If the bytes are others.
    pub fn new(bytes: Vec<u8>, approved: [u8; 32]) -> Result<Self, ScriptError> {
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        if found == approved {
            Ok(Self(bytes))
        } else {
            Err(ScriptError::Changed { approved, found })
        }
    }
}

/// A script of a skill and what it is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// The skill's folder.
    pub skill: PathBuf,
    /// The script's path in it, under `scripts/`.
    pub path: PathBuf,
    /// What to run.
    pub content: ApprovedContent,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// What it can read from standard input.
    pub stdin: Vec<u8>,
}

/// How many arguments a script may be called with, and how long they may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArgumentLimits {
    /// How many.
    pub count: usize,
    /// Bytes of one.
    pub bytes: usize,
}

impl Default for ArgumentLimits {
    fn default() -> Self {
        Self { count: 64, bytes: 4096 }
    }
}

/// Where and with what scripts run.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The folder a script works in and may write to, without symbolic links on its way.
    pub sandbox: PathBuf,
    /// The folder it may read.
    pub workspace: PathBuf,
    /// What it may not read there, by name; its own skill is open to it.
    pub secrets: PathPatterns,
    /// A folder for the private copy of the script, where scripts cannot write.
    pub private: PathBuf,
    /// What it gets of the environment.
    pub environment: Environment,
    /// What runs it.
    pub interpreters: Interpreters,
    /// What it can be called with.
    pub arguments: ArgumentLimits,
    /// What it may touch besides skill, workspace and sandbox folder, and how much it may use.
    pub confinement: Confinement,
}

/// Runs a script and waits until everything it started is gone.
///
/// Its `$0` and `__file__` name a private copy in a mirror of the skill's folder: every neighbour
/// of the script is there as a link to the skill's own, so imports and relative paths work as in
/// the skill itself.
///
/// # Errors
///
/// If the call is not a valid one, the interpreter is missing, or the sandbox refuses.
pub fn run(
    kernel: &Kernel,
    script: &Script,
    surroundings: &Surroundings,
    output: Output<'_>,
    cancelled: &AtomicBool,
) -> Result<Exit, ScriptError> {
    // Nothing is prepared for what cannot run.
    sandbox::applied(kernel, &surroundings.confinement)?;
    check_path(&script.path)?;
    check_arguments(&script.arguments, surroundings.arguments)?;
    check_not_linked(&surroundings.sandbox)?;
    let (skill, workspace) = (real(&script.skill)?, real(&surroundings.workspace)?);
    let mut confinement = surroundings.confinement.clone();
    confinement.write.push(surroundings.sandbox.clone());
    confinement.read.extend([skill.clone(), workspace.clone()]);
    let path = environment::reachable(&surroundings.environment.path, &confinement.read);
    let command = surroundings.interpreters.command(&script.path, &script.content.0)?;
    let (program, options) = interpreter::locate(&command, &path)?;
    let private = private_folder(&surroundings.private, &confinement.write)?;
    let mirror = Mirror::new(&private, &skill, script)?;
    confinement.read.push(mirror.folder().into());
    let unsearched = close_secrets(&mut confinement, surroundings, &skill, &workspace);
    let temporary = Temporary::new(&surroundings.sandbox)?;
    let folders = Folders {
        path: &path,
        sandbox: &surroundings.sandbox,
        temporary: &temporary.path,
        skill: &skill,
        workspace: &workspace,
    };
    let copy = mirror.script().as_os_str().to_owned();
    let invocation = Invocation {
        program,
        arguments: options.into_iter().chain([copy]).chain(script.arguments.clone()).collect(),
        environment: surroundings.environment.variables(&folders),
        folder: surroundings.sandbox.clone(),
        stdin: script.stdin.clone(),
    };
    let mut exit = sandbox::run(kernel, &confinement, &invocation, output, cancelled)?;
    exit.applied.unsearched = unsearched;
    Ok(exit)
}

/// Closes what the file tools hide in the workspace; answers how many folders were closed because they are
/// too many to be looked through.
fn close_secrets(
    confinement: &mut Confinement,
    surroundings: &Surroundings,
    skill: &Path,
    workspace: &Path,
) -> u64 {
    if confinement.mode == SandboxMode::Off {
        return 0;
    }
    let closed = {
        let granted = confinement.write.iter().map(PathBuf::as_path).chain([skill]);
        let settled: Vec<_> =
            granted.chain(confinement.hidden.iter().map(PathBuf::as_path)).collect();
        closed::find(workspace, &surroundings.secrets, &settled)
    };
    confinement.hidden.extend(closed.paths);
    closed.unsearched
}

fn check_path(path: &Path) -> Result<(), ScriptError> {
    let mut parts = path.components();
    let inside = parts.next() == Some(Component::Normal("scripts".as_ref()));
    let (mut rest, plain) = (parts.clone(), parts.all(|part| matches!(part, Component::Normal(_))));
    if inside && plain && rest.next().is_some() {
        Ok(())
    } else {
        Err(ScriptError::Outside { path: path.into() })
    }
}

fn check_arguments(arguments: &[OsString], limits: ArgumentLimits) -> Result<(), ScriptError> {
    if arguments.len() > limits.count {
        return Err(ScriptError::TooManyArguments { count: arguments.len(), limit: limits.count });
    }
    match arguments.iter().position(|argument| argument.len() > limits.bytes) {
        None => Ok(()),
        Some(index) => Err(ScriptError::ArgumentTooLong {
            position: index + 1,
            bytes: arguments[index].len(),
            limit: limits.bytes,
        }),
    }
}

/// The folder is written to before the sandbox looks at it.
fn check_not_linked(folder: &Path) -> Result<(), ScriptError> {
    if real(folder)? == folder {
        return Ok(());
    }
    Err(ScriptError::Prepare { path: folder.into(), source: io::ErrorKind::InvalidInput.into() })
}

fn private_folder(folder: &Path, writable: &[PathBuf]) -> Result<PathBuf, ScriptError> {
    let folder = real(folder)?;
    if writable.iter().any(|root| folder.starts_with(root)) {
        return Err(ScriptError::CopyWritable { folder });
    }
    Ok(folder)
}

fn real(path: &Path) -> Result<PathBuf, ScriptError> {
    fs::canonicalize(path).map_err(|source| ScriptError::Prepare { path: path.into(), source })
}

/// The folder for temporary files inside the sandbox folder, removed afterwards.
struct Temporary {
    sandbox: Folder,
    path: PathBuf,
}

impl Temporary {
    const NAME: &str = ".tmp";

    /// Makes it anew: whatever an earlier script put in its place is not it.
    fn new(sandbox: &Path) -> Result<Self, ScriptError> {
        let path = sandbox.join(Self::NAME);
        let prepare = |error: StateError| ScriptError::Prepare {
            path: path.clone(),
            source: io::Error::other(error),
        };
        let folder = Folder::open(sandbox).map_err(prepare)?;
        folder.remove_tree(Self::NAME).map_err(prepare)?;
        folder.new_folder(Self::NAME, Access::Private).map_err(prepare)?;
        Ok(Self { sandbox: folder, path })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed stays in the run's own folder and harms nobody.
        let _ = self.sandbox.remove_tree(Self::NAME);
    }
}
