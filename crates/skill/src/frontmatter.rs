//! The YAML between the `---` lines of a `SKILL.md`, and what is refused in it.
//!
//! Invariant: what is accepted holds no anchor, alias, tag, merge key or duplicate key, is nested at
//! most [`Limits::depth`] deep, and was understood whole: a frontmatter that cannot be read is an
//! error, never a guess.

mod full;
mod plain;
mod repair;
mod split;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use basics::failure::Explain;
use basics::text::for_terminal;
use serde::{Deserialize, Serialize};

use crate::value::Map;
pub(crate) use split::split_whole;
pub use split::{Split, split};

/// Bounds of a frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Limits {
    /// Lines between the `---` lines.
    pub lines: usize,
    /// Characters a line.
    pub line_chars: usize,
    /// Collections inside one another, the outermost mapping included.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { lines: 200, line_chars: 2_000, depth: 8 }
    }
}

/// Why a frontmatter is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum FrontmatterError {
    /// The file does not begin with a `---` line.
    #[error("no frontmatter: the file does not begin with a `---` line")]
    Absent,
    /// The closing `---` line is missing.
    #[error("the frontmatter does not end with a `---` line")]
    Unclosed,
    /// The bytes are not UTF-8.
    #[error("the frontmatter is not UTF-8")]
    NotUtf8,
    /// More lines than allowed.
    #[error("the frontmatter has more than {limit} lines")]
    TooManyLines {
        /// The number of lines allowed.
        limit: usize,
    },
    /// A line is longer than allowed.
    #[error("line {line} of the frontmatter has more than {limit} characters")]
    LineTooLong {
        /// The line, counted from the top of the file.
        line: usize,
        /// The number of characters allowed.
        limit: usize,
    },
    /// The text is not YAML.
    #[error("invalid YAML at line {line}, column {column}: {reason}", reason = for_terminal(reason))]
    InvalidYaml {
        /// The line, counted from the top of the file.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What the parser found.
        reason: String,
    },
    /// The YAML is not a mapping.
    #[error("the frontmatter is not a mapping of `key: value` lines")]
    NotAMapping,
    /// A feature of YAML that has no place in a frontmatter.
    #[error("{what} at line {line}")]
    Forbidden {
        /// The feature.
        what: Forbidden,
        /// The line, counted from the top of the file.
        line: usize,
    },
    /// A key occurs twice in one mapping.
    #[error("the key `{key}` occurs twice, the second time at line {line}", key = for_terminal(key))]
    DuplicateKey {
        /// The key.
        key: String,
        /// The line of the second occurrence, counted from the top of the file.
        line: usize,
    },
    /// Collections are nested too deep.
    #[error("values are nested deeper than {limit} levels at line {line}")]
    TooDeep {
        /// The number of levels allowed.
        limit: usize,
        /// The line, counted from the top of the file.
        line: usize,
    },
    /// A value holds `<` or `>`.
    #[error("the value of `{field}` contains `<` or `>`", field = for_terminal(field))]
    AngleBrackets {
        /// The top-level field.
        field: String,
    },
    /// There is no name.
    #[error("no `name`")]
    NoName,
    /// There is no description.
    #[error("no `description`")]
    NoDescription,
    /// A field that must be text is a list or a map.
    #[error("`{field}` is not text")]
    NotText {
        /// The field.
        field: String,
    },
    /// The name holds characters that cannot be seen.
    #[error("the name contains control, zero-width or bidirectional characters")]
    HiddenInName,
}

/// YAML features that let one text mean another, and so are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forbidden {
    /// `&name`
    Anchor,
    /// `*name`
    Alias,
    /// `!tag`
    Tag,
    /// `<<: …`
    MergeKey,
    /// A second document.
    SecondDocument,
}

impl std::fmt::Display for Forbidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Anchor => "a YAML anchor (`&`)",
            Self::Alias => "a YAML alias (`*`)",
            Self::Tag => "a YAML tag (`!`)",
            Self::MergeKey => "a YAML merge key (`<<`)",
            Self::SecondDocument => "a second YAML document",
        })
    }
}

