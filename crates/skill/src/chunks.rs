//! Blocks of a skill's body that are loaded one by one.
//!
//! Invariant: the core content and the chunks' contents together hold every line of the body but the
//! chunk tags; a tag that is not understood stays where it is, as text.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use basics::skill::Diagnostic;

use crate::markdown::{INDENT, Line, indentation, lines};

/// A block that is loaded on demand.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Chunk {
    /// Its name within the skill.
    pub id: String,
    /// What is in it.
    pub description: String,
    /// Its Markdown.
    #[serde(skip)]
    pub content: String,
}

/// A body, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// The body without its chunks.
    pub core: String,
    /// The chunks, in the order of the document.
    pub chunks: Vec<Chunk>,
    /// Tags that are left as text, and why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Takes a body apart. An opening tag begins a line that is not indented like code, or follows a
/// closing one; a closing tag ends a line, or comes before an opening one.
pub fn parse(body: &str) -> Parts {
    let mut scanner = Scanner {
        body,
        parts: Parts::default(),
        ids: HashSet::new(),
        open: None,
        kept: 0,
        seen: 0,
    };
    for line in lines(body) {
        if !line.in_code {
            scanner.line(line);
        }
    }
    scanner.finish()
}

struct Scanner<'a> {
    body: &'a str,
    parts: Parts,
    ids: HashSet<String>,
    open: Option<Open>,
    /// Where the text begins that is not yet in the core content.
    kept: usize,
    /// Where the text begins that has not been looked at: a tag may stretch over several lines.
    seen: usize,
}

/// A chunk whose end has not been seen.
struct Open {
    id: String,
    description: String,
    tag: Range<usize>,
    /// Chunks within it that are open: both it and they are text.
    within: usize,
    nested: bool,
}

const END: &str = "</chunk>";
/// Diagnostics of one body; the last one stands for all that follow.
const NOTED: usize = 50;

impl Scanner<'_> {
    fn line(&mut self, line: Line<'_>) {
        let mut may_open = self.seen <= line.start && indentation(line.text, 0).0 <= INDENT;
        self.seen = self.seen.max(line.start);
        while self.seen < line.end {
            let rest = &self.body[self.seen..line.end];
            let tag = self.seen + rest.len() - rest.trim_start().len();
            if may_open && starts_tag(rest.trim_start()) {
                self.seen = tag;
                self.tag();
                may_open = false;
            } else if let Some(at) = closing_tag(rest) {
                let end = self.seen + at;
                self.seen = end + END.len();
                let is_last = self.body[self.seen..line.end].trim().is_empty();
                self.close(end, if is_last { line.end } else { self.seen });
                may_open = true;
            } else {
                self.seen = line.end;
            }
        }
    }

    /// Looks at the opening tag that the unseen text begins with.
    fn tag(&mut self) {
        let start = self.seen;
        let Some((attributes, length)) = opening_tag(&self.body[start..]) else {
            self.seen += "<chunk".len();
            return self.note(
                "malformed-chunk",
                "a chunk's tag is not valid, so it stays text".to_owned(),
            );
        };
        self.seen = start + length;
        if let Some(open) = &mut self.open {
            open.nested = true;
            open.within += 1;
            return;
        }
        let value = |name: &str| {
            let found = attributes.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
            found.map(|(_, value)| basics::text::one_line(value).into_owned()).unwrap_or_default()
        };
        let id = value("id");
        if id.is_empty() {
            return self.note("malformed-chunk", "a chunk without an id stays text".to_owned());
        }
        let tag = start..self.seen;
        self.open =
            Some(Open { id, description: value("description"), tag, within: 0, nested: false });
    }

    /// `end` is where the closing tag begins, `next` where the text behind it does.
    fn close(&mut self, end: usize, next: usize) {
        let Some(open) = self.open.as_mut() else {
            return self
                .note("unopened-chunk", format!("a `{END}` has no beginning, so it stays text"));
        };
        if open.within > 0 {
            open.within -= 1;
            return;
        }
        let Some(Open { id, description, tag, nested, .. }) = self.open.take() else { return };
        if nested {
            return self.note(
                "nested-chunk",
                format!("chunk `{id}` contains another chunk; both stay text"),
            );
        }
        if !self.ids.insert(id.clone()) {
            return self.note("duplicate-chunk", format!("a second chunk `{id}` stays text"));
        }
        let content = without_blank_edges(&self.body[tag.end..end]).to_owned();
        self.parts.core.push_str(self.body[self.kept..tag.start].trim_end_matches([' ', '\t']));
        self.kept = next;
        self.parts.chunks.push(Chunk { id, description, content });
    }

    fn finish(mut self) -> Parts {
        if let Some(open) = &self.open {
            let message = format!("chunk `{}` is never closed, so it stays text", open.id);
            self.note("unclosed-chunk", message);
        }
        self.parts.core.push_str(&self.body[self.kept..]);
        self.parts
    }

    fn note(&mut self, code: &str, message: String) {
        let diagnostics = &mut self.parts.diagnostics;
        if diagnostics.len() + 1 < NOTED {
            diagnostics.push(Diagnostic::new(code, message));
        } else if diagnostics.len() < NOTED {
            diagnostics.push(Diagnostic::new("more-chunk-problems", "further tags stay text"));
        }
    }
}

fn starts_tag(text: &str) -> bool {
    let name = text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("<chunk"));
    name && text[6..].chars().next().is_none_or(|c| c.is_whitespace() || c == '>')
}

/// Where the first closing tag begins that ends the line or comes before an opening one.
fn closing_tag(line: &str) -> Option<usize> {
    let is_end = |at: &usize| {
        let tag = line.get(*at..*at + END.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(END))
    };
    let ends = |at: &usize| {
        let rest = line[*at + END.len()..].trim_start();
        rest.is_empty() || starts_tag(rest)
    };
    line.match_indices("</").map(|(at, _)| at).find(|at| is_end(at) && ends(at))
}

/// The content without the blank lines around it; a first line keeps its indentation.
fn without_blank_edges(content: &str) -> &str {
    let blank = content.len() - content.trim_start().len();
    let start = content[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    content[start..].trim_end()
}

/// Bytes that one tag may take; a `<chunk` without an end must not swallow the document.
const TAG_BYTES: usize = 4_096;

/// Attributes of the tag that `text` begins with, and the tag's length.
fn opening_tag(text: &str) -> Option<(Vec<(String, String)>, usize)> {
    let text = &text[..text.floor_char_boundary(TAG_BYTES)];
    let mut found = Vec::new();
    let mut rest = text["<chunk".len()..].trim_start();
    while !rest.starts_with('>') {
        let (key, after) = rest.split_once('=')?;
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, after) = after[1..].split_once(quote)?;
        let key = key.trim();
        let is_key = !key.is_empty()
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if !is_key {
            return None;
        }
        found.push((key.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Some((found, text.len() - rest.len() + 1))
}
