//! The params of each tool, as the model writes them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};

use crate::Tool;

/// Read a text file, or some of its lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    /// The file: a path in the workspace, or `skill://NAME/PATH` for a file of a selected skill.
    pub path: String,
    /// The first line to read, counted from 1.
    #[serde(default = "one")]
    pub first_line: u64,
    /// How many lines to read; all of them if not given.
    #[serde(default)]
    pub lines: Option<u64>,
}

/// List a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDir {
    /// The directory: a path in the workspace, or `skill://NAME/PATH` in a selected skill.
    #[serde(default = "here")]
    pub path: String,
    /// How many levels to list; 1 is the directory itself.
    #[serde(default = "one")]
    pub depth: u64,
}

/// Search files for a regular expression, line by line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    /// The regular expression.
    pub pattern: String,
    /// The file or directory to search: a path in the workspace, or `skill://NAME/PATH`.
    #[serde(default = "here")]
    pub path: String,
    /// Only files that match this glob, for example `*.rs` or `!tests/**`.
    #[serde(default)]
    pub glob: Option<String>,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// Whether to search files whose names begin with a dot.
    #[serde(default)]
    pub include_hidden: bool,
    /// Whether to search what `.gitignore` excludes.
    #[serde(default)]
    pub include_ignored: bool,
}

/// Write a file: create it or replace all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    /// The file: a path in the workspace.
    pub path: String,
    /// The whole new content.
    pub content: String,
}

/// Replace an exact text in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file: a path in the workspace.
    pub path: String,
    /// The exact text to be replaced.
    pub old: String,
    /// What stands there afterwards.
    pub new: String,
    /// Whether every place is replaced, and not exactly one.
    #[serde(default)]
    pub all: bool,
}

/// Run a command with the shell, in the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// The command.
    pub command: String,
    /// x
    #[serde(default)]
    pub folder: Option<String>,
    /// x
    #[serde(default)]
    pub stdin: Option<String>,
    /// x
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// x
    #[serde(default)]
    pub background: bool,
    /// x
    #[serde(default)]
    pub needs: Option<Needs>,
    /// x
    #[serde(default)]
    pub why: Option<String>,
}

/// x
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Needs {
    /// x
    pub network: Vec<String>,
    /// x
    pub secrets: Vec<String>,
}

/// Look at a command in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandOutput {
    /// x
    pub id: String,
    /// x
    #[serde(default)]
    pub wait_seconds: Option<u64>,
}

/// Write to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandInput {
    /// x
    pub id: String,
    /// x
    pub text: String,
    /// x
    #[serde(default)]
    pub end: bool,
}

/// End it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandStop {
    /// x
    pub id: String,
}

/// Delete a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFile {
    /// The file: a path in the workspace.
    pub path: String,
}

/// Send an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkRequest {
    /// An `http` or `https` address.
    pub url: String,
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// Headers to send.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body of a `POST`.
    #[serde(default)]
    pub body: Option<String>,
}

/// The HTTP methods there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "they are called what they are")]
pub enum Method {
    #[default]
    Get,
    Head,
    Post,
}

fn one() -> u64 {
    1
}

fn here() -> String {
    ".".to_owned()
}

impl NetworkRequest {
    /// The address without what comes after its `?`, for rules.
    pub fn address(url: &str) -> &str {
        url.split(['?', '#']).next().unwrap_or_default()
    }

    /// What it does, as a phrase that begins with a verb.
    pub fn effect(&self) -> String {
        match (self.method, &self.body) {
            (Method::Get, _) => format!("fetches `{}` over the network", self.url),
            (Method::Head, _) => format!("fetches the headers of `{}` over the network", self.url),
            (Method::Post, body) => {
                let size = body.as_ref().map_or(0, String::len);
                format!("sends {size} bytes to `{}` over the network", self.url)
            }
        }
    }
}

impl Tool {
    /// The JSON Schema of its `params`; nothing for scripts, which have an action of their own.
    pub fn params_schema(self) -> Option<Schema> {
        match self {
            Self::ReadFile => Some(schema_for!(ReadFile)),
            Self::ListDir => Some(schema_for!(ListDir)),
            Self::Grep => Some(schema_for!(Grep)),
            Self::WriteFile => Some(schema_for!(WriteFile)),
            Self::DeleteFile => Some(schema_for!(DeleteFile)),
            Self::NetworkRequest => Some(schema_for!(NetworkRequest)),
            Self::EditFile => Some(schema_for!(EditFile)),
            Self::RunCommand => Some(schema_for!(RunCommand)),
            Self::CommandOutput => Some(schema_for!(CommandOutput)),
            Self::CommandInput => Some(schema_for!(CommandInput)),
            Self::CommandStop => Some(schema_for!(CommandStop)),
            Self::RunScript => None,
        }
    }
}
