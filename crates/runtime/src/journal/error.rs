//! Why a record cannot be read or written.

use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use basics::run_id::InvalidRunId;
use state::StateError;

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It is not a name.
    #[error(transparent)]
    Name(#[from] InvalidRunId),
    /// There is already a run of this name.
    #[error("there is already a run `{run_id}`")]
    Exists {
        /// The run.
        run_id: String,
    },
    /// There is no such run.
    #[error("there is no run in `{}`", folder.display())]
    NotFound {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// Another process writes it.
    #[error("another process is working on the run `{run_id}`")]
    Locked {
        /// The run.
        run_id: String,
    },
    /// The disk does not do what it should, or something is there that this program never puts there.
    #[error(transparent)]
    State(#[from] StateError),
    /// An earlier write failed, so that nothing can be added safely.
    #[error("the record in `{}` cannot continue after a failed write", folder.display())]
    Incomplete {
        /// The run's folder.
        folder: PathBuf,
    },
    /// It is not what was written.
    #[error("the record in `{}` is damaged at event {seq}: {message}", folder.display())]
    Damaged {
        /// The run's folder.
        folder: PathBuf,
        /// The event.
        seq: u64,
        /// What is wrong.
        message: String,
    },
    /// What is kept beside the events is not what was written.
    #[error("`{name}` of the record changed after it was saved")]
    Changed {
        /// The file, relative to the run's folder.
        name: String,
    },
    /// Its events hold more than a record of this program does.
    #[error("the events in `{}` need too much memory", folder.display())]
    TooHeavy {
        /// The run's folder.
        folder: PathBuf,
    },
    /// Somebody else made it.
    #[error("run `{run_id}` was not made here, so you cannot resume or undo it")]
    Foreign {
        /// The run.
        run_id: String,
    },
    /// It is not the one that was continued.
    #[error("run `{run_id}` changed after it was continued")]
    OtherEnd {
        /// The run.
        run_id: String,
    },
    /// It could not be read back.
    #[error("an event is nested more than {limit} levels deep")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
    },
    /// A child run cannot be taken up where it was left.
    #[error("cannot continue the child run `{run_id}`")]
    Child {
        /// The child run.
        run_id: String,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl JournalError {
    /// For `map_err`: what was tried, and with what.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::State(StateError { doing, path, cause: error.into() })
    }
}

impl Explain for JournalError {
    fn exit(&self) -> Exit {
        match self {
            Self::Damaged { .. }
            | Self::Changed { .. }
            | Self::TooHeavy { .. }
            | Self::OtherEnd { .. }
            | Self::Foreign { .. } => Exit::Refused,
            Self::State(error) => error.exit(),
            _ => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "RunNotFound",
            Self::Locked { .. } => "RunLocked",
            Self::Damaged { .. }
            | Self::Changed { .. }
            | Self::OtherEnd { .. }
            | Self::TooHeavy { .. } => "RecordDamaged",
            Self::Foreign { .. } => "RecordForeign",
            Self::State(error) => error.code(),
            _ => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Name(_) | Self::NotFound { .. } => "`skillful runs list` shows all runs",
            Self::Exists { .. } => "try again",
            Self::Locked { run_id } => {
                return format!(
                    "wait until it ends, or watch it with `skillful runs show {run_id} --follow`"
                )
                .into();
            }
            Self::State(error) => return error.hint(),
            Self::Incomplete { .. } => {
                "check that the disk has space and that the folder belongs to you"
            }
            Self::Damaged { .. } | Self::Changed { .. } | Self::OtherEnd { .. } => {
                "`skillful runs verify RUN` shows every change"
            }
            Self::TooHeavy { .. } => "Skillful never writes so much there: remove it",
            Self::Foreign { run_id } => {
                return format!(
                    "look at it with `skillful runs show {run_id}`, then run `skillful runs adopt {run_id}`"
                )
                .into();
            }
            Self::TooDeep { .. } => "do not nest parameters that deep",
            Self::Child { .. } => "another version of Skillful wrote it: start a new run",
        }
        .into()
    }
}
