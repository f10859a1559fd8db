//! Where in a file something is.

use std::fmt;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;

use super::Origin;

/// A place that says something, and where in it, if that is known.
#[derive(Debug)]
pub struct Position {
    origin: Origin,
    line_and_column: Option<(usize, usize)>,
}

impl Position {
    /// Where in `text` the setting is that has the dotted `key`.
    pub(super) fn of(origin: &Origin, text: &str, key: &str) -> Self {
        let is_file = matches!(origin, Origin::Project(_) | Origin::User(_));
        let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default());
        let root = parsed.ok().and_then(|parsed| parsed.value).filter(|_| is_file);
        let before = root.and_then(|root| text.get(..offset(&root, key)));
        let line_and_column = before.map(|before| {
            let line = before.rsplit('\n').next().unwrap_or_default();
            (before.matches('\n').count() + 1, line.chars().count() + 1)
        });
        Self { origin: origin.clone(), line_and_column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        match self.line_and_column {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

/// Where the setting begins that `key` leads to; where it leads nowhere, the last thing on the way.
fn offset(value: &Value<'_>, key: &str) -> usize {
    let found = match value {
        // The last of two with the same name is the one that counts.
        Value::Object(object) => object.properties.iter().rev().find_map(|property| {
            let rest = key.strip_prefix(property.name.as_str())?;
            match rest.strip_prefix('.').or_else(|| rest.starts_with('[').then_some(rest)) {
                Some(rest) => Some(offset(&property.value, rest)),
                None => rest.is_empty().then_some(property.range.start),
            }
        }),
        Value::Array(array) => key.strip_prefix('[').and_then(|key| {
            let (index, rest) = key.split_once(']')?;
            let element = array.elements.get(index.parse::<usize>().ok()?)?;
            Some(offset(element, rest.strip_prefix('.').unwrap_or(rest)))
        }),
        _ => None,
    };
    found.unwrap_or(value.range().start)
}
