//! What a tool returns: a result for the model, and the whole of it for the records.

use basics::sha256::Sha256;
use serde_json::{Map, Value};

/// What a tool did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What it found, for the model; cut to the limit.
    pub content: Option<String>,
    /// Facts about it, each a key of the result.
    pub facts: Map<String, Value>,
    /// Whether the model sees less than the whole.
    pub truncated: bool,
    /// The SHA-256, in hexadecimal, of the file it is about, or of the whole result.
    pub sha256: String,
    /// The whole, when the model does not see all of it: the caller stores it.
    pub full: Option<Vec<u8>>,
}

impl Outcome {
    /// A result of which the model sees as much as the limit lets it.
    pub(crate) fn text(whole: String, limit: usize, facts: Value) -> Self {
        let sha256 = Sha256::of(whole.as_bytes()).to_string();
        match shortened(&whole, limit).map(str::to_owned) {
            None => Self { content: Some(whole), ..Self::done(sha256, facts) },
            Some(shown) => Self::shown(shown, whole.into_bytes(), facts),
        }
    }

    /// A result of which the model sees only a part.
    pub(crate) fn shown(part: String, whole: Vec<u8>, facts: Value) -> Self {
        let sha256 = Sha256::of(&whole).to_string();
        Self {
            content: Some(part),
            truncated: true,
            full: Some(whole),
            ..Self::done(sha256, facts)
        }
    }

    /// A result without anything to read.
    pub(crate) fn done(sha256: String, facts: Value) -> Self {
        let facts = match facts {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self { content: None, facts, truncated: false, sha256, full: None }
    }

    /// The result for the model: `{ok, …, truncated, sha256, storage_ref}`.
    pub fn to_json(&self, storage_ref: Option<&str>) -> Value {
        let mut result = Map::from_iter([("ok".to_owned(), Value::Bool(true))]);
        result.extend(self.facts.clone());
        if let Some(content) = &self.content {
            result.insert("content".to_owned(), content.as_str().into());
        }
        result.insert("truncated".to_owned(), self.truncated.into());
        result.insert("sha256".to_owned(), self.sha256.as_str().into());
        result.insert("storage_ref".to_owned(), storage_ref.into());
        Value::Object(result)
    }
}

/// The beginning of a text that is too long, up to the end of a line if there is one.
pub(crate) fn shortened(text: &str, limit: usize) -> Option<&str> {
    if text.len() <= limit {
        return None;
    }
    let start = &text[..text.floor_char_boundary(limit)];
    Some(start.rfind('\n').map_or(start, |end| &start[..=end]))
}
