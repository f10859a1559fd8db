//! The most common broken YAML: a value with `: ` in it and no quotes around it.

#[cfg(test)]
mod tests;

use crate::value::Map;

/// Fields that say what may be done with a skill.
const CONTROLS: [&str; 5] =
    ["allowed-tools", "disable-model-invocation", "run-mode", "user-invocable", "user-invokable"];

/// Rewrites every top-level plain scalar as a block scalar, so that its text means itself; `None`
/// when there is none, or when a line may be a field as well as a part of the text above it.
pub(super) fn quote_values(yaml: &str) -> Option<String> {
    let mut repaired = String::with_capacity(yaml.len() + 64);
    let mut changed = false;
    let mut lines = yaml.lines().peekable();
    while let Some(line) = lines.next() {
        match plain_entry(line) {
            Some((key, value)) => {
                changed = true;
                repaired.push_str(key);
                repaired.push_str(": >-");
                push_block(&mut repaired, value, || lines.next_if(|next| is_continuation(next)))?;
            }
            None => repaired.push_str(line),
        }
        repaired.push('\n');
    }
    changed.then_some(repaired)
}

/// A plain scalar goes on over indented lines, and ends at a comment. The comment is kept at the left
/// margin, where nothing can continue the block behind it.
fn push_block<'a>(
    repaired: &mut String,
    value: &'a str,
    mut more: impl FnMut() -> Option<&'a str>,
) -> Option<()> {
    let mut line = value;
    loop {
        let (text, comment) = split_comment(line);
        repaired.push_str("\n  ");
        repaired.push_str(text.trim());
        if let Some(comment) = comment {
            repaired.push('\n');
            repaired.push_str(comment);
            return Some(());
        }
        match more() {
            // A field that is only indented must not be lost in a description.
            Some(next) if plain_entry(next.trim_start()).is_some() => return None,
            Some(next) => line = next,
            None => return Some(()),
        }
    }
}

/// `key: value` at the left margin, where the value is a plain scalar.
fn plain_entry(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let value = value.strip_prefix([' ', '\t'])?.trim();
    let is_key =
        !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    let is_plain = !value.is_empty()
        && !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '#']);
    (is_key && is_plain).then_some((key, value))
}

/// Whether each control that is written in `yaml`, with a colon behind it and wherever that is, is
/// among the repaired fields: none may have become a part of some other field's text.
pub(super) fn keeps_controls(yaml: &str, fields: &Map) -> bool {
    let lines: Vec<&str> = yaml.lines().map(|line| split_comment(line).0).collect();
    let text = lines.join("\n");
    CONTROLS.iter().all(|name| count_key(&text, name) == usize::from(fields.get(name).is_some()))
}

/// How often `name` is written as a key, quoted or not.
fn count_key(text: &str, name: &str) -> usize {
    let is_key = |(at, _): &(usize, &str)| {
        let begins = !text[..*at].ends_with(|c: char| c.is_alphanumeric() || "-_.".contains(c));
        let behind = text[at + name.len()..].trim_start_matches(['"', '\'']);
        begins && behind.trim_start().starts_with(':')
    };
    text.match_indices(name).filter(is_key).count()
}

/// In a plain scalar a `#` behind white space begins a comment; in a block scalar it would be text.
fn split_comment(line: &str) -> (&str, Option<&str>) {
    let begins = |at: usize| at == 0 || line[..at].ends_with([' ', '\t']);
    match line.match_indices('#').map(|(at, _)| at).find(|at| begins(*at)) {
        Some(at) => (&line[..at], Some(&line[at..])),
        None => (line, None),
    }
}

fn is_continuation(line: &str) -> bool {
    line.starts_with([' ', '\t']) && !line.trim().is_empty()
}
