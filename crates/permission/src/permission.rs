//! What can be permitted.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Tool;

/// Everything that a rule can be about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Reading from a skill, by its name.
    Skill,
    /// Searching for skills.
    SearchSkills,
    /// Reading back what the run was told before.
    ReadObservation,
    /// Reading a text file.
    ReadFile,
    /// Listing a directory.
    ListDir,
    /// Searching files.
    Grep,
    /// Running a script, by the name of its skill and its path.
    RunScript,
    /// Running a command line, by each command in it.
    RunCommand,
    /// Reading what a command in the background printed.
    CommandOutput,
    /// Writing to a command in the background.
    CommandInput,
    /// Ending a command in the background.
    CommandStop,
    /// Writing a file, in the run's layer.
    WriteFile,
    /// Replacing text in a file, in the run's layer.
    EditFile,
    /// Deleting a file, in the run's layer.
    DeleteFile,
    /// Taking changes over from the run's layer into the workspace, by their paths.
    ApplyChanges,
    /// Asking the user a question.
    AskUser,
    /// Sending an HTTP request, by its address.
    NetworkRequest,
    /// The network for scripts.
    Network,
    /// Installing skills.
    Install,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 19] = [
        Self::Skill,
        Self::SearchSkills,
        Self::ReadObservation,
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
        Self::ApplyChanges,
        Self::AskUser,
        Self::NetworkRequest,
        Self::Network,
        Self::Install,
    ];

    /// Its name in rules and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Skill => "skill",
            Self::SearchSkills => "search_skills",
            Self::ReadObservation => "read_observation",
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
            Self::ApplyChanges => "apply_changes",
            Self::AskUser => "ask_user",
            Self::NetworkRequest => "network_request",
            Self::Network => "network",
            Self::Install => "install",
        }
    }

    /// The permission of this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.name() == name)
    }

    /// Whether it is about skills by their names, so that an approval is bound to what they hold.
    pub(super) const fn is_about_skills(self) -> bool {
        matches!(self, Self::Skill | Self::RunScript)
    }

    /// Whether it is about command lines: `git log *` means `git log` as well, and an approval for always can be a pattern.
    pub(super) const fn is_about_commands(self) -> bool {
        matches!(self, Self::RunCommand)
    }

    /// Whether containment makes it harmless, so that a mode can let it through.
    pub(super) const fn can_be_contained(self) -> bool {
        matches!(self, Self::RunScript | Self::RunCommand)
    }

    /// Whether it only reads, or asks.
    pub(super) const fn only_looks(self) -> bool {
        !matches!(
            self,
            Self::RunScript
                | Self::RunCommand
                | Self::CommandInput
                | Self::WriteFile
                | Self::EditFile
                | Self::DeleteFile
                | Self::ApplyChanges
                | Self::NetworkRequest
                | Self::Network
        )
    }
}

impl From<Tool> for Permission {
    fn from(tool: Tool) -> Self {
        match tool {
            Tool::ReadFile => Self::ReadFile,
            Tool::ListDir => Self::ListDir,
            Tool::Grep => Self::Grep,
            Tool::RunScript => Self::RunScript,
            Tool::RunCommand => Self::RunCommand,
            Tool::CommandOutput => Self::CommandOutput,
            Tool::CommandInput => Self::CommandInput,
            Tool::CommandStop => Self::CommandStop,
            Tool::WriteFile => Self::WriteFile,
            Tool::EditFile => Self::EditFile,
            Tool::DeleteFile => Self::DeleteFile,
            Tool::NetworkRequest => Self::NetworkRequest,
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
