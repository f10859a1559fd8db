//! Sentences that a model judges, with the evidence that it quotes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sentence about an answer, judged by a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Graded {
    /// The sentence.
    pub text: String,
    /// Whether it is true of the answer.
    pub passed: bool,
    /// What the model quotes from the answer for it, or why there is no judgement.
    pub evidence: String,
}
