//! The params of each tool, as the model writes them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Deserializer, Serialize};

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

/// Replace text in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFile {
    /// The file: a path in the workspace.
    pub path: String,
    /// The text to replace, exactly as it stands in the file. It must be there once, unless `all` is true.
    pub old: String,
    /// The text to put in its place.
    pub new: String,
    /// Whether to replace it wherever it stands.
    #[serde(default)]
    pub all: bool,
}

/// Delete a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFile {
    /// The file: a path in the workspace.
    pub path: String,
}

/// Run a command line with `bash` in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    /// The command line, for example `git log --oneline -5 | head`.
    pub command: String,
    /// Where to run it: a path in the workspace, or `skill:NAME` for the folder of a selected skill; the workspace if not given.
    #[serde(default)]
    pub folder: Option<String>,
    /// What it can read from its standard input; nothing if not given.
    #[serde(default)]
    pub stdin: Option<String>,
    /// After how many seconds to end it.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// Whether to go on while it runs. The answer has an id for `command_output`, `command_input` and `command_stop`.
    #[serde(default)]
    pub background: bool,
    /// What it needs from outside the sandbox; the user is asked for it.
    #[serde(default)]
    pub needs: Option<Needs>,
    /// Why it is run, in one sentence for the user.
    #[serde(default)]
    pub why: Option<String>,
}

/// What a command needs from outside the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// Hosts to connect to, for example `api.github.com`.
    #[serde(default, deserialize_with = "or_none")]
    pub network: Vec<String>,
    /// Names of secrets, for example `GITHUB_TOKEN`.
    #[serde(default, deserialize_with = "or_none")]
    pub secrets: Vec<String>,
}

/// Read what a command in the background has printed since the last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandOutput {
    /// The id that `run_command` gave.
    pub id: String,
    /// How many seconds to wait for it to print something or to end; not at all if not given.
    #[serde(default)]
    pub wait_seconds: Option<u64>,
}

/// Write to the standard input of a command in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandInput {
    /// The id that `run_command` gave.
    pub id: String,
    /// What to write; a line ends with a newline.
    pub text: String,
    /// Whether that is the end of its input.
    #[serde(default)]
    pub end: bool,
}

/// End a command in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandStop {
    /// The id that `run_command` gave.
    pub id: String,
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

/// Models also write `null` for none.
fn or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
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
            Self::EditFile => Some(schema_for!(EditFile)),
            Self::DeleteFile => Some(schema_for!(DeleteFile)),
            Self::RunCommand => Some(schema_for!(RunCommand)),
            Self::CommandOutput => Some(schema_for!(CommandOutput)),
            Self::CommandInput => Some(schema_for!(CommandInput)),
            Self::CommandStop => Some(schema_for!(CommandStop)),
            Self::NetworkRequest => Some(schema_for!(NetworkRequest)),
            Self::RunScript => None,
        }
    }
}
