//! What a frontmatter holds: text, lists and maps, kept as they were written.
//!
//! A scalar keeps its source text, so `version: 1.0` stays `1.0`; types are resolved only where a
//! value is shown as JSON or read as a flag.

#[cfg(test)]
mod tests;

use serde_json::{Number, Value as Json};

/// A frontmatter value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// One piece of text.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Value>),
    /// A mapping.
    Map(Map),
}

/// A piece of text, and whether quotes or a block indicator make it text for certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar {
    /// The text after YAML's escapes and folding.
    pub text: String,
    /// Whether it was written without quotes, so that `true` may be a boolean.
    pub plain: bool,
}

/// Keys and values in the order they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Map(pub Vec<(String, Value)>);

impl Map {
    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Calls `visit` with every key and every scalar, however deep.
    pub(crate) fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        for (key, value) in &mut self.0 {
            visit(key);
            value.for_each_text(visit);
        }
    }

    /// The map as a JSON object, plain scalars resolved by YAML's core schema.
    pub fn to_json(&self) -> Json {
        Json::Object(self.0.iter().map(|(k, v)| (k.clone(), v.to_json())).collect())
    }
}

impl Value {
    /// An unquoted scalar.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar { text: text.into(), plain: true })
    }

    /// A quoted or block scalar.
    pub fn quoted(text: impl Into<String>) -> Self {
        Self::Scalar(Scalar { text: text.into(), plain: false })
    }

    /// The text of a scalar that is not null.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Scalar(scalar) if !scalar.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// Whether this is an empty value, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Scalar(scalar) if scalar.is_null())
    }

    /// The value as JSON, plain scalars resolved by YAML's core schema.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Scalar(scalar) => scalar.to_json(),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(map) => map.to_json(),
        }
    }

    fn for_each_text(&mut self, visit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Scalar(scalar) => visit(&mut scalar.text),
            Self::List(items) => items.iter_mut().for_each(|item| item.for_each_text(visit)),
            Self::Map(map) => map.for_each_text(visit),
        }
    }

    /// Every scalar in this value, with the outermost first.
    pub(crate) fn scalars<'a>(&'a self, visit: &mut impl FnMut(&'a Scalar)) {
        match self {
            Self::Scalar(scalar) => visit(scalar),
            Self::List(items) => items.iter().for_each(|item| item.scalars(visit)),
            Self::Map(map) => map.0.iter().for_each(|(_, value)| value.scalars(visit)),
        }
    }
}

impl Scalar {
    fn is_null(&self) -> bool {
        self.plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// The flag this scalar spells, also in YAML 1.1's words.
    pub fn flag(&self) -> Option<bool> {
        match self.text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    fn to_json(&self) -> Json {
        let text = self.text.as_str();
        if !self.plain {
            return Json::String(text.to_owned());
        }
        match text {
            _ if self.is_null() => Json::Null,
            "true" | "True" | "TRUE" => Json::Bool(true),
            "false" | "False" | "FALSE" => Json::Bool(false),
            _ => number(text).map_or_else(|| Json::String(text.to_owned()), Json::Number),
        }
    }
}

/// A number that is spelled in JSON as it was in YAML, so that nothing is lost.
fn number(text: &str) -> Option<Number> {
    let number: Number = serde_json::from_str(text).ok()?;
    (number.to_string() == text).then_some(number)
}
