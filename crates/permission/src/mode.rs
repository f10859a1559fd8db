//! Modes: one word instead of many rules.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Permission, Rule};

/// How much happens without a question. Rules still count, and a deny always does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Nothing runs and nothing is changed.
    ReadOnly,
    /// Each script and each command asks.
    #[default]
    Ask,
    /// Scripts and commands run unasked while every wall stands.
    Contained,
    /// Nothing runs and nothing is changed until the user has approved a plan.
    Plan,
}

/// A text that is no [`Mode`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode `{name}`; known are `read-only`, `ask`, `contained`, `plan`")]
pub struct UnknownMode {
    /// What was written.
    pub name: String,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::Contained, Self::Plan];

    /// Its name in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Contained => "contained",
            Self::Plan => "plan",
        }
    }

    /// How strict it is: a project may only choose one that is at least as strict as the user's.
    pub const fn strictness(self) -> u8 {
        match self {
            Self::Contained => 0,
            Self::Ask => 1,
            Self::Plan => 2,
            Self::ReadOnly => 3,
        }
    }

    /// The stricter one of two.
    #[must_use]
    pub const fn stricter(self, other: Self) -> Self {
        if other.strictness() > self.strictness() { other } else { self }
    }

    /// Whether anything can run or be changed.
    pub const fn only_looks(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Plan)
    }

    /// What it denies, whatever other rules say.
    pub(super) fn rules(self) -> Vec<Rule> {
        let denied = Permission::ALL
            .into_iter()
            .filter(|permission| self.only_looks() && !permission.only_looks());
        denied.map(|permission| Rule::new(permission.name(), "*", Effect::Deny)).collect()
    }
}

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(name: &str) -> Result<Self, UnknownMode> {
        let found = Self::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| UnknownMode { name: name.to_owned() })
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
