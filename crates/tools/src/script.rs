//! Runs a skill's script: the content that was approved, in a clean environment, inside the sandbox, on the
//! workspace as the run sees it.
//!
//! Invariant: what runs is the approved content, whatever happens to the file meanwhile, and it
//! never passes through a shell.

pub(crate) mod environment;
mod error;
pub(crate) mod interpreter;
mod mirror;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::sandbox::{Confinement, Exit, Invocation, Kernel, Output};
use crate::view::{View, ViewPlaces};
use environment::Folders;
pub use environment::{Author, Environment};
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
    /// The script's path in it.
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

/// Where and with what scripts and commands run.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// How they see the workspace, in which they work.
    pub view: Arc<View>,
    /// A folder for the private copy of the script, where scripts cannot write.
    pub private: PathBuf,
    /// What they get of the environment.
    pub environment: Environment,
    /// What runs a script.
    pub interpreters: Interpreters,
    /// What a script can be called with.
    pub arguments: ArgumentLimits,
    /// What they may touch besides skill and workspace, and how much they may use.
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
    let view = &surroundings.view;
    // Nothing is prepared for what cannot run.
    view.applied(kernel, &surroundings.confinement)?;
    check_path(&script.path)?;
    check_arguments(&script.arguments, surroundings.arguments)?;
    let skill = real(&script.skill)?;
    let mut confinement = surroundings.confinement.clone();
    confinement.read.push(skill.clone());
    let path = environment::reachable(&surroundings.environment.path, &confinement.read);
    let command = surroundings.interpreters.command(&script.path, &script.content.0)?;
    let (program, options) = interpreter::locate(&command, &path)?;
    let private = private_folder(&surroundings.private, view, &confinement.write)?;
    let mirror = Mirror::new(&private, &skill, script)?;
    confinement.read.push(mirror.folder().into());
    let copy = mirror.script().as_os_str().to_owned();
    let invocation = Invocation {
        program,
        arguments: options.into_iter().chain([copy]).chain(script.arguments.clone()).collect(),
        environment: surroundings.variables(&path, Some(&skill)),
        folder: view.folder().into(),
        stdin: script.stdin.clone().into(),
    };
    Ok(view.run(kernel, &confinement, &invocation, output, cancelled)?)
}

impl Surroundings {
    /// The whole environment of a program.
    pub(crate) fn variables(
        &self,
        path: &[PathBuf],
        skill: Option<&Path>,
    ) -> Vec<(OsString, OsString)> {
        self.environment.variables(&Folders {
            path,
            home: &self.view.places().home,
            temporary: self.view.temporary(),
            skill,
            workspace: self.view.folder(),
        })
    }
}

/// Inside the skill, and by one name only.
fn check_path(path: &Path) -> Result<(), ScriptError> {
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    // A path that ends in a slash or a dot has fewer parts than it shows.
    let is_exact = path.components().collect::<PathBuf>().as_os_str() == path.as_os_str();
    if is_plain && is_exact && path.components().next().is_some() {
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

fn private_folder(
    folder: &Path,
    view: &View,
    writable: &[PathBuf],
) -> Result<PathBuf, ScriptError> {
    let folder = real(folder)?;
    let ViewPlaces { layer, home, temporary, .. } = view.places();
    if writable.iter().chain([layer, home, temporary]).any(|root| folder.starts_with(root)) {
        return Err(ScriptError::CopyWritable { folder });
    }
    Ok(folder)
}

pub(crate) fn real(path: &Path) -> Result<PathBuf, ScriptError> {
    fs::canonicalize(path).map_err(|source| ScriptError::Prepare { path: path.into(), source })
}
