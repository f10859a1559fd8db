//! What can be wrong with a model's reply, in words for the model.

use basics::text::{one_line, prefix};
use permission::Tool;
use serde_json::Value;
use thiserror::Error;

use super::MAX_REPLY_BYTES;
use super::payload::KINDS;
use crate::json::JsonError;
use crate::reply::ObjectError;

/// Why a reply is not a decision.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// There is nothing, or only white space.
    #[error("the reply is empty")]
    Empty,
    /// It is not read at all.
    #[error("the reply has {bytes} bytes, the limit is {MAX_REPLY_BYTES}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It is JSON of another kind.
    #[error("the reply is {found}, not a JSON object")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// It does not have exactly one object.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The object is not JSON.
    #[error("the JSON is broken: {error} of the object, near `{near}`")]
    Syntax {
        /// What is wrong, and where in the object.
        error: JsonError,
        /// The text around it.
        near: String,
    },
    /// A key stands twice in one object, and it cannot be known which is meant.
    #[error("the key `{path}` is there twice")]
    DuplicateKey {
        /// Where.
        path: String,
    },
    /// A key that must be there is not.
    #[error("there is no `{path}`, it must be {expected}")]
    Missing {
        /// Where it should be.
        path: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A value is of the wrong kind.
    #[error("`{path}` is {found}, it must be {expected}")]
    WrongType {
        /// Where.
        path: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// There is no such action.
    #[error("`{found}` is not a type of action")]
    UnknownType {
        /// What was written.
        found: String,
    },
    /// A key means nothing here, and might have been meant to change what is done.
    #[error("the key `{path}` is not known")]
    UnknownKey {
        /// Where.
        path: String,
        /// The keys that are.
        known: String,
    },
    /// Several tools are called at once.
    #[error("{calls} tools are called at once")]
    SeveralCalls {
        /// How many.
        calls: usize,
    },
    /// It ends where the model had written as much as it may.
    #[error("the reply was cut off: it may not be longer")]
    CutOff,
    /// The action cannot be read, for another reason.
    #[error("the action cannot be read: {reason}")]
    Unreadable {
        /// Why.
        reason: String,
    },
}

impl Problem {
    /// What the model can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Empty | Self::NotAnObject { .. } | Self::Object(ObjectError::Missing) => {
                "reply with one JSON object and nothing else; an answer for the user goes into {\"action\": {\"type\": \"final_answer\", \"payload\": {\"content\": TEXT}}}".to_owned()
            }
            Self::TooLong { .. } | Self::CutOff => "write a shorter reply".to_owned(),
            Self::SeveralCalls { .. } => "call exactly one, then wait for its result".to_owned(),
            Self::Object(error) => error.hint().to_owned(),
            Self::Syntax { error, .. } => error.hint().to_owned(),
            Self::DuplicateKey { .. } => "write every key of an object once".to_owned(),
            Self::Missing { .. } | Self::WrongType { .. } | Self::Unreadable { .. } => {
                "write the action as described under Reply".to_owned()
            }
            Self::UnknownType { found } => type_hint(found),
            Self::UnknownKey { known, .. } => format!("known here: {known}"),
        }
    }

    /// What the user is told about it.
    pub(crate) fn for_user(&self) -> &'static str {
        match self {
            Self::Empty => "the model's reply was empty",
            Self::TooLong { .. } => "the model's reply was too long",
            Self::CutOff => {
                "the model's reply was cut off at its limit (`model.max_tokens`, `budget.max_output_tokens`)"
            }
            _ => "the model did not reply in the form that it was asked for",
        }
    }

    /// The problem and what to do about it, for the model.
    pub fn for_model(&self) -> String {
        format!("{self}; {}", self.hint())
    }
}

fn type_hint(found: &str) -> String {
    if Tool::from_name(found).is_some() {
        return format!(
            "it is a tool: {{\"type\": \"call_tool\", \"payload\": {{\"tool\": \"{found}\", \"params\": {{…}}}}}}"
        );
    }
    let names: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    let likeness = |name: &&str| strsim::jaro_winkler(&found.to_lowercase(), name);
    let nearest = names.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    match nearest.filter(|name| likeness(name) > 0.8) {
        Some(name) => format!("did you mean `{name}`? There are: {}", names.join(", ")),
        None => format!("there are: {}", names.join(", ")),
    }
}

/// The kind of a value, with its article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What a model wrote, short enough to be quoted.
pub(super) fn quoted(text: &str) -> String {
    const LIMIT: usize = 60;
    let line = one_line(text);
    let start = prefix(&line, LIMIT);
    if start.len() < line.len() { format!("{start}…") } else { start.to_owned() }
}

/// The text around a byte.
pub(super) fn around(text: &str, offset: usize) -> String {
    const BEFORE: usize = 24;
    const AFTER: usize = 12;
    let start = text.floor_char_boundary(offset.saturating_sub(BEFORE));
    let end = text.ceil_char_boundary(offset.saturating_add(AFTER).min(text.len()));
    one_line(&text[start..end]).into_owned()
}
