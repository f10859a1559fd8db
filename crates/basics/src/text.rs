//! Characters that must not reach a model or a terminal unseen.
//!
//! Skills are written by strangers, so their text may hold escape sequences, invisible letters or
//! marks that reorder what a person reads.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write;

/// Whether `c` changes what is shown without being seen: control characters other than newline and
/// tab, zero-width and bidirectional marks, tag characters.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        c if c.is_control() => true,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{180E}' => true,
        '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => true,
        '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' => true,
        '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}' => true,
        _ => false,
    }
}

/// Whether `text` holds a hidden character.
pub fn has_hidden(text: &str) -> bool {
    !is_plain_ascii(text) && text.chars().any(is_hidden)
}

/// `text` without hidden characters, and how many were removed.
pub fn strip_hidden(text: &str) -> (Cow<'_, str>, usize) {
    if !has_hidden(text) {
        return (Cow::Borrowed(text), 0);
    }
    let kept: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    let removed = text.chars().count() - kept.chars().count();
    (Cow::Owned(kept), removed)
}

/// `text` on one line and with hidden characters spelled out, so that a terminal shows what is
/// really there.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    escape(text, |c| c == '\n' || c == '\t' || is_hidden(c))
}

/// Like [`for_terminal`], but newlines and tabs stay: for text of several lines.
pub fn for_terminal_block(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// `text` with every run of white space folded into one space, hidden characters left out.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if is_one_line(text) { Cow::Borrowed(text) } else { Cow::Owned(folded(text)) }
}

/// Printable ASCII with single spaces between words, as nearly every description is.
fn is_one_line(text: &str) -> bool {
    all_bytes(text, |b| matches!(b, b' '..=b'~'))
        && !text.contains("  ")
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

fn folded(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_hidden(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// The longest prefix of `text` with at most `limit` characters.
pub fn prefix(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

fn escape(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if all_bytes(text, |b| matches!(b, b' '..=b'~')) || !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' if hidden(c) => shown.push_str("\\n"),
            '\t' if hidden(c) => shown.push_str("\\t"),
            c if hidden(c) => write!(shown, "\\u{{{:x}}}", c as u32).expect("writing to a string"),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_plain_ascii(text: &str) -> bool {
    all_bytes(text, |b| matches!(b, b' '..=b'~' | b'\n' | b'\t'))
}

/// Looks at every byte even after one that fails: without a way out, many are compared at once.
fn all_bytes(text: &str, holds: impl Fn(u8) -> bool) -> bool {
    text.bytes().fold(true, |all, byte| all & holds(byte))
}
