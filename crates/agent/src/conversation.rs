//! A conversation: runs that continue each other, and what goes over from one to the next.
//!
//! Invariant: what goes over is a function of the earlier record, so that a run which continues another can be repeated
//! from both.

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::changes::NotedChanges;
use crate::context::Told;
use crate::observation::SelectedSkill;
use crate::plan::Plan;
use crate::run::ChunkRef;

/// The run that another one continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its name.
    pub run: String,
    /// SHA-256 of its last event then.
    pub event: Sha256,
    /// Whether what it changed and nobody applied goes over as well.
    #[serde(default)]
    pub layer: bool,
    /// Loaded skills that are not what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleSkill>,
    /// Whether the user wants the conversation shortened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
}

/// A loaded skill that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleSkill {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub state: Staleness,
}

/// What became of a loaded skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Staleness {
    /// It has another content.
    Changed,
    /// It is not there, or not for this run.
    Gone,
}

/// What a run ended with, for the one that continues it.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    pub(crate) told: Told,
    pub(crate) plan: Option<Plan>,
    pub(crate) selected: Vec<SelectedSkill>,
    pub(crate) chunks: Vec<ChunkRef>,
    pub(crate) observations: u32,
    pub(crate) pending: Option<NotedChanges>,
}

impl Carried {
    /// The skills that stay loaded.
    pub fn skills(&self) -> &[SelectedSkill] {
        &self.selected
    }
}
