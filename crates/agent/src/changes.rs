//! What a run has changed, as its record has it. The files themselves, and what it takes to apply a change or to take it
//! back, are beside the record.

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run's layer holds that the workspace does not, or what of it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotedChanges {
    /// How many files and folders are new.
    pub added: u64,
    /// How many are different.
    pub changed: u64,
    /// How many are gone.
    pub deleted: u64,
    /// Bytes of the new and different ones.
    pub bytes: u64,
    /// How many of all these are below `.git`.
    #[serde(default)]
    pub in_git: u64,
    /// How many there are besides that are never applied.
    #[serde(default)]
    pub held: u64,
    /// The first of those, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<String>,
    /// The first paths.
    pub paths: Vec<String>,
    /// Where the whole list is kept, relative to the run's folder.
    #[serde(rename = "ref")]
    pub name: String,
    /// SHA-256 of that list.
    pub sha256: Sha256,
}

impl NotedChanges {
    /// How many files and folders there are.
    pub fn count(&self) -> u64 {
        self.added + self.changed + self.deleted
    }

    /// Whether there is nothing that could be applied.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }
}

/// When what a run changed is put to somebody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApplyWhen {
    /// Once, at the end.
    #[default]
    End,
    /// After each action.
    EachAction,
    /// Never by itself.
    Never,
}
