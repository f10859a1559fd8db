//! A fast path for the frontmatter that nearly everyone writes: `key: value` lines with plain or
//! simply quoted text, block scalars without surprises, one level of lists and maps.
//!
//! Invariant: it answers only where the full parser would give exactly the same value (a
//! differential test holds it to that), and gives up with `None` at the first doubt. A general YAML
//! parser takes 35–40 µs a frontmatter, which is most of a cold start with thousands of skills.

#[cfg(test)]
mod tests;

use crate::value::{Map, Value};

/// How deep the values nest that it answers with.
pub(super) const DEPTH: usize = 3;
/// Entries of a map, whose keys are compared one by one.
const ENTRIES: usize = 64;

pub(super) fn parse(yaml: &str) -> Option<Map> {
    // Tabs, carriage returns and other control characters have rules of their own.
    if yaml.bytes().any(|b| b < b' ' && b != b'\n' || b == 0x7F)
        || !yaml.is_ascii() && yaml.chars().any(is_odd)
    {
        return None;
    }
    let mut lines = Lines { rest: yaml };
    let mut map = Map::default();
    while let Some(line) = lines.next_content() {
        if line.indent > 0 {
            return None;
        }
        let (key, rest) = entry(line.text)?;
        if map.0.len() >= ENTRIES || map.get(key).is_some() {
            return None;
        }
        let value = match rest {
            "" => collection(&mut lines)?,
            ">-" => block(&mut lines, ' ', "")?,
            ">" => block(&mut lines, ' ', "\n")?,
            "|-" => block(&mut lines, '\n', "")?,
            "|" => block(&mut lines, '\n', "\n")?,
            text => single_line(text, &lines)?,
        };
        map.0.push((key.to_owned(), value));
    }
    (!map.0.is_empty()).then_some(map)
}

/// Line breaks beyond ASCII, the byte order mark and what is no character, which have rules of their
/// own.
fn is_odd(c: char) -> bool {
    matches!(
        c,
        '\u{80}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'
    )
}

#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    text: &'a str,
}

#[derive(Clone, Copy)]
struct Lines<'a> {
    rest: &'a str,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        let text = line.trim_start_matches(' ');
        Some(Line { indent: line.len() - text.len(), text: text.trim_end_matches(' ') })
    }

    /// The next line that is neither blank nor a comment.
    fn next_content(&mut self) -> Option<Line<'a>> {
        loop {
            let line = self.next()?;
            if !line.text.is_empty() && !line.text.starts_with('#') {
                return Some(line);
            }
        }
    }

    fn peek(&self) -> Option<Line<'a>> {
        { *self }.next()
    }

    /// Whether what was read so far cannot go on: a plain scalar may, over indented or blank lines.
    fn at_entry(&self) -> bool {
        self.peek().is_none_or(|line| line.indent == 0 && !line.text.is_empty())
    }
}

/// YAML bounds a key's length; no field's name comes near it.
const KEY_BYTES: usize = 128;

/// `key: rest` or `key:`.
fn entry(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let simple = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let is_short = key.len() <= KEY_BYTES;
    if !is_short || !key.as_bytes().first()?.is_ascii_alphabetic() || !key.bytes().all(simple) {
        return None;
    }
    match rest.strip_prefix(' ') {
        Some(rest) => Some((key, rest.trim_start_matches(' '))),
        None => rest.is_empty().then_some((key, "")),
    }
}

/// A value that stands on its key's line and ends there.
fn single_line(text: &str, lines: &Lines<'_>) -> Option<Value> {
    lines.at_entry().then(|| scalar_or_flow(text)).flatten()
}

fn scalar_or_flow(text: &str) -> Option<Value> {
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => flow_list(inner),
        None => scalar(text),
    }
}

fn scalar(text: &str) -> Option<Value> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let inner = rest.strip_suffix(quote)?;
            return (!inner.contains([quote, '\\'])).then(|| Value::quoted(inner));
        }
    }
    is_plain(text).then(|| Value::plain(text))
}

/// Text that is a plain scalar beyond doubt. A first character with a meaning in YAML, `: `, a final
/// colon and ` #` are left to the full parser.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    (first.is_ascii_alphanumeric() || !first.is_ascii() || "(/$_+.~".contains(first))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
}

/// `a, b, "c d"` between brackets.
fn flow_list(inner: &str) -> Option<Value> {
    if inner.trim_matches(' ').is_empty() {
        return Some(Value::List(Vec::new()));
    }
    let item = |text: &str| {
        let text = text.trim_matches(' ');
        let word = |b: u8| b.is_ascii_alphanumeric() || b"_-./ ".contains(&b);
        let bare = text.trim_matches(['"', '\'']);
        let safe = bare.bytes().all(word) && bare.as_bytes().first()?.is_ascii_alphanumeric();
        safe.then(|| scalar(text)).flatten()
    };
    inner.split(',').map(item).collect::<Option<_>>().map(Value::List)
}

/// A block scalar whose lines all have the same indentation.
fn block(lines: &mut Lines<'_>, joint: char, end: &str) -> Option<Value> {
    let indent = lines.peek().filter(|line| line.indent > 0 && !line.text.is_empty())?.indent;
    let mut text = String::new();
    while let Some(raw) = lines.rest.split('\n').next().filter(|raw| raw.starts_with(' ')) {
        let line = lines.next()?;
        // Trailing spaces are content, and deeper lines are not folded.
        if line.indent != indent || line.text.is_empty() || raw.ends_with(' ') {
            return None;
        }
        if !text.is_empty() {
            text.push(joint);
        }
        text.push_str(line.text);
    }
    if !lines.at_entry() || lines.peek().is_some_and(|line| line.text.starts_with('#')) {
        return None;
    }
    text.push_str(end);
    Some(Value::quoted(text))
}

/// What follows a key with nothing behind it: a list, a map of scalars, or nothing.
fn collection(lines: &mut Lines<'_>) -> Option<Value> {
    let Some(first) = lines.peek() else { return Some(Value::plain("~")) };
    if first.text.is_empty() || first.text.starts_with('#') {
        return None;
    }
    if first.text.starts_with("- ") {
        return list(lines, first.indent);
    }
    if first.indent == 0 {
        return Some(Value::plain("~"));
    }
    map(lines, first.indent)
}

fn list(lines: &mut Lines<'_>, indent: usize) -> Option<Value> {
    let mut items = Vec::new();
    while let Some(line) = lines.peek().filter(|line| line.indent == indent) {
        let Some(item) = line.text.strip_prefix("- ") else { break };
        items.push(list_item(item.trim_start_matches(' '))?);
        lines.next();
    }
    (lines.at_entry() && lines.peek().is_none_or(|line| line.text != "-"))
        .then_some(Value::List(items))
}

/// A scalar item; `a: b` would be a map.
fn list_item(text: &str) -> Option<Value> {
    (!text.starts_with('[')).then(|| scalar(text)).flatten()
}

fn map(lines: &mut Lines<'_>, indent: usize) -> Option<Value> {
    let mut entries = Map::default();
    while let Some(line) = lines.peek().filter(|line| line.indent == indent) {
        let (key, rest) = entry(line.text)?;
        if rest.is_empty() || entries.0.len() >= ENTRIES || entries.get(key).is_some() {
            return None;
        }
        lines.next();
        entries.0.push((key.to_owned(), scalar_or_flow(rest)?));
    }
    lines.at_entry().then_some(Value::Map(entries))
}
