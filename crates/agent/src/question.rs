//! Questions that are not about permission: what the model wants to know, whether a plan is good, whether to go on.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use permission::Mode;

use crate::outcome::StopReason;

/// A question for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// What it is about.
    pub about: About,
    /// The question, in the words of whoever asks.
    pub question: String,
    /// Answers to choose from; none where any text will do.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multiple: bool,
    /// Whether the answer is a secret: programs of the run get it, nobody else does.
    #[serde(default)]
    pub secret: bool,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The task: the model asks.
    Task,
    /// A plan that waits for approval.
    Plan,
    /// A limit that the run has come to.
    Limit(StopReason),
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QuestionOption {
    /// What is chosen.
    pub label: String,
    /// What that means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl QuestionOption {
    /// An answer that needs no explanation.
    pub fn new(label: &str, description: &str) -> Self {
        Self { label: label.to_owned(), description: Some(description.to_owned()) }
    }
}

impl<'de> Deserialize<'de> for QuestionOption {
    /// Models also write the bare label.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Label(String),
            Described {
                label: String,
                #[serde(default)]
                description: Option<String>,
            },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Label(label) => Self { label, description: None },
            Written::Described { label, description } => Self { label, description },
        })
    }
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// Somebody answered: the labels that were chosen, or a text of their own.
    Said(Vec<String>),
    /// It was a secret; programs of the run find it under this name in their environment.
    Kept(String),
    /// Nobody will answer.
    Nobody,
    /// Yes: a plan is carried out in this mode.
    CarryOut(Mode),
    /// Yes: the run goes on beyond its limit.
    GoOn,
    /// No, with what the model should know.
    No(Option<String>),
}
