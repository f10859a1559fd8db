//! Runs a skill's script: the content that was approved, in a clean environment, inside the sandbox.
//!
//! Invariant: what runs is the approved content, whatever happens to the file meanwhile, and it never passes
//! through a shell.

mod environment;
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

use crate::sandbox::{self, Confinement, Exit, Invocation, Kernel, Output, SandboxError};
pub use environment::Environment;
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

/// Why a script could not be run; unless the sandbox says otherwise, nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The content is not what was approved.
    #[error(
        "the script has changed since it was approved (SHA-256 {} became {})",
        hex(approved),
        hex(found)
    )]
    Changed {
        /// The hash of what was approved.
        approved: [u8; 32],
        /// The hash of what is there.
        found: [u8; 32],
    },
    /// The path is not one under `scripts/`.
    #[error("`{path}` is not a path under the skill's `scripts/`")]
    Outside {
        /// The path.
        path: PathBuf,
    },
    /// Too many arguments.
    #[error("{count} arguments, at most {limit} are allowed")]
    TooManyArguments {
        /// How many were given.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// An argument is too long.
    #[error("argument {position} has {bytes} bytes, at most {limit} are allowed")]
    ArgumentTooLong {
        /// Which one, from 1.
        position: usize,
        /// Its length.
        bytes: usize,
        /// The longest allowed.
        limit: usize,
    },
    /// Neither the first line nor the extension names an interpreter.
    #[error("no interpreter is known for `{path}`")]
    NoInterpreter {
        /// The script.
        path: PathBuf,
    },
    /// The interpreter is not installed where scripts can reach it.
    #[error("the interpreter `{name}` was not found")]
    InterpreterNotFound {
        /// Its name.
        name: String,
    },
    /// The private copy of the script would lie where scripts can write.
    #[error("the folder for private copies, `{folder}`, is writable for scripts")]
    CopyWritable {
        /// The folder.
        folder: PathBuf,
    },
    /// The files around the script could not be prepared.
    #[error("cannot prepare `{path}`")]
    Prepare {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The sandbox could not run it.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

impl ScriptError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "look at the change and approve the script again",
            Self::Outside { .. } => "name a file under `scripts/`, such as `scripts/report.py`",
            Self::TooManyArguments { .. } | Self::ArgumentTooLong { .. } => {
                "pass large inputs through standard input or a file in the workspace"
            }
            Self::NoInterpreter { .. } => {
                "begin the script with a `#!` line or add its extension to `execution.interpreters`"
            }
            Self::InterpreterNotFound { .. } => {
                "install it system-wide, or add its folder to `PATH` and to the readable paths"
            }
            Self::CopyWritable { .. } => "grant less for writing, or keep private copies elsewhere",
            Self::Prepare { .. } => {
                "check that the skill and the sandbox folder exist, that no symbolic link is on the sandbox folder's path, and that there is space"
            }
            Self::Sandbox(error) => error.hint(),
        }
    }
}

fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a script and waits until everything it started is gone.
///
/// Its `$0` and `__file__` name a private copy in a mirror of the skill's folder: every neighbour of the
/// script is there as a link to the skill's own, so imports and relative paths work as in the skill itself.
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
    check_path(&script.path)?;
    check_arguments(&script.arguments, surroundings.arguments)?;
    check_not_linked(&surroundings.sandbox)?;
    let skill = real(&script.skill)?;
    let workspace = real(&surroundings.workspace)?;
    let mut confinement = surroundings.confinement.clone();
    confinement.write.push(surroundings.sandbox.clone());
    confinement.read.extend([skill.clone(), workspace.clone()]);
    let path = environment::reachable(&surroundings.environment.path, &confinement.read);
    let command = surroundings.interpreters.command(&script.path, &script.content.0)?;
    let (program, options) = interpreter::locate(&command, &path)?;
    let mirror =
        Mirror::new(&private_folder(&surroundings.private, &confinement.write)?, &skill, script)?;
    confinement.read.push(mirror.folder().into());
    let temporary = Temporary::new(&surroundings.sandbox)?;
    let invocation = Invocation {
        program,
        arguments: options
            .into_iter()
            .chain([mirror.script().as_os_str().to_owned()])
            .chain(script.arguments.iter().cloned())
            .collect(),
        environment: surroundings.environment.variables(&environment::Folders {
            path: &path,
            sandbox: &surroundings.sandbox,
            temporary: &temporary.0,
            skill: &skill,
            workspace: &workspace,
        }),
        folder: surroundings.sandbox.clone(),
        stdin: script.stdin.clone(),
    };
    Ok(sandbox::run(kernel, &confinement, &invocation, output, cancelled)?)
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
struct Temporary(PathBuf);

impl Temporary {
    fn new(sandbox: &Path) -> Result<Self, ScriptError> {
        let path = sandbox.join(".tmp");
        match fs::create_dir(&path) {
            Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(ScriptError::Prepare { path, source })
            }
            _ => Ok(Self(path)),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed stays in the run's own folder and harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}
