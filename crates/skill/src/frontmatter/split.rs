//! Finding where a frontmatter begins and ends, in as few bytes as possible.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::{FrontmatterError, Limits};

/// What the first bytes of a file show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// Both `---` lines were seen.
    Whole {
        /// The bytes between them.
        yaml: Range<usize>,
        /// Where the body begins.
        body: usize,
    },
    /// The closing line may be further on.
    Unfinished,
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Looks for a frontmatter at the start of `bytes`, which may be the beginning of a longer file.
pub fn split(bytes: &[u8], limits: &Limits) -> Result<Split, FrontmatterError> {
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut lines = Lines { bytes, at: start };
    match lines.next() {
        Some(line) if too_long(&bytes[line.text.clone()], limits.line_chars) => {
            return Err(FrontmatterError::Absent);
        }
        Some(line) if line.ended && is_fence(&bytes[line.text.clone()]) => {}
        Some(line) if !line.ended && could_open(&bytes[line.text.clone()]) => {
            return Ok(Split::Unfinished);
        }
        None => return Ok(Split::Unfinished),
        Some(_) => return Err(FrontmatterError::Absent),
    }
    let first = lines.at;
    for number in 2.. {
        let Some(line) = lines.next() else { break };
        let text = &bytes[line.text.clone()];
        if too_long(text, limits.line_chars) {
            return Err(FrontmatterError::LineTooLong { line: number, limit: limits.line_chars });
        }
        if line.ended && is_fence(text) {
            return Ok(Split::Whole { yaml: first..line.text.start, body: lines.at });
        }
        if line.ended && number > limits.lines.saturating_add(1) {
            return Err(FrontmatterError::TooManyLines { limit: limits.lines });
        }
    }
    Ok(Split::Unfinished)
}

/// Like [`split`], for a file that has been read to its end.
pub(crate) fn split_whole(
    bytes: &[u8],
    limits: &Limits,
) -> Result<(Range<usize>, usize), FrontmatterError> {
    match split(bytes, limits)? {
        Split::Whole { yaml, body } => Ok((yaml, body)),
        Split::Unfinished => closed_at_end(bytes, limits),
    }
}

/// A file may end right after the closing `---`, without a newline.
fn closed_at_end(bytes: &[u8], limits: &Limits) -> Result<(Range<usize>, usize), FrontmatterError> {
    let last = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    if is_fence(&bytes[last..]) {
        let mut ended = bytes.to_vec();
        ended.push(b'\n');
        if let Split::Whole { yaml, .. } = split(&ended, limits)? {
            return Ok((yaml, bytes.len()));
        }
    }
    let start = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let opened = bytes[start..].split(|b| *b == b'\n').next().is_some_and(is_fence);
    Err(if opened { FrontmatterError::Unclosed } else { FrontmatterError::Absent })
}

struct Line {
    text: Range<usize>,
    ended: bool,
}

struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Lines<'_> {
    fn next(&mut self) -> Option<Line> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let start = self.at;
        let newline = memchr(rest);
        let end = start + newline.unwrap_or(rest.len());
        self.at = if newline.is_some() { end + 1 } else { end };
        Some(Line { text: start..end, ended: newline.is_some() })
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|b| *b == b'\n')
}

fn is_fence(line: &[u8]) -> bool {
    line.starts_with(b"---") && line[3..].iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'))
}

/// Whether an unfinished first line can still become `---`.
fn could_open(line: &[u8]) -> bool {
    b"---".starts_with(line) || BOM.starts_with(line) || is_fence(line)
}

/// Characters are counted by their first bytes; bytes that are no text must not escape the bound.
fn too_long(line: &[u8], limit: usize) -> bool {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    line.len() > limit
        && (line.len() > limit.saturating_mul(4)
            || line.iter().filter(|b| !is_continuation(**b)).count() > limit)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
