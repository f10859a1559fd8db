//! Long texts leave an event's data for a file of their own, and come back when it is read.
//!
//! Invariant: attaching what was detached gives the same value, whatever it holds. A reference is an
//! object with the key `$ref`; data that has such a key of its own gets another `$` in front.

use agent::stored::INLINE;
use basics::sha256::Sha256;
use serde_json::{Map, Value, json};

use super::content::Kept;
use super::error::JournalError;

/// Levels of the deepest data, so that reading it needs little of the stack.
pub(super) const DEPTH: usize = 200;

/// The data for a line; nothing if it can stay as it is.
pub(super) fn detach(
    data: &Value,
    keep: &mut dyn FnMut(&str) -> Result<Kept, JournalError>,
) -> Result<Option<Value>, JournalError> {
    match stays(data, DEPTH)? {
        true => Ok(None),
        false => detached(data, keep).map(Some),
    }
}

fn stays(data: &Value, levels: usize) -> Result<bool, JournalError> {
    let levels = levels.checked_sub(1).ok_or(JournalError::TooDeep { limit: DEPTH })?;
    // Everything is looked at, because too deep may come after too long.
    let mut all = true;
    match data {
        Value::String(text) => all = text.len() <= INLINE,
        Value::Array(items) => {
            for item in items {
                all &= stays(item, levels)?;
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                all &= !is_reference_key(key) & stays(value, levels)?;
            }
        }
        _ => {}
    }
    Ok(all)
}

fn detached(
    data: &Value,
    keep: &mut dyn FnMut(&str) -> Result<Kept, JournalError>,
) -> Result<Value, JournalError> {
    Ok(match data {
        Value::String(text) if text.len() > INLINE => {
            let Kept { name, sha256 } = keep(text)?;
            json!({"$ref": name, "sha256": sha256, "chars": text.chars().count()})
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| detached(item, keep)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => {
            let escaped = |key: &str| {
                if is_reference_key(key) { format!("${key}") } else { key.to_owned() }
            };
            let entries = map.iter().map(|(key, value)| Ok((escaped(key), detached(value, keep)?)));
            Value::Object(entries.collect::<Result<Map<_, _>, JournalError>>()?)
        }
        other => other.clone(),
    })
}

/// Whether a key is `$ref`, or `$ref` with more `$` in front.
fn is_reference_key(key: &str) -> bool {
    key.len() >= "$ref".len() && key.trim_start_matches('$') == "ref"
}

/// A text that is somewhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) sha256: Sha256,
    pub(super) chars: u64,
}

/// Why a reference leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unattached {
    #[error("Skillful does not write such a reference: `{0}`")]
    Malformed(String),
    #[error("cannot read `{name}`: {why}")]
    Missing { name: String, why: String },
    #[error("`{name}` changed after it was saved")]
    Changed { name: String },
    #[error("the texts of the events have more than {limit} bytes together")]
    TooMuch { limit: u64 },
}

/// The data of a line with its texts back in place.
pub(super) fn attach(
    data: Value,
    fetch: &mut dyn FnMut(&Reference) -> Result<String, Unattached>,
) -> Result<Value, Unattached> {
    Ok(match data {
        Value::Array(items) => Value::Array(
            items.into_iter().map(|item| attach(item, fetch)).collect::<Result<_, _>>()?,
        ),
        Value::Object(map) if map.contains_key("$ref") => Value::String(fetch(&reference(&map)?)?),
        Value::Object(map) => {
            let entries = map.into_iter().map(|(mut key, value)| {
                if is_reference_key(&key) {
                    key.remove(0);
                }
                Ok((key, attach(value, fetch)?))
            });
            Value::Object(entries.collect::<Result<Map<_, _>, Unattached>>()?)
        }
        other => other,
    })
}

fn reference(map: &Map<String, Value>) -> Result<Reference, Unattached> {
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(str::to_owned);
    let hash = |key: &str| map.get(key)?.as_str()?.parse().ok();
    let read = || {
        Some(Reference {
            name: text("$ref")?,
            sha256: hash("sha256")?,
            chars: map.get("chars")?.as_u64()?,
        })
    };
    read().ok_or_else(|| Unattached::Malformed(Value::Object(map.clone()).to_string()))
}

#[cfg(test)]
mod tests;
