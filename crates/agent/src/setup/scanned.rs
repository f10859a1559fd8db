//! What looking for the skills of a run came to, for whoever reads its record.

use basics::skill::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the index of skills came about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Scanned {
    /// Milliseconds that the search took.
    pub milliseconds: u64,
    /// The folders that were searched, the strongest first.
    pub roots: Vec<ScannedRoot>,
    /// Places that were taken for skills.
    pub found: usize,
    /// Skills that could be read.
    pub valid: usize,
    /// What was left out, and why.
    pub ignored: Vec<ScannedPath>,
    /// Names that several skills have.
    pub conflicts: Vec<ScannedConflict>,
    /// How much more was left out, or has a name that others have, than is listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_listed: usize,
}

/// A folder that was searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannedRoot {
    /// Where its skills come from.
    pub source: Source,
    /// The folder.
    pub path: String,
    /// Skills in it.
    pub valid: usize,
    /// Milliseconds spent.
    pub milliseconds: u64,
}

/// Something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannedPath {
    /// The file or folder.
    pub path: String,
    /// A stable name for the reason.
    pub code: String,
    /// The reason.
    pub message: String,
}

/// A name that several skills have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannedConflict {
    /// The name.
    pub name: String,
    /// The folder of the skill that counts.
    pub winner: String,
    /// The others, and why they lost.
    pub losers: Vec<ScannedLoser>,
}

/// A skill that another one of its name hides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScannedLoser {
    /// Its folder.
    pub path: String,
    /// Why it lost.
    pub reason: String,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}
