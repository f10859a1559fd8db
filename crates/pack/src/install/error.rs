//! Why an installation was not changed.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use serde_json::Value;
use skill::lock::LockError;

use crate::check::CheckError;
use crate::refusal::Refusal;

/// Why an installation was not changed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The pack is not taken.
    #[error(transparent)]
    Check(#[from] CheckError),
    /// The lockfile cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something is in the way.
    #[error("`{name}` already exists: `{}`", path.display())]
    Exists {
        /// The skill.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// The folder of that name is something else than a skill.
    #[error("`{}` is in the way and is not a skill", path.display())]
    InTheWay {
        /// The folder.
        path: PathBuf,
    },
    /// There is no such skill.
    #[error("`{name}` is not in `{}`", root.display())]
    NotThere {
        /// The skill.
        name: String,
        /// The folder of skills.
        root: PathBuf,
    },
    /// There is nothing to bring back.
    #[error("`{}` has no old copy of `{name}`", root.display())]
    NothingKept {
        /// The skill.
        name: String,
        /// The folder of skills.
        root: PathBuf,
    },
    /// What the user put into a skill cannot be taken over.
    #[error("`{}` is not a file, so the update cannot keep it", path.display())]
    NotAFile {
        /// What is there.
        path: PathBuf,
    },
    /// What must be a folder is a link, or something else; through it nothing is moved or removed.
    #[error("`{}` must be a folder", path.display())]
    NotAFolder {
        /// What is there.
        path: PathBuf,
    },
    /// A link leads from the project's folder of skills out of the project.
    #[error("`{}` leads outside the project", path.display())]
    OutsideProject {
        /// The folder of skills.
        path: PathBuf,
    },
    /// It lies on another device, so that it cannot be moved at once.
    #[error("`{}` is on another device than the skill folder", path.display())]
    OtherDevice {
        /// The folder.
        path: PathBuf,
    },
    /// An earlier installation was interrupted and cannot be finished.
    #[error("cannot finish the interrupted change in `{}`: {reason}", path.display())]
    Interrupted {
        /// Its staging area.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The system refused.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What could not be done.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl From<Refusal> for InstallError {
    fn from(refusal: Refusal) -> Self {
        Self::Check(refusal.into())
    }
}

/// Says what was being done.
pub(super) trait Doing<T> {
    fn doing(self, what: &'static str, path: &Path) -> Result<T, InstallError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: &'static str, path: &Path) -> Result<T, InstallError> {
        self.map_err(|source| InstallError::Io { what, path: path.to_owned(), source })
    }
}

impl Explain for InstallError {
    fn exit(&self) -> Exit {
        match self {
            Self::Check(error) => error.exit(),
            Self::Lock(error) => error.exit(),
            _ => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Check(error) => error.code(),
            Self::Lock(error) => error.code(),
            Self::Exists { .. } => "AlreadyInstalled",
            Self::InTheWay { .. } => "InTheWay",
            Self::NotThere { .. } => "NotInstalled",
            Self::NothingKept { .. } => "NothingKept",
            Self::NotAFile { .. } => "NotAFile",
            Self::NotAFolder { .. } => "NotAFolder",
            Self::OutsideProject { .. } => "OutsideProject",
            Self::OtherDevice { .. } => "OtherDevice",
            Self::Interrupted { .. } => "InterruptedInstall",
            Self::Io { .. } => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Check(error) => return error.hint(),
            Self::Io { .. } => "nothing was changed; check permissions and free space",
            Self::Lock(error) => return error.hint(),
            Self::Exists { .. } => "use --backup to keep the old one, or --force to replace it",
            Self::InTheWay { .. } => "move the folder away",
            Self::NotThere { .. } => {
                "`skillful list` shows every skill; --scope chooses another place"
            }
            Self::NothingKept { .. } => {
                "you can restore only skills that were uninstalled or backed up"
            }
            Self::NotAFile { .. } => {
                "remove it, or use --force, which puts the old skill into .backup"
            }
            Self::NotAFolder { .. } => "check where it leads, then remove it",
            Self::OutsideProject { .. } => "replace the link with a folder, or use --scope user",
            Self::OtherDevice { .. } => "unmount it, or install into another folder",
            Self::Interrupted { .. } => "check the folder, then remove it",
        }
        .into()
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Check(error) => error.details(),
            _ => None,
        }
    }
}