impl Explain for FrontmatterError {
    fn code(&self) -> &'static str {
        match self {
            Self::Absent => "no-frontmatter",
            Self::Unclosed => "unclosed-frontmatter",
            Self::NotUtf8 => "not-utf8",
            Self::TooManyLines { .. } => "too-many-lines",
            Self::LineTooLong { .. } => "line-too-long",
            Self::InvalidYaml { .. } => "invalid-yaml",
            Self::NotAMapping => "not-a-mapping",
            Self::Forbidden { what: Forbidden::Anchor, .. } => "yaml-anchor",
            Self::Forbidden { what: Forbidden::Alias, .. } => "yaml-alias",
            Self::Forbidden { what: Forbidden::Tag, .. } => "yaml-tag",
            Self::Forbidden { what: Forbidden::MergeKey, .. } => "yaml-merge-key",
            Self::Forbidden { what: Forbidden::SecondDocument, .. } => "multiple-documents",
            Self::DuplicateKey { .. } => "duplicate-key",
            Self::TooDeep { .. } => "too-deep",
            Self::AngleBrackets { .. } => "angle-brackets",
            Self::NoName => "missing-name",
            Self::NoDescription => "missing-description",
            Self::NotText { .. } => "not-text",
            Self::HiddenInName => "hidden-characters-in-name",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Absent => {
                "begin SKILL.md with a `---` line, `name:` and `description:`, and another `---` line"
            }
            Self::Unclosed => "end the frontmatter with a line `---`",
            Self::NotUtf8 => "save SKILL.md as UTF-8",
            Self::TooManyLines { .. } => {
                "keep the frontmatter short and move details to the body or to references/"
            }
            Self::LineTooLong { .. } => {
                "shorten the line; a description has at most 1,024 characters in the open standard"
            }
            Self::InvalidYaml { .. } => {
                "put quotes around values with `: `, `#` or brackets in them"
            }
            Self::NotAMapping => "write the frontmatter as `key: value` lines",
            Self::Forbidden { what: Forbidden::SecondDocument, .. } => {
                "keep a single YAML document between the `---` lines"
            }
            Self::Forbidden { .. } => {
                "write the value in full; put quotes around text that begins with `&`, `*` or `!`"
            }
            Self::DuplicateKey { .. } => "remove one of the two",
            Self::TooDeep { .. } => "use fewer levels, or move the value to a file of the skill",
            Self::AngleBrackets { .. } => {
                "write the text without angle brackets, or set \
                 `security.block_angle_brackets_in_frontmatter` to false"
            }
            Self::NoName => "add `name:` with the name of the skill's folder",
            Self::NoDescription => {
                "add `description:` that says what the skill does and when to use it"
            }
            Self::NotText { .. } => "write the value as text on one line",
            Self::HiddenInName => "type the name again with lowercase letters, digits and hyphens",
        }
        .into()
    }
}

/// How a frontmatter was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The fields.
    pub fields: Map,
    /// Whether values had to be quoted before the text was valid YAML.
    pub repaired: bool,
}

/// Parses the text between the `---` lines, repairing the most common mistake: an unquoted value
/// that contains `: `.
pub fn parse(yaml: &str, limits: &Limits) -> Result<Parsed, FrontmatterError> {
    if limits.depth >= plain::DEPTH
        && let Some(fields) = plain::parse(yaml)
    {
        return Ok(Parsed { fields, repaired: false });
    }
    let allowed = without_controls(yaml);
    let mut parsed = parse_or_repair(&allowed, limits)?;
    if let Cow::Owned(_) = allowed {
        restore_controls(&mut parsed.fields);
    }
    Ok(parsed)
}

fn parse_or_repair(yaml: &str, limits: &Limits) -> Result<Parsed, FrontmatterError> {
    match full::parse(yaml, limits) {
        Ok(fields) => Ok(Parsed { fields, repaired: false }),
        Err(error @ FrontmatterError::InvalidYaml { .. }) => match repair::quote_values(yaml) {
            Some(repaired) => match full::parse(&repaired, limits) {
                Ok(fields) if repair::keeps_controls(yaml, &fields) => {
                    Ok(Parsed { fields, repaired: true })
                }
                Ok(_) | Err(FrontmatterError::InvalidYaml { .. }) => Err(error),
                Err(other) => Err(other),
            },
            None => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// YAML allows no control characters. Each is replaced by a hidden one that it does allow while the
/// text is parsed; then what holds for any hidden character holds for it.
fn without_controls(yaml: &str) -> Cow<'_, str> {
    if yaml.contains(is_control) {
        let allowed = |c| if is_control(c) { moved(c, STAND_INS) } else { c };
        Cow::Owned(yaml.chars().map(allowed).collect())
    } else {
        Cow::Borrowed(yaml)
    }
}

fn restore_controls(fields: &mut Map) {
    let restored = |text: &str| -> String {
        let original = |c| match moved(c, -STAND_INS) {
            control if is_control(control) => control,
            _ => c,
        };
        text.chars().map(original).collect()
    };
    fields.for_each_text(&mut |text| *text = restored(text));
}

fn is_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{85}')
}

/// From a control character to the tag character that stands for it.
const STAND_INS: i32 = 0xE_0000;

fn moved(c: char, by: i32) -> char {
    u32::from(c).checked_add_signed(by).and_then(char::from_u32).unwrap_or(c)
}

/// What the fast path and the full parser say, for a fuzz target to compare.
#[cfg(fuzzing)]
#[doc(hidden)]
pub fn both_parsers(yaml: &str, limits: &Limits) -> (Option<Map>, Result<Map, FrontmatterError>) {
    (plain::parse(yaml), full::parse(yaml, limits))
}

/// Parses YAML as it stands, without repair: what the open standard's validator sees.
pub fn parse_exactly(yaml: &str, limits: &Limits) -> Result<Map, FrontmatterError> {
    full::parse(yaml, limits)
}

/// Whether `yaml` holds a list or map in brackets.
pub(crate) fn has_flow_style(yaml: &str) -> bool {
    full::has_flow_style(yaml)
}
