//! Wildcard patterns: `*` is any text (slashes too), `?` one character, `\` takes the next one literally.
//!
//! Invariant: matching never goes back over a `*`. Each piece between stars is searched once, from
//! where the one before it ended, so the time grows with the length of the text, not exponentially.

use std::fmt;

use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wildcard pattern, ready to match.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Pattern {
    source: String,
    letters: Letters,
    first: Segment,
    /// What follows the first star; without one the pattern has no star at all.
    tail: Option<Tail>,
}

#[derive(Clone, Debug)]
struct Tail {
    middle: Vec<Segment>,
    last: Segment,
}

impl Pattern {
    /// Compiles a pattern; every text is one.
    pub fn new(source: impl Into<String>) -> Self {
        let source = source.into();
        let mut segments = split(&source);
        let first = segments.remove(0);
        let tail = segments.pop().map(|last| Tail { middle: segments, last });
        let all = [&first]
            .into_iter()
            .chain(tail.iter().flat_map(|tail| tail.middle.iter().chain([&tail.last])));
        let letters =
            all.fold(Letters::default(), |letters, segment| letters.union(segment.letters()));
        Self { source, letters, first, tail }
    }

    /// The pattern that matches exactly `text`, whatever characters it holds.
    pub fn literal(text: &str) -> Self {
        let mut source = String::with_capacity(text.len());
        for character in text.chars() {
            if matches!(character, '*' | '?' | '\\') {
                source.push('\\');
            }
            source.push(character);
        }
        Self::new(source)
    }

    /// Whether the pattern matches the whole of `text`.
    pub fn matches(&self, text: &str) -> bool {
        let Some(rest) = self.first.strip_from_start(text) else { return false };
        let Some(tail) = &self.tail else { return rest.is_empty() };
        let Some(mut rest) = tail.last.strip_from_end(rest) else { return false };
        for segment in &tail.middle {
            match segment.find(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }

    /// The same for a command: a blank and a star at the end mean "with or without arguments".
    pub fn matches_command(&self, text: &str) -> bool {
        self.matches(text) || self.is_with_or_without() && self.matches(&format!("{text} "))
    }

    /// Whether it ends with a blank and a star.
    pub(super) fn is_with_or_without(&self) -> bool {
        self.source.ends_with(" *")
    }

    /// Whether it matches one text alone.
    pub fn is_literal(&self) -> bool {
        self.text().is_some()
    }

    /// The text it matches, if that is a single one.
    pub fn text(&self) -> Option<&str> {
        match (&self.first, &self.tail) {
            (Segment::Text(text), None) => Some(text),
            _ => None,
        }
    }

    /// The letters that every text it matches must have.
    pub(super) fn letters(&self) -> Letters {
        self.letters
    }

    /// Whether the pattern matches every text.
    pub fn is_universal(&self) -> bool {
        !self.source.is_empty() && self.source.bytes().all(|byte| byte == b'*')
    }

    /// Whether it says how a text begins, and so which program a command runs.
    pub(super) fn is_specific(&self) -> bool {
        !self.source.starts_with(['*', '?', ' '])
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl From<String> for Pattern {
    fn from(source: String) -> Self {
        Self::new(source)
    }
}

impl From<&str> for Pattern {
    fn from(source: &str) -> Self {
        Self::new(source)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.source
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

/// Which bytes, and which pairs of neighbours, a text has, up to collisions: a pattern that needs
/// others cannot match it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Letters {
    bytes: u128,
    pairs: u128,
}

impl Letters {
    pub(super) fn of(text: &str) -> Self {
        let bytes = text.bytes().fold(0, |set, byte| set | 1 << (byte & 127));
        let pairs = text
            .as_bytes()
            .windows(2)
            .fold(0, |set, pair| set | 1 << (pair[0].wrapping_mul(37).wrapping_add(pair[1]) & 127));
        Self { bytes, pairs }
    }

    pub(super) fn contains(self, needed: Self) -> bool {
        needed.bytes & !self.bytes == 0 && needed.pairs & !self.pairs == 0
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self { bytes: self.bytes | other.bytes, pairs: self.pairs | other.pairs }
    }
}

/// What stands between two stars.
#[derive(Clone, Debug)]
enum Segment {
    Text(String),
    Gapped(Vec<Piece>),
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    AnyCharacter,
}

impl Segment {
    fn letters(&self) -> Letters {
        match self {
            Self::Text(text) => Letters::of(text),
            Self::Gapped(pieces) => {
                pieces.iter().fold(Letters::default(), |letters, piece| match piece {
                    Piece::Text(text) => letters.union(Letters::of(text)),
                    Piece::AnyCharacter => letters,
                })
            }
        }
    }

    fn strip_from_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(literal) => text.strip_prefix(literal.as_str()),
            Self::Gapped(pieces) => pieces.iter().try_fold(text, |rest, piece| match piece {
                Piece::Text(literal) => rest.strip_prefix(literal.as_str()),
                Piece::AnyCharacter => without_first(rest),
            }),
        }
    }

    fn strip_from_end<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(literal) => text.strip_suffix(literal.as_str()),
            Self::Gapped(pieces) => pieces.iter().rev().try_fold(text, |rest, piece| match piece {
                Piece::Text(literal) => rest.strip_suffix(literal.as_str()),
                Piece::AnyCharacter => {
                    let mut characters = rest.chars();
                    characters.next_back().map(|_| characters.as_str())
                }
            }),
        }
    }

    /// What is left of `text` after the leftmost place where this segment stands.
    fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Text(literal) => {
                let start = memmem::find(text.as_bytes(), literal.as_bytes())?;
                Some(&text[start + literal.len()..])
            }
            Self::Gapped(_) => {
                let mut candidate = text;
                loop {
                    if let Some(rest) = self.strip_from_start(candidate) {
                        return Some(rest);
                    }
                    candidate = without_first(candidate)?;
                }
            }
        }
    }
}

fn without_first(text: &str) -> Option<&str> {
    let mut characters = text.chars();
    characters.next().map(|_| characters.as_str())
}

/// Cuts a pattern at its stars; there is always at least one segment.
fn split(source: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut characters = source.chars();
    while let Some(character) = characters.next() {
        match character {
            '*' => segments.push(segment(&mut pieces, &mut text)),
            '?' => {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::AnyCharacter);
            }
            '\\' => text.push(characters.next().unwrap_or('\\')),
            other => text.push(other),
        }
    }
    segments.push(segment(&mut pieces, &mut text));
    segments
}

fn segment(pieces: &mut Vec<Piece>, text: &mut String) -> Segment {
    let mut pieces = std::mem::take(pieces);
    let text = std::mem::take(text);
    if pieces.is_empty() {
        return Segment::Text(text);
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Segment::Gapped(pieces)
}

#[cfg(test)]
mod tests;
