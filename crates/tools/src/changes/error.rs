//! What can go wrong with change sets.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use basics::failure::{Exit, Explain};
use serde_json::{Value, json};

use super::conflict::Conflict;
use super::path::LayerPath;
use super::rules::Reason;

/// Why changes could not be collected, applied or taken back.
#[derive(Debug, thiserror::Error)]
pub enum ChangesError {
    /// The operating system says no.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of this program's own could not be read or written.
    #[error(transparent)]
    State(#[from] state::StateError),
    /// The run has written more than it may.
    #[error("the run changed more than {limit} {what}")]
    TooLarge {
        /// Files, bytes or deleted files.
        what: &'static str,
        /// How many there may be.
        limit: u64,
    },
    /// Somebody else changed the same files.
    #[error("somebody else changed {}", listed(conflicts.iter().map(|conflict| &conflict.path)))]
    Conflict {
        /// Each of them.
        conflicts: Vec<Conflict>,
    },
    /// A file is not what was shown, so nothing was applied.
    #[error("`{path}` is not what was shown: nothing was applied")]
    Changed {
        /// The file.
        path: LayerPath,
    },
    /// A change that is never applied.
    #[error("`{path}` is not applied: {reason}")]
    Held {
        /// The file.
        path: LayerPath,
        /// Why.
        reason: Reason,
    },
    /// A file cannot be moved into place from where it was staged.
    #[error("`{path}` is on another file system than the run's folder")]
    OtherFileSystem {
        /// The file.
        path: LayerPath,
    },
    /// No change has such a path.
    #[error("the run did not change `{path}`")]
    NotChanged {
        /// The path.
        path: LayerPath,
    },
    /// What was kept for an undo is not what it was, or the list of it is none.
    #[error("`{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// There is nothing to take back under this number.
    #[error("there are no applied changes with the number {number}")]
    NotApplied {
        /// The number.
        number: u32,
    },
    /// Somebody changed files while they were being applied, and not all could be put back.
    #[error("some files could not be put back: {}", listed(paths.iter()))]
    HalfWay {
        /// The files.
        paths: Vec<LayerPath>,
        /// Where their other version is.
        kept: PathBuf,
    },
}

/// The first few paths.
fn listed<'a>(paths: impl ExactSizeIterator<Item = &'a LayerPath>) -> String {
    let count = paths.len();
    let shown: Vec<String> = paths.take(3).map(|path| format!("`{path}`")).collect();
    match count - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Says what was being done to which file.
pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, ChangesError>;
}

impl<T, E: Into<io::Error>> Doing<T> for Result<T, E> {
    fn doing(self, doing: &'static str, path: impl AsRef<Path>) -> Result<T, ChangesError> {
        self.map_err(|source| ChangesError::Io {
            doing,
            path: path.as_ref().to_owned(),
            source: source.into(),
        })
    }
}

impl Explain for ChangesError {
    fn exit(&self) -> Exit {
        match self {
            Self::Held { .. } => Exit::Refused,
            Self::NotChanged { .. } | Self::NotApplied { .. } => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } | Self::State(_) | Self::OtherFileSystem { .. } => "IOError",
            Self::TooLarge { .. } => "LayerTooLarge",
            Self::Conflict { .. } | Self::HalfWay { .. } => "Conflict",
            Self::Changed { .. } => "FileChanged",
            Self::Held { .. } => "ChangeHeldBack",
            Self::NotChanged { .. } | Self::NotApplied { .. } => "NotFound",
            Self::Damaged { .. } => "DamagedRecord",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Io { .. } | Self::State(_) => "check the file's owner and that the disk has room",
            Self::TooLarge { .. } => {
                "let the run write less, or raise the limit in your configuration"
            }
            Self::Conflict { .. } => {
                "look at both versions, then choose: yours (`--theirs`), the run's (`--ours`) or a merge"
            }
            Self::Changed { .. } => "look at the changes again, then apply them",
            Self::Held { .. } => "make this change by hand if you want it",
            Self::OtherFileSystem { .. } => "apply to another folder and copy from there",
            Self::NotChanged { .. } => "list what the run changed and use a path from there",
            Self::Damaged { .. } => "compare with the recorded content and decide by hand",
            Self::NotApplied { .. } => "list what was applied",
            Self::HalfWay { kept, .. } => {
                return format!("the other version of each is kept in `{}`", kept.display()).into();
            }
        }
        .into()
    }

    fn details(&self) -> Option<Value> {
        match self {
            Self::Conflict { conflicts } => Some(json!({"conflicts": conflicts})),
            Self::HalfWay { paths, kept } => Some(json!({"paths": paths, "kept": kept})),
            _ => None,
        }
    }
}
