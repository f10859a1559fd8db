//! What can go wrong with a tool, each with a code that the model can act on.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use basics::failure::{Explain, one_line};
use serde_json::{Value, json};

use crate::beneath::IsClosed;
use crate::network::NetworkError;

/// Why a tool could not do it.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The path leads out of where the tools may reach.
    #[error("`{path}` is outside of the workspace and of the selected skills")]
    Outside {
        /// The path.
        path: String,
    },
    /// A link is in the way: the path is not that of the file itself.
    #[error("`{path}` goes through a link")]
    Link {
        /// The path.
        path: String,
    },
    /// The file is one of those that are hidden.
    #[error("`{path}` is hidden because it matches the secret pattern `{pattern}`")]
    Hidden {
        /// The path.
        path: String,
        /// The pattern.
        pattern: String,
    },
    /// The file has a second name, and that one is hidden.
    #[error("`{path}` is a second name of a file that is hidden")]
    HiddenTwin {
        /// The path.
        path: String,
    },
    /// The file has more names than one, and nobody knows whether one of them is hidden.
    #[error(
        "`{path}` has more names than one, and there are too many files to see whether one is hidden"
    )]
    UnknownTwins {
        /// The path.
        path: String,
    },
    /// The file is one of those that are never changed.
    #[error("`{path}` cannot be changed by a tool")]
    ReadOnly {
        /// The path.
        path: String,
    },
    /// The file, or what should be written, is too large.
    #[error("`{path}` has {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// How large it is.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The file is not a text.
    #[error("`{path}` is not a UTF-8 text")]
    NotText {
        /// The path.
        path: String,
    },
    /// The operating system says no.
    #[error("cannot access `{path}`")]
    Io {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// It took too long.
    #[error("the search took longer than {} seconds", limit.as_secs_f32())]
    Timeout {
        /// How long it may take.
        limit: Duration,
    },
    /// The pattern or the glob of a search is wrong.
    #[error("cannot search: {reason}")]
    Pattern {
        /// What is wrong.
        reason: String,
    },
    /// The text that should be replaced is not in the file.
    #[error("`{path}` does not hold the text to be replaced{}", nearest_in_words(nearest))]
    TextMissing {
        /// The path.
        path: String,
        /// Lines that look like it, with their numbers.
        nearest: Vec<(usize, String)>,
    },
    /// The text that should be replaced is in the file more than once.
    #[error("`{path}` holds the text to be replaced {} times, at lines {}", lines.len(), numbers(lines))]
    TextNotUnique {
        /// The path.
        path: String,
        /// Where.
        lines: Vec<usize>,
    },
    /// The network request failed.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

impl ToolError {
    /// Says what an error on a path means.
    pub(crate) fn at(path: &str, source: io::Error) -> Self {
        let path = path.to_owned();
        if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return Self::Link { path };
        }
        if source.get_ref().is_some_and(|error| error.is::<IsClosed>()) {
            return Self::ReadOnly { path };
        }
        Self::Io { path, source }
    }

    /// The error as a result for the model.
    pub fn to_json(&self) -> Value {
        failure(self)
    }
}

impl Explain for ToolError {
    fn code(&self) -> &'static str {
        match self {
            Self::Outside { .. } | Self::Link { .. } => "PathTraversalBlocked",
            Self::Hidden { .. }
            | Self::HiddenTwin { .. }
            | Self::UnknownTwins { .. }
            | Self::ReadOnly { .. } => "ToolNotAllowed",
            Self::TooLarge { .. } => "FileTooLarge",
            Self::NotText { .. } => "NotText",
            Self::Io { .. } => "IOError",
            Self::Timeout { .. } => "Timeout",
            Self::Pattern { .. } | Self::TextMissing { .. } | Self::TextNotUnique { .. } => {
                "InvalidAction"
            }
            Self::Network(error) => error.code(),
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Outside { .. } => "use a path in the workspace or in a selected skill",
            Self::Link { .. } => "use the path of the file that the link points to",
            Self::UnknownTwins { .. } => "work in a smaller folder, or on a copy of the file",
            Self::Hidden { .. } | Self::HiddenTwin { .. } => {
                "do without it; only the user can make it visible, in the configuration"
            }
            Self::ReadOnly { .. } => {
                "write somewhere else in the workspace: skills and the folders of agents and Git stay as they are"
            }
            Self::TooLarge { .. } => "search it with `grep`, or work on a smaller file",
            Self::NotText { .. } => "use a skill's script for files that are not text",
            Self::Io { .. } => "look at what is there with `list_dir`",
            Self::Timeout { .. } => "search a smaller directory, or narrow it with `glob`",
            Self::Pattern { .. } => "correct the pattern; special characters are escaped with `\\`",
            Self::TextMissing { .. } => "read the file again, and give the text exactly as it is there",
            Self::TextNotUnique { .. } => "give more of the text around it, or set `all` to replace every one",
            Self::Network(error) => return error.hint(),
        }
        .into()
    }
}

fn nearest_in_words(nearest: &[(usize, String)]) -> String {
    let lines: Vec<String> =
        nearest.iter().map(|(number, line)| format!("{number}: {line}")).collect();
    if lines.is_empty() {
        String::new()
    } else {
        format!("; the nearest lines are\n{}", lines.join("\n"))
    }
}

fn numbers(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(10).map(ToString::to_string).collect();
    let more = if lines.len() > shown.len() { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// An error as a result for the model, with all its causes in one line.
pub(crate) fn failure(error: &impl Explain) -> Value {
    let (code, message, hint) = (error.code(), one_line(error), error.hint());
    json!({"ok": false, "error": {"code": code, "message": message, "hint": hint}})
}
