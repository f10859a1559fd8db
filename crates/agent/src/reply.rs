//! What a model replied.

use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::Decision;
use crate::budget::Usage;

/// What came back from the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Reply {
    /// A decision.
    Decided {
        /// What it is.
        decision: Decision,
        /// Tokens and money.
        usage: Usage,
        /// The text it was read from.
        raw: Raw,
        /// Why its change of the plan was left out, in words for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_problem: Option<String>,
        /// Whether what it selects is handed over even if it has been before, because a person chose it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
        /// Whether its answer only says why the work could not be done.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unable: bool,
        /// Whether it is plain text that counts as the answer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unstructured: bool,
    },
    /// Something that is not a decision.
    Invalid {
        /// What is wrong with it, in words for the model.
        problem: String,
        /// Tokens and money.
        usage: Usage,
        /// The text.
        raw: Raw,
        /// What is wrong with it, in words for the user; records of earlier versions have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// The text as an answer, which it is if the model does no better when asked again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },
    /// Nothing.
    Failed {
        /// A stable name.
        code: String,
        /// Why, in words for the user.
        message: String,
        /// How long to wait before it is worth asking again; nothing where it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// What it comes to, in a few words for the user; records of earlier versions have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
}

impl Reply {
    /// A decision and nothing else.
    pub fn decided(decision: Decision, usage: Usage, raw: Raw) -> Self {
        Self::Decided {
            decision,
            usage,
            raw,
            plan_problem: None,
            again: false,
            unable: false,
            unstructured: false,
        }
    }

    /// Nothing, and it is not worth asking again.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        let (code, message) = (code.into(), message.into());
        Self::Failed { code, message, retry_after_ms: None, summary: None }
    }

    /// The reply without the model's own words.
    pub(crate) fn without_text(mut self) -> Self {
        if let Self::Decided { raw, .. } | Self::Invalid { raw, .. } = &mut self {
            raw.text = None;
        }
        self
    }
}

/// What a model wrote, before it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Raw {
    /// Its SHA-256; empty where there is no text.
    #[serde(default, with = "basics::sha256::or_empty")]
    #[schemars(with = "String")]
    pub sha256: Option<Sha256>,
    /// Its length.
    pub bytes: usize,
    /// The text; a run that does not store prompts forgets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Raw {
    /// A text with its hash and size.
    pub fn of(text: &str) -> Self {
        Self { sha256: Some(Sha256::of(text)), bytes: text.len(), text: Some(text.to_owned()) }
    }
}
