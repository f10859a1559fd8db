//! An approval that is remembered, and exactly what it is bound to.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Permission;

/// The content hash of a skill: another content, another hash.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct SkillHash(pub String);

/// A remembered approval: it counts only where all of its parts are the same.
///
/// The pattern is compared as a text, so that approving a file called `*` does not approve everything. Only where
/// somebody approved a pattern for commands, and was told so, it is one.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The project it was given in.
    pub project: String,
    /// What was asked for.
    pub permission: Permission,
    /// On what.
    pub pattern: String,
    /// The content of the skill that acted, if one did.
    pub skill_hash: Option<SkillHash>,
    /// Whether it is on everything that the pattern matches; for commands only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wildcard: bool,
}

impl Grant {
    /// Whether it ends when a skill changes, where it is about one.
    pub fn is_bound(&self) -> bool {
        self.skill_hash.is_some() || !self.permission.is_about_skills()
    }

    /// A short name for `permissions revoke`, the same for the same grant on every machine.
    pub fn id(&self) -> String {
        let mut digest = Sha256::new();
        let skill = self.skill_hash.as_ref().map_or("", |hash| &hash.0);
        let kind = self.wildcard.then_some("wildcard");
        for part in
            [&self.project, self.permission.name(), &self.pattern, skill].into_iter().chain(kind)
        {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        let mut id = String::from("gr_");
        for byte in &digest.finalize()[..6] {
            id.push_str(&format!("{byte:02x}"));
        }
        id
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` on `{}` in `{}`", self.permission, self.pattern, self.project)
    }
}
