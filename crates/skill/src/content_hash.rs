//! The hash of a whole skill, by which it is known again.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `sha256:` over everything that a skill holds: paths, content, what can be executed, where links lead.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ContentHash(pub(crate) String);

impl ContentHash {
    /// The hash as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
