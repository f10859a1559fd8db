//! Handing over what a skill holds: its body when it is selected, its files one at a time.
//!
//! Invariant: only the file that was asked for is handed over, read through one open handle beneath the
//! skill's folder. What was checked is what is read.
//! Invariant: of a skill that was trusted by its content, nothing is handed over unless all of it is still that.

mod body;
mod content;
mod files;
mod injection;
mod links;
mod references;
mod resource;
mod seal;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use basics::failure::{Exit, Explain};
use basics::inner_path::NotInner;
use basics::skill::LoadReport;
use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::content_hash::ContentHash;
use crate::frontmatter::FrontmatterError;
pub use body::{Body, load_body, load_frontmatter};
pub use content::{Content, CopyError, Gap, check_trusted};
pub use files::{Files, SkillFile};
pub use injection::{FileList, injection};
pub use resource::load_resource;

/// Bounds of what is handed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Lines of a body.
    pub body_lines: usize,
    /// Characters of a body.
    pub body_chars: usize,
    /// What happens to a longer body.
    pub oversize: Oversize,
    /// Bytes of a file.
    pub file_bytes: u64,
    /// Characters of an excerpt.
    pub excerpt_chars: usize,
    /// Whether content is held to what was installed.
    pub verify: VerifyOnLoad,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_lines: 500,
            body_chars: 40_000,
            oversize: Oversize::Trim,
            file_bytes: 2_000_000,
            excerpt_chars: 12_000,
            verify: VerifyOnLoad::Warn,
        }
    }
}

/// What happens to a body over the limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Oversize {
    /// It is cut down to its essential sections.
    #[default]
    Trim,
    /// It is refused.
    Reject,
}

/// What happens when a file differs from what was installed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VerifyOnLoad {
    /// It is handed over, and the report says so.
    #[default]
    Warn,
    /// It is refused.
    Require,
    /// Nobody looks.
    Off,
}

/// Text for a model, with its report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// What the model may see.
    pub text: String,
    /// How it came about.
    pub report: LoadReport,
    /// The whole text where `text` is only a part of it, for the caller to keep.
    pub full: Option<String>,
}

/// Why something cannot be handed over.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The skill's folder or its `SKILL.md` is gone.
    #[error("Skill '{name}' not found.")]
    SkillNotFound {
        /// The skill's name.
        name: String,
    },
    /// The frontmatter is refused now, whatever it was when the index was built.
    #[error("the frontmatter of `{name}` is refused")]
    InvalidFrontmatter {
        /// The skill's name.
        name: String,
        /// Why.
        source: FrontmatterError,
    },
    /// The text behind the frontmatter is none.
    #[error("the body of `{name}` is not UTF-8")]
    BodyNotUtf8 {
        /// The skill's name.
        name: String,
    },
    /// The path would lead out of the skill.
    #[error("`{path}` is refused: {reason}", path = for_terminal(path))]
    PathTraversalBlocked {
        /// The path.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// The file is over the limit.
    #[error("`{path}` has {bytes} bytes, the limit is {limit}", path = for_terminal(path))]
    FileTooLarge {
        /// The path.
        path: String,
        /// Its size.
        bytes: u64,
        /// The number of bytes allowed.
        limit: u64,
    },
    /// There is no such chunk.
    #[error("Chunk '{id}' not found in skill '{name}'.", id = for_terminal(id))]
    ChunkNotFound {
        /// The chunk.
        id: String,
        /// The skill's name.
        name: String,
    },
    /// The file is not text.
    #[error("`{path}` is not a text file", path = for_terminal(path))]
    NotText {
        /// The path.
        path: String,
    },
    /// The body is over the limit and may not be cut.
    #[error(
        "the body of `{name}` has {lines} lines and {chars} characters, the limits are {limit_lines} and {limit_chars}"
    )]
    BodyTooLarge {
        /// The skill's name.
        name: String,
        /// Its lines.
        lines: usize,
        /// Its characters.
        chars: usize,
        /// The number of lines allowed.
        limit_lines: usize,
        /// The number of characters allowed.
        limit_chars: usize,
    },
    /// It is not what was installed.
    #[error("`{path}` is refused: {reason}", path = for_terminal(path))]
    Modified {
        /// The path, or the skill's name.
        path: String,
        /// What is different.
        reason: String,
    },
    /// It is not what the user trusted.
    #[error(
        "the skill `{name}` has changed since you trusted it{reason}",
        reason = gap.as_ref().map(|gap| format!(": {gap}")).unwrap_or_default()
    )]
    Changed {
        /// The skill's name.
        name: String,
        /// Why it cannot even be compared.
        gap: Option<Gap>,
    },
    /// The system refused.
    #[error("`{path}` cannot be read", path = for_terminal(path))]
    Io {
        /// The path.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl LoadError {
    fn io(path: &str, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

impl From<NotInner> for LoadError {
    fn from(error: NotInner) -> Self {
        Self::PathTraversalBlocked { path: error.path, reason: error.reason }
    }
}

impl Explain for LoadError {
    fn exit(&self) -> Exit {
        match self {
            Self::Modified { .. } | Self::Changed { .. } => Exit::Refused,
            _ => Exit::Failed,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::SkillNotFound { .. } => "SkillNotFound",
            Self::InvalidFrontmatter { .. } => "InvalidFrontmatter",
            Self::PathTraversalBlocked { .. } => "PathTraversalBlocked",
            Self::FileTooLarge { .. } => "FileTooLarge",
            Self::ChunkNotFound { .. } => "ChunkNotFound",
            Self::NotText { .. } | Self::BodyNotUtf8 { .. } => "NotText",
            Self::BodyTooLarge { .. } => "BodyTooLarge",
            Self::Modified { .. } => "SkillModified",
            Self::Changed { .. } => "SkillChanged",
            Self::Io { .. } => "IOError",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::SkillNotFound { .. } => "choose a name from the catalog, or search for one",
            Self::InvalidFrontmatter { source, .. } => return source.hint(),
            Self::BodyNotUtf8 { .. } => return FrontmatterError::NotUtf8.hint(),
            Self::PathTraversalBlocked { .. } => {
                "name a regular file inside the skill's folder by its relative path"
            }
            Self::FileTooLarge { .. } => {
                "split the file, or raise `security.max_resource_file_bytes`"
            }
            Self::ChunkNotFound { .. } => "choose an id from the skill's list of available chunks",
            Self::NotText { .. } => "only text files can be read; a script can process this one",
            Self::BodyTooLarge { .. } => {
                "move details to files under references/ and name them in the body"
            }
            Self::Modified { .. } => {
                "`skillful verify` names what differs; installing it again brings back what was there"
            }
            Self::Changed { .. } => {
                "the user must look at it first (`skillful inspect NAME`), then `skillful trust project NAME`"
            }
            Self::Io { .. } => "check that the file exists and can be read",
        }
        .into()
    }
}
