//! What can be said of a skill without its files: where it comes from, where it runs, how it is listed, what was
//! handed over.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sha256::Sha256;

/// Where a skill comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// A folder the user named.
    Explicit,
    /// The repository being worked on.
    Project,
    /// The user's home directory.
    User,
    /// Inside the program.
    Builtin,
}

impl Source {
    /// All sources, the strongest first.
    pub const ALL: [Self; 4] = [Self::Explicit, Self::Project, Self::User, Self::Builtin];

    /// The word for it in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Project => "project",
            Self::User => "user",
            Self::Builtin => "builtin",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where a skill runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    /// In the conversation that selected it.
    #[default]
    Inline,
    /// In a child run with its own context and budget.
    Subagent,
}

/// How the list of skills is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CatalogFormat {
    /// A line a skill.
    #[default]
    Lines,
    /// `<available_skills>`, as the open standard shows it.
    Xml,
    /// A JSON object.
    Json,
}

/// Something worth telling about a skill that does not keep it out of the index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnostic {
    /// A stable name, such as `repaired-yaml`.
    pub code: String,
    /// One line for people.
    pub message: String,
}

impl Diagnostic {
    /// A diagnostic with its two parts.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// How a text is cut down to what is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrimStrategy {
    /// Not at all: it is whole.
    None,
    /// To the opening and the most essential sections of a body.
    Sections,
    /// To the section that was asked for.
    Section,
    /// To the beginning or the overview of a file, and a list of its headings.
    Outline,
    /// To its beginning.
    Beginning,
}

/// What was read and what was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadReport {
    /// The file, relative to the skill.
    pub path: String,
    /// Bytes read from it.
    pub bytes_read: u64,
    /// Characters handed over.
    pub chars_returned: usize,
    /// Whether something was left out.
    pub truncated: bool,
    /// Of the whole file.
    pub file_sha256: Sha256,
    /// Of the text handed over; empty where bytes were.
    #[serde(default, with = "crate::sha256::or_empty")]
    #[schemars(with = "String")]
    pub text_sha256: Option<Sha256>,
    /// How the text was cut; earlier versions did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim_strategy: Option<TrimStrategy>,
    /// Files of the skill that the whole text names; earlier versions did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referenced_files: Option<Vec<String>>,
    /// Headings of sections that were left out.
    pub dropped_sections: Vec<String>,
    /// Where the whole text is kept, once somebody keeps it.
    pub storage_ref: Option<String>,
    /// What was noticed.
    pub diagnostics: Vec<Diagnostic>,
}

impl LoadReport {
    /// For a whole file that was read.
    pub fn of_file(path: &str, bytes: &[u8]) -> Self {
        Self {
            path: path.to_owned(),
            bytes_read: bytes.len() as u64,
            chars_returned: 0,
            truncated: false,
            file_sha256: Sha256::of(bytes),
            text_sha256: None,
            trim_strategy: None,
            referenced_files: None,
            dropped_sections: Vec::new(),
            storage_ref: None,
            diagnostics: Vec::new(),
        }
    }
}
