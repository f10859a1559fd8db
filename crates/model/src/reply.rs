//! The JSON object in a model's reply that may have prose, code fences and thinking around it.
//!
//! Invariant: what [`ReplyParser`] shows early belongs to the object that [`outermost_object`] finds in the whole reply,
//! or the whole reply is refused; a shown text is never silently replaced by another.

mod scan;

use basics::text::prefix;
use thiserror::Error;

use crate::json::{Event, Mode, Parser, PathError};
use scan::{Mark, Opening, Scanner};

/// Why a reply does not have exactly one JSON object.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ObjectError {
    /// Nothing looks like an object with members.
    #[error("no JSON object in the reply")]
    Missing,
    /// The reply ends inside an object.
    #[error("the JSON object at byte {start} is never closed")]
    Unclosed {
        /// Bytes before the object.
        start: usize,
    },
    /// There are two objects or more, and it cannot be known which is meant.
    #[error("JSON objects at byte {first} and at byte {second}, one is expected")]
    Several {
        /// Bytes before the first object.
        first: usize,
        /// Bytes before the second.
        second: usize,
    },
}

impl ObjectError {
    /// What the writer of the reply can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing => "reply with one JSON object and nothing else",
            Self::Unclosed { .. } => {
                "close every string and brace; shorten the reply if it was cut off"
            }
            Self::Several { .. } => {
                "reply with one JSON object, without drafts or examples around it"
            }
        }
    }
}

/// Finds the one outermost JSON object in a reply: the text from its `{` to the matching `}`, not yet parsed.
///
/// An object begins with `{` and a quote, so that braces and `{}` in prose do not count. Nothing in `<think>…</think>`
/// counts, nor does what comes before a `</think>` that was never opened (some servers cut the opening tag off).
pub fn outermost_object(reply: &str) -> Result<&str, ObjectError> {
    let mut scanner = Scanner::default();
    // The first two, each with its end once that is known.
    let mut objects = Vec::with_capacity(2);
    for (index, byte) in reply.bytes().enumerate() {
        match scanner.step(byte) {
            Some(Mark::Began(opening)) if objects.len() < 2 => objects.push((opening.start, None)),
            Some(Mark::Ended) if objects.len() == 1 => objects[0].1 = Some(index + 1),
            Some(Mark::Discarded) => objects.clear(),
            _ => {}
        }
    }
    match objects[..] {
        [] => Err(ObjectError::Missing),
        [(start, None)] => Err(ObjectError::Unclosed { start }),
        [(start, Some(end))] => Ok(&reply[start..end]),
        [(first, _), (second, _), ..] => Err(ObjectError::Several { first, second }),
    }
}

/// A reply without what the model thought: what stands in `<think>…</think>`, and what comes before a `</think>` that was
/// never opened.
pub(crate) fn without_thinking(reply: &str) -> String {
    let (mut said, mut from, mut thinking) = (String::new(), 0, false);
    for (place, _) in reply.match_indices('<') {
        let after = prefix(&reply[place + 1..], "/thinking>".len());
        let tag = after.split_once('>').map(|(tag, _)| tag);
        let end = |tag: &str| place + tag.len() + 2;
        match tag {
            Some(tag) if !thinking && is_thought(tag) => {
                said.push_str(&reply[from..place]);
                (from, thinking) = (end(tag), true);
            }
            Some(tag) if tag.strip_prefix('/').is_some_and(is_thought) => {
                if !thinking {
                    said.clear();
                }
                (from, thinking) = (end(tag), false);
            }
            _ => {}
        }
    }
    if !thinking {
        said.push_str(&reply[from..]);
    }
    said
}

fn is_thought(tag: &str) -> bool {
    ["think", "thinking"].iter().any(|name| tag.eq_ignore_ascii_case(name))
}

/// Reads a reply while it arrives and reports what is at watched paths of its JSON object.
///
/// It begins where only white space, thinking or a code fence precedes the object. After other prose an object may still
/// turn out to be a draft, and in a reply that is wrong nothing more can be trusted: then it stays silent, because the
/// whole reply is parsed and judged in any case.
pub struct ReplyParser<T> {
    scanner: Scanner,
    parser: Parser<T>,
    phase: Phase,
}

enum Phase {
    Seeking,
    Reading,
    Silent,
}

impl<T: Copy> ReplyParser<T> {
    /// Watches paths, as [`Parser::new`] does.
    pub fn new(watches: &[(&str, Mode, T)]) -> Result<Self, PathError> {
        Ok(Self {
            scanner: Scanner::default(),
            parser: Parser::new(watches)?,
            phase: Phase::Seeking,
        })
    }

    /// Reads the next piece of the reply, split anywhere.
    pub fn push(&mut self, bytes: &[u8], on_event: &mut impl FnMut(Event<'_, T>)) {
        match self.phase {
            Phase::Seeking => self.seek(bytes, on_event),
            Phase::Reading => self.read(bytes, on_event),
            Phase::Silent => {}
        }
    }

    fn seek(&mut self, bytes: &[u8], on_event: &mut impl FnMut(Event<'_, T>)) {
        for (index, byte) in bytes.iter().enumerate() {
            if let Some(Mark::Began(Opening { trusted: true, .. })) = self.scanner.step(*byte) {
                self.phase = Phase::Reading;
                // The brace may lie in an earlier piece; only white space was between it and this quote.
                self.read(b"{", on_event);
                return self.read(&bytes[index..], on_event);
            }
        }
    }

    fn read(&mut self, bytes: &[u8], on_event: &mut impl FnMut(Event<'_, T>)) {
        if self.parser.push(bytes, on_event).is_err() {
            self.phase = Phase::Silent;
        }
    }
}

#[cfg(test)]
mod tests;
