//! The tools there are, how much each can harm, and which of them are on offer.
//!
//! Invariant: sets are only ever intersected, so a skill can take tools away but never add one.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a request can harm.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads what the agent may see anyway, or writes where nothing is lost.
    Low,
    /// Runs something, contained.
    Medium,
    /// Changes files or talks to the outside.
    High,
}

/// A tool an agent can call.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Reads a text file.
    ReadFile,
    /// Lists a directory.
    ListDir,
    /// Searches files for a regular expression.
    Grep,
    /// Runs a skill's script in the sandbox.
    RunScript,
    /// Runs a command line in the sandbox.
    RunCommand,
    /// Reads what a command in the background printed.
    CommandOutput,
    /// Writes to a command in the background.
    CommandInput,
    /// Ends a command in the background.
    CommandStop,
    /// Writes a file.
    WriteFile,
    /// Replaces text in a file.
    EditFile,
    /// Deletes a file.
    DeleteFile,
    /// Sends an HTTP request.
    NetworkRequest,
}

impl Tool {
    /// Every tool.
    pub const ALL: [Self; 12] = [
        Self::ReadFile,
        Self::ListDir,
        Self::Grep,
        Self::RunScript,
        Self::RunCommand,
        Self::CommandOutput,
        Self::CommandInput,
        Self::CommandStop,
        Self::WriteFile,
        Self::EditFile,
        Self::DeleteFile,
        Self::NetworkRequest,
    ];

    /// Its name in actions, rules and `allowed-tools`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadFile => "read_file",
            Self::ListDir => "list_dir",
            Self::Grep => "grep",
            Self::RunScript => "run_script",
            Self::RunCommand => "run_command",
            Self::CommandOutput => "command_output",
            Self::CommandInput => "command_input",
            Self::CommandStop => "command_stop",
            Self::WriteFile => "write_file",
            Self::EditFile => "edit_file",
            Self::DeleteFile => "delete_file",
            Self::NetworkRequest => "network_request",
        }
    }

    /// The tool with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// How much it can harm.
    pub const fn risk(self) -> Risk {
        match self {
            Self::ReadFile | Self::ListDir | Self::Grep => Risk::Low,
            Self::CommandOutput | Self::CommandInput | Self::CommandStop => Risk::Low,
            // They write into the run's layer; what reaches the user's files is asked for by itself.
            Self::WriteFile | Self::EditFile | Self::DeleteFile => Risk::Low,
            Self::RunScript | Self::RunCommand => Risk::Medium,
            Self::NetworkRequest => Risk::High,
        }
    }
}

/// A set of tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolSet(BTreeSet<Tool>);

impl ToolSet {
    /// The tools among `names`; names of anything else are passed over.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().filter_map(Tool::from_name).collect()
    }

    /// The tools that harm at most this much.
    pub fn up_to(risk: Risk) -> Self {
        Tool::ALL.into_iter().filter(|tool| tool.risk() <= risk).collect()
    }

    /// What an agent can really call: what is configured, less what the acting skill does not
    /// declare (when it declares anything), less what the runtime's policy excludes.
    pub fn effective<'n>(
        configured: &Self,
        declared: Option<impl IntoIterator<Item = &'n str>>,
        policy: &Self,
    ) -> Self {
        let permitted = configured.intersection(policy);
        match declared {
            Some(names) => permitted.intersection(&Self::from_names(names)),
            None => permitted,
        }
    }

    /// Whether the tool is in the set.
    pub fn contains(&self, tool: Tool) -> bool {
        self.0.contains(&tool)
    }

    /// The tools, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = Tool> {
        self.0.iter().copied()
    }

    fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }
}

impl FromIterator<Tool> for ToolSet {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        Self(tools.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
