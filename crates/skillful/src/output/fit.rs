//! Text in the columns of a terminal, where some letters take two and some none.
//!
//! What comes here has no control characters any more.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// Columns that `text` takes.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(columns_of).sum() }
}

/// `text` in at most `room` columns, with a `…` where something was cut; all of it without a room.
pub(crate) fn clip(text: &str, room: Option<usize>) -> Cow<'_, str> {
    match room {
        Some(room) if columns(text) > room => {
            let kept = &text[..end_of(text, room.saturating_sub(1))];
            format!("{}…", kept.trim_end()).into()
        }
        _ => text.into(),
    }
}

/// A line with styles of ours, cut to at most `room` columns.
pub(crate) fn clip_styled(line: &str, room: usize) -> String {
    let total: usize = pieces(line).filter(|piece| !is_style(piece)).map(columns).sum();
    if total <= room {
        return line.to_owned();
    }
    let mut left = room.saturating_sub(1);
    let mut clipped = String::new();
    for piece in pieces(line) {
        // Styles after the cut are kept: they end those before it.
        let kept = if is_style(piece) { piece } else { &piece[..end_of(piece, left)] };
        if !is_style(piece) {
            left = if kept.len() < piece.len() { 0 } else { left - columns(kept) };
        }
        clipped.push_str(kept);
    }
    clipped + "…"
}

/// A line with styles of ours in rows of at most `width` columns, broken anywhere, later rows after `indent` spaces.
pub(crate) fn break_styled(line: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = if indent * 2 < width { indent } else { 0 };
    let mut rows = vec![String::new()];
    let (mut taken, mut open) = (0, String::new());
    for piece in pieces(line) {
        let mut rest = piece;
        if is_style(piece) {
            open = if piece == RESET { String::new() } else { open + piece };
        } else {
            while columns(rest) > width.saturating_sub(taken) {
                let end = end_of(rest, width.saturating_sub(taken));
                // At least a letter, even where none fits.
                let end = match taken <= indent && end == 0 {
                    true => rest.chars().next().map_or(0, char::len_utf8),
                    false => end,
                };
                let (before, after) = rest.split_at(end);
                let reset = if open.is_empty() { "" } else { RESET };
                if let Some(row) = rows.last_mut() {
                    row.extend([before, reset]);
                }
                rows.push(format!("{}{open}", " ".repeat(indent)));
                (rest, taken) = (after, indent);
            }
            taken += columns(rest);
        }
        if let Some(row) = rows.last_mut() {
            row.push_str(rest);
        }
    }
    rows
}

/// The end of all styles.
const RESET: &str = "\u{1b}[0m";

/// Text and escape sequences for styles, each by itself.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = match rest.starts_with('\u{1b}') {
            true => rest.find('m').map_or(rest.len(), |place| place + 1),
            false => rest.find('\u{1b}').unwrap_or(rest.len()),
        };
        let (piece, left) = rest.split_at(end);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}

fn is_style(piece: &str) -> bool {
    piece.starts_with('\u{1b}')
}

/// The spaces that `text` lacks to take `width` columns.
pub(crate) fn missing(text: &str, width: usize) -> usize {
    width.saturating_sub(columns(text))
}

/// `text` in lines of at most `width` columns, the first of which begins at column `indent` as all
/// others do. Lines break only between words and not within backquotes, so that a path or a command can still be copied.
pub(crate) fn wrap(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(room) = width.map(|width| width.saturating_sub(indent)) else {
        return text.to_owned();
    };
    let mut lines = String::with_capacity(text.len());
    let mut taken = 0;
    for word in words(text) {
        let needed = columns(word);
        if lines.is_empty() {
            taken = needed;
        } else if taken + 1 + needed <= room {
            lines.push(' ');
            taken += 1 + needed;
        } else {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            taken = needed;
        }
        lines.push_str(word);
    }
    lines
}

/// What lines can break between.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    text.split(move |c| {
        is_quoted ^= c == '`';
        c == ' ' && !is_quoted
    })
}

/// Where the longest beginning of `text` ends that fits into `room` columns.
fn end_of(text: &str, room: usize) -> usize {
    let mut taken = 0;
    let past = text.char_indices().find(|(_, c)| {
        taken += columns_of(*c);
        taken > room
    });
    past.map_or(text.len(), |(place, _)| place)
}

fn columns_of(c: char) -> usize {
    c.width().unwrap_or(0)
}
