//! The open standard's verdict on a skill, as its reference validator (`skills-ref`) gives it.
//!
//! The reference reads YAML with every scalar as text, allows six top-level fields, and holds names to
//! its rules. Where it departs from YAML or from its own specification, this follows the specification
//! and says so in a warning: it refuses flow style (`[a, b]`), tabs and a byte order mark, takes `~`
//! for text, and ends the frontmatter at any `---`, also inside a value.

#[cfg(test)]
mod tests;

use basics::text::for_terminal;
use schemars::JsonSchema;
use serde::Serialize;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::frontmatter::{self, FrontmatterError, Limits};
use crate::value::{Map, Scalar, Value};

const FIELDS: [&str; 6] =
    ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];
const NAME_CHARS: usize = 64;
const DESCRIPTION_CHARS: usize = 1_024;
const COMPATIBILITY_CHARS: usize = 500;

/// What the open standard finds in a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Rules that are broken; the skill is valid without any.
    pub errors: Vec<String>,
    /// Where the reference validator says otherwise.
    pub warnings: Vec<String>,
}

/// Judges the content of a `SKILL.md` in a folder called `folder`.
pub fn check(content: &[u8], folder: &str) -> Verdict {
    let Ok(content) = std::str::from_utf8(content) else {
        return Verdict { errors: vec!["the file is not UTF-8".to_owned()], warnings: Vec::new() };
    };
    match read(content) {
        Ok((fields, warnings)) => {
            let shown = |error: String| for_terminal(&error).into_owned();
            Verdict { errors: errors(&fields, folder).into_iter().map(shown).collect(), warnings }
        }
        Err(error) => Verdict { errors: vec![error.to_string()], warnings: Vec::new() },
    }
}

fn read(content: &str) -> Result<(Map, Vec<String>), FrontmatterError> {
    // The standard has no bounds of its own; depth is bounded against hostile input.
    let limits = Limits { lines: usize::MAX, line_chars: usize::MAX, depth: 64 };
    let (yaml, _) = frontmatter::split_whole(content.as_bytes(), &limits)?;
    let yaml = &content[yaml];
    let fields = frontmatter::parse_exactly(yaml, &limits)?;
    let mut warnings = Vec::new();
    if frontmatter::has_flow_style(yaml) {
        warnings.push(
            "the reference validator refuses flow style (`[…]`, `{…}`), but YAML allows it"
                .to_owned(),
        );
    }
    if yaml.contains("---") {
        warnings.push(
            "the reference validator ends the frontmatter at the `---` inside a value".to_owned(),
        );
    }
    if content.starts_with('\u{FEFF}') {
        warnings.push("the reference validator refuses a byte order mark".to_owned());
    }
    if has_bare_tab(yaml, &fields) {
        warnings.push("the reference validator refuses tabs outside of quotes".to_owned());
    }
    if has_null_description(yaml) {
        warnings.push(
            "the reference validator reads a description of `~` or `null` as text".to_owned(),
        );
    }
    Ok((fields, warnings))
}

fn without_comment(line: &str) -> &str {
    line.find(" #").map_or(line, |comment| &line[..comment])
}

/// Whether a tab stands outside of quoted text and blocks.
fn has_bare_tab(yaml: &str, fields: &Map) -> bool {
    let tabs = |text: &str| text.matches('\t').count();
    let mut quoted = 0;
    let mut count = |scalar: &Scalar| quoted += if scalar.plain { 0 } else { tabs(&scalar.text) };
    fields.0.iter().for_each(|(_, value)| value.scalars(&mut count));
    yaml.lines().map(|line| tabs(without_comment(line))).sum::<usize>() > quoted
}

/// Whether the description is YAML's word for nothing, and not just left out.
fn has_null_description(yaml: &str) -> bool {
    let values = yaml.lines().filter_map(|line| without_comment(line).strip_prefix("description:"));
    values.map(str::trim).any(|value| matches!(value, "~" | "null" | "Null" | "NULL"))
}

fn errors(fields: &Map, folder: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut unexpected: Vec<&str> =
        fields.0.iter().map(|(key, _)| key.as_str()).filter(|key| !FIELDS.contains(key)).collect();
    if !unexpected.is_empty() {
        unexpected.sort_unstable();
        errors.push(format!(
            "unexpected fields: {}; the standard has only {}",
            unexpected.join(", "),
            FIELDS.join(", ")
        ));
    }
    match fields.get("name") {
        None => errors.push("missing field: name".to_owned()),
        Some(name) => check_name(name, folder, &mut errors),
    }
    match fields.get("description") {
        None => errors.push("missing field: description".to_owned()),
        Some(value) if value.is_null() => {
            errors.push("`description` must be text and not empty".to_owned());
        }
        Some(value) => match text(value).filter(|text| !text.trim().is_empty()) {
            None => errors.push("`description` must be text and not empty".to_owned()),
            Some(text) => check_length("the description", text, DESCRIPTION_CHARS, &mut errors),
        },
    }
    match fields.get("compatibility").map(text) {
        None => {}
        Some(None) => errors.push("`compatibility` must be text".to_owned()),
        Some(Some(text)) => check_length("`compatibility`", text, COMPATIBILITY_CHARS, &mut errors),
    }
    errors
}

/// In the reference every scalar is text, and an empty one is empty text.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Scalar(scalar) if scalar.plain && scalar.text == "~" => Some(""),
        Value::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

fn check_length(what: &str, text: &str, limit: usize, errors: &mut Vec<String>) {
    let length = text.chars().count();
    if length > limit {
        errors.push(format!("{what} has {length} characters, the limit is {limit}"));
    }
}

fn check_name(value: &Value, folder: &str, errors: &mut Vec<String>) {
    let Some(name) = text(value).map(str::trim).filter(|name| !name.is_empty()) else {
        return errors.push("`name` must be text and not empty".to_owned());
    };
    let name: String = name.nfkc().collect();
    check_length("the name", &name, NAME_CHARS, errors);
    if name != name.to_lowercase() {
        errors.push(format!("the name `{name}` must be lowercase"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        errors.push("the name must not begin or end with a hyphen".to_owned());
    }
    if name.contains("--") {
        errors.push("the name must not have two hyphens in a row".to_owned());
    }
    // A vowel sign or an accent that stands for itself is no letter.
    let is_letter = |c: char| c.is_alphanumeric() && !is_combining_mark(c);
    if !name.chars().all(|c| is_letter(c) || c == '-') {
        errors.push(format!("the name `{name}` must have only letters, digits and hyphens"));
    }
    if folder.nfkc().collect::<String>() != name {
        errors.push(format!("the folder must have the skill's name: `{folder}` is not `{name}`"));
    }
}
