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
