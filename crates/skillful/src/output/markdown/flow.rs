//! Styled words in lines.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

/// A piece of text in one style, without newlines.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    pub(super) style: Style,
    pub(super) text: String,
}

/// Adds a piece; pieces of one style become one.
pub(super) fn add(spans: &mut Vec<Span>, style: Style, text: &str) {
    match spans.last_mut() {
        Some(last) if last.style == style => last.text.push_str(text),
        _ => spans.push(Span { style, text: text.to_owned() }),
    }
}

/// The pieces with their styles spelled out.
pub(super) fn spelled(spans: &[Span]) -> String {
    let mut line = String::new();
    for Span { style, text } in spans.iter().filter(|span| !span.text.is_empty()) {
        // Writing to a string cannot fail.
        let _ = write!(line, "{style}{text}{style:#}");
    }
    line
}

pub(super) fn columns(spans: &[Span]) -> usize {
    spans.iter().map(|span| crate::output::fit::columns(&span.text)).sum()
}

/// The pieces in lines of at most `width` columns. Lines break between words, beside wide letters, at newlines; a longer
/// word stays whole, so that an address can be copied, unless it must `fit`.
pub(super) fn wrap(spans: &[Span], width: usize, fit: bool) -> Vec<Vec<Span>> {
    let mut lines = Lines { done: Vec::new(), line: Vec::new(), taken: 0, gap: None };
    let mut word: Vec<Span> = Vec::new();
    for span in spans {
        for c in span.text.chars() {
            let wide = c.width().unwrap_or(0);
            if c == ' ' || c == '\n' || wide > 1 || (fit && columns(&word) + wide > width) {
                lines.place(&mut word, width);
            }
            match c {
                ' ' => {
                    let before = lines.gap.map_or(0, |(_, spaces)| spaces);
                    lines.gap = Some((span.style, before + 1));
                }
                '\n' => lines.end(),
                c => add(&mut word, span.style, c.encode_utf8(&mut [0; 4])),
            }
            if wide > 1 {
                lines.place(&mut word, width);
            }
        }
    }
    lines.place(&mut word, width);
    if !lines.line.is_empty() || lines.done.is_empty() {
        lines.end();
    }
    lines.done
}

struct Lines {
    done: Vec<Vec<Span>>,
    line: Vec<Span>,
    taken: usize,
    /// Spaces that come before the next word on this line.
    gap: Option<(Style, usize)>,
}

impl Lines {
    fn place(&mut self, word: &mut Vec<Span>, width: usize) {
        if word.is_empty() {
            return;
        }
        let needed = columns(word);
        let gap = self.gap.take();
        let spaces = gap.map_or(0, |(_, spaces)| spaces);
        if !self.line.is_empty() && self.taken + spaces + needed > width {
            self.end();
        } else if let Some((style, spaces)) = gap.filter(|_| !self.line.is_empty()) {
            add(&mut self.line, style, &" ".repeat(spaces));
            self.taken += spaces;
        }
        self.taken += needed;
        for Span { style, text } in word.drain(..) {
            add(&mut self.line, style, &text);
        }
    }

    fn end(&mut self) {
        self.done.push(std::mem::take(&mut self.line));
        (self.taken, self.gap) = (0, None);
    }
}
