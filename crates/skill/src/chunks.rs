//! Blocks of a skill's body that are loaded one by one.
//!
//! Invariant: the core content and the chunks' contents together hold every line of the body but the
//! chunk tags; a tag that is not understood stays where it is, as text.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::markdown::{Line, lines};
use crate::metadata::Diagnostic;

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

/// Takes a body apart.
pub fn parse(body: &str) -> Parts {
    let mut scanner = Scanner { body, parts: Parts::default(), open: None, kept: 0, seen: 0 };
    for line in lines(body) {
        // A tag may stretch over several lines.
        if !line.in_code && line.end > scanner.seen {
            scanner.line(line);
        }
    }
    scanner.finish()
}

struct Scanner<'a> {
    body: &'a str,
    parts: Parts,
    open: Option<Open>,
    /// Where the text begins that is not yet in the core content.
    kept: usize,
    /// Where the text begins that has not been looked at.
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

impl Scanner<'_> {
    fn line(&mut self, line: Line<'_>) {
        let indent = line.text.len() - line.text.trim_start().len();
        if self.seen <= line.start && starts_tag(line.text.trim_start()) {
            self.tag(line.start + indent);
        }
        let text = self.body[self.seen.max(line.start).min(line.end)..line.end].trim_end();
        if ends_with_end(text) {
            let start = self.seen.max(line.start) + text.len() - END.len();
            self.close(start..start + END.len(), line.end);
        }
    }

    fn tag(&mut self, start: usize) {
        let Some((attributes, length)) = opening_tag(&self.body[start..]) else {
            return self.note(
                "malformed-chunk",
                "a chunk's tag is not understood and stays text".to_owned(),
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
            found.map(|(_, value)| crate::text::one_line(value).into_owned()).unwrap_or_default()
        };
        let id = value("id");
        if id.is_empty() {
            return self.note("malformed-chunk", "a chunk without an id stays text".to_owned());
        }
        let tag = start..self.seen;
        self.open =
            Some(Open { id, description: value("description"), tag, within: 0, nested: false });
    }

    /// `end` is the closing tag, `next` where the following line begins.
    fn close(&mut self, end: Range<usize>, next: usize) {
        let Some(open) = self.open.as_mut() else {
            return self
                .note("unopened-chunk", format!("a `{END}` without a beginning stays text"));
        };
        if open.within > 0 {
            open.within -= 1;
            return;
        }
        let Some(Open { id, description, tag, nested, .. }) = self.open.take() else { return };
        if nested {
            return self
                .note("nested-chunk", format!("chunk `{id}` holds another chunk; both stay text"));
        }
        if self.parts.chunks.iter().any(|chunk| chunk.id == id) {
            return self.note("duplicate-chunk", format!("a second chunk `{id}` stays text"));
        }
        let content = self.body[tag.end..end.start].trim_matches('\n').to_owned();
        self.parts.core.push_str(&self.body[self.kept..tag.start]);
        self.kept = next;
        self.parts.chunks.push(Chunk { id, description, content });
    }

    fn finish(mut self) -> Parts {
        if let Some(open) = &self.open {
            let message = format!("chunk `{}` is never closed and stays text", open.id);
            self.note("unclosed-chunk", message);
        }
        self.parts.core.push_str(&self.body[self.kept..]);
        self.parts
    }

    fn note(&mut self, code: &str, message: String) {
        self.parts.diagnostics.push(Diagnostic::new(code, message));
    }
}

fn starts_tag(text: &str) -> bool {
    let name = text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("<chunk"));
    name && text[6..].chars().next().is_none_or(|c| c.is_whitespace() || c == '>')
}

fn ends_with_end(text: &str) -> bool {
    let start = text.len().checked_sub(END.len()).and_then(|start| text.get(start..));
    start.is_some_and(|end| end.eq_ignore_ascii_case(END))
}

/// Bytes that one tag may take; a `<chunk` without an end must not swallow the document.
const TAG_BYTES: usize = 4_096;

/// Attributes of the tag that `text` begins with, and the tag's length.
fn opening_tag(text: &str) -> Option<(Vec<(String, String)>, usize)> {
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
        if !is_key || text.len() - after.len() > TAG_BYTES {
            return None;
        }
        found.push((key.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Some((found, text.len() - rest.len() + 1))
}
