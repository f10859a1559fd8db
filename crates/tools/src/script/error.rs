//! Why a script could not be run.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use basics::failure::Explain;
use basics::sha256::hex;

use crate::sandbox::SandboxError;

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
    /// The path leads out of the folder that it is in.
    #[error("`{path}` is not a path inside its folder")]
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

impl Explain for ScriptError {
    fn code(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "PathTraversalBlocked",
            Self::Changed { .. } => "SkillChanged",
            Self::Prepare { .. } | Self::CopyWritable { .. } => "IOError",
            Self::Sandbox(error) => error.code(),
            _ => "InvalidAction",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Changed { .. } => "look at the change and approve the script again",
            Self::Outside { .. } => "give a path inside the folder, such as `scripts/report.py`",
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
            Self::Prepare { .. } => "check that the skill's folder exists and can be read",
            Self::Sandbox(error) => return error.hint(),
        }
        .into()
    }
}
