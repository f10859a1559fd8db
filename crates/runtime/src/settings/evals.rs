//! Settings of evals.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// How evals are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvalSettings {
    /// How often a query must choose the skill to count as triggered: more than 0, at most 1.
    #[serde(deserialize_with = "share")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1))]
    pub trigger_threshold: f64,
}

impl Default for EvalSettings {
    fn default() -> Self {
        Self { trigger_threshold: 0.5 }
    }
}

/// With 0, a query that never triggers would count as triggering.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let share = f64::deserialize(deserializer)?;
    match share > 0.0 && share <= 1.0 {
        true => Ok(share),
        false => Err(D::Error::custom("expected a number above 0 and up to 1")),
    }
}
