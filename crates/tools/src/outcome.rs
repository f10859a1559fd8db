//! What a tool returns: a result for the model, and the whole of it for the records.

use std::io;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::network::NetworkError;

/// What a tool did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it found, for the model; cut to the limit.
    pub content: Option<String>,
    /// Facts about it, each a key of the result.
    pub facts: Map<String, Value>,
    /// Whether the model sees less than the whole.
    pub truncated: bool,
    /// The SHA-256, in hexadecimal, of the file it is about, or of the whole result.
    pub sha256: String,
    /// The whole, when the model does not see all of it: the caller stores it.
    pub full: Option<Vec<u8>>,
}

impl Outcome {
    /// A result of which the model sees as much as the limit lets it.
    pub(crate) fn text(whole: String, limit: usize, facts: Value) -> Self {
        let sha256 = sha256(whole.as_bytes());
        match shortened(&whole, limit).map(str::to_owned) {
            None => Self { content: Some(whole), ..Self::done(sha256, facts) },
            Some(shown) => Self::shown(shown, whole.into_bytes(), facts),
        }
    }

    /// A result of which the model sees only a part.
    pub(crate) fn shown(part: String, whole: Vec<u8>, facts: Value) -> Self {
        let sha256 = sha256(&whole);
        Self {
            content: Some(part),
            truncated: true,
            full: Some(whole),
            ..Self::done(sha256, facts)
        }
    }

    /// A result without anything to read.
    pub(crate) fn done(sha256: String, facts: Value) -> Self {
        let facts = match facts {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self { content: None, facts, truncated: false, sha256, full: None }
    }

    /// The result for the model: `{ok, …, truncated, sha256, storage_ref}`.
    pub fn to_json(&self, storage_ref: Option<&str>) -> Value {
        let mut result = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
        result.extend(self.facts.clone());
        if let Some(content) = &self.content {
            result.insert("content".to_owned(), content.as_str().into());
        }
        result.insert("truncated".to_owned(), self.truncated.into());
        result.insert("sha256".to_owned(), self.sha256.as_str().into());
        result.insert("storage_ref".to_owned(), storage_ref.into());
        Value::Object(result)
    }
}

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
    #[error("cannot access `{path}`: {source}")]
    Io {
        /// The path.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// What was there before could not be recorded, so nothing was changed.
    #[error(
        "`{path}` was left as it is, because its previous content could not be recorded: {source}"
    )]
    NotRecorded {
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
    /// The file is not what this program made it, so undoing would lose somebody's work.
    #[error("`{path}` has been changed since")]
    Changed {
        /// The path.
        path: String,
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
        Self::Io { path, source }
    }

    /// The code for observations.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Outside { .. } | Self::Link { .. } => "PathTraversalBlocked",
            Self::Hidden { .. } | Self::ReadOnly { .. } => "ToolNotAllowed",
            Self::TooLarge { .. } => "FileTooLarge",
            Self::NotText { .. } => "NotText",
            Self::Io { .. } | Self::NotRecorded { .. } => "IOError",
            Self::Timeout { .. } => "Timeout",
            Self::Pattern { .. } => "InvalidAction",
            Self::Changed { .. } => "FileChanged",
            Self::Network(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "use a path in the workspace or in a selected skill",
            Self::Link { .. } => "use the path of the file that the link points to",
            Self::Hidden { .. } => {
                "do without it; only the user can make it visible, in the configuration"
            }
            Self::ReadOnly { .. } => "write somewhere else in the workspace",
            Self::TooLarge { .. } => "search it with `grep`, or work on a smaller file",
            Self::NotText { .. } => "use a skill's script for files that are not text",
            Self::Io { .. } => "look at what is there with `list_dir`",
            Self::NotRecorded { .. } => "check that the disk has room",
            Self::Timeout { .. } => "search a smaller directory, or narrow it with `glob`",
            Self::Pattern { .. } => "correct the pattern; special characters are escaped with `\\`",
            Self::Changed { .. } => "compare it with the recorded content and decide by hand",
            Self::Network(error) => error.hint(),
        }
    }

    /// The error as a result for the model.
    pub fn to_json(&self) -> Value {
        json!({"ok": false, "error": {"code": self.code(), "message": self.to_string(), "hint": self.hint()}})
    }
}

/// The SHA-256 of bytes, in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The beginning of a text that is too long, up to the end of a line if there is one.
pub(crate) fn shortened(text: &str, limit: usize) -> Option<&str> {
    if text.len() <= limit {
        return None;
    }
    let start = &text[..text.floor_char_boundary(limit)];
    Some(start.rfind('\n').map_or(start, |end| &start[..=end]))
}
