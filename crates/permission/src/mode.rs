//! Modes.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One word instead of many rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading only.
    ReadOnly,
    /// Each asks.
    #[default]
    Ask,
    /// Unasked while every wall stands.
    Contained,
    /// A plan first.
    Plan,
}

impl Mode {
    /// The one of the two that lets less happen unasked.
    pub fn stricter(self, other: Self) -> Self {
        let strictness = |mode: Self| match mode {
            Self::Contained => 0,
            Self::Ask => 1,
            Self::Plan => 2,
            Self::ReadOnly => 3,
        };
        if strictness(other) > strictness(self) { other } else { self }
    }
}
