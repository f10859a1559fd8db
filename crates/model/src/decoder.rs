//! A provider's answer, byte by byte: a stream of events, or one JSON document.
//!
//! Which of the two it is shows in its first byte; what a server says about the type of its content is often wrong.
//! Invariant: how the bytes were split never changes what is read, and no more than a bounded part of them is kept.

use serde_json::Value;

use crate::answer::{Answer, Answered};
use crate::excerpt::excerpt;
use crate::failure::CallError;
use crate::send::Progress;
use crate::sse;

/// The most that is read of one answer; a stream has many bytes for each that it says.
pub const MAX_ANSWER_BYTES: usize = 64 << 20;
/// The most that is read of an answer that is one document.
const MAX_DOCUMENT_BYTES: usize = 8 << 20;

/// How a provider words its answers.
#[derive(Clone, Copy)]
pub(crate) struct Wording {
    /// Reads the data of one event.
    pub(crate) event: Reader,
    /// Reads a whole answer.
    pub(crate) document: Reader,
}

type Reader = fn(&Value, &mut Answer, &mut dyn FnMut(&str)) -> Result<(), CallError>;

/// Reads one answer.
pub struct Decoder {
    wording: Wording,
    shape: Shape,
    answer: Answer,
    bytes: usize,
}

enum Shape {
    /// Only white space so far.
    Unknown,
    Events(sse::Decoder),
    Document(Vec<u8>),
}

impl Decoder {
    pub(crate) fn new(wording: Wording, offers_tools: bool) -> Self {
        Self { wording, shape: Shape::Unknown, answer: Answer::new(offers_tools), bytes: 0 }
    }

    /// Takes the next bytes; the text of the decision goes to `delta` as soon as it is known.
    pub fn push(&mut self, bytes: &[u8], delta: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        if self.bytes > MAX_ANSWER_BYTES {
            return Err(CallError::TooLong { limit: MAX_ANSWER_BYTES });
        }
        let mut bytes = bytes;
        if let Shape::Unknown = self.shape {
            bytes = bytes.trim_ascii_start();
            match bytes.first() {
                None => return Ok(()),
                Some(b'{' | b'[' | b'<') => self.shape = Shape::Document(Vec::new()),
                Some(_) => self.shape = Shape::Events(sse::Decoder::default()),
            }
        }
        match &mut self.shape {
            Shape::Events(events) => {
                for event in events.push(bytes) {
                    let event = event
                        .map_err(|error| CallError::Malformed { reason: error.to_string() })?;
                    self.event(&event.data, delta)?;
                }
                Ok(())
            }
            Shape::Document(held) if held.len() + bytes.len() > MAX_DOCUMENT_BYTES => {
                Err(CallError::TooLong { limit: MAX_DOCUMENT_BYTES })
            }
            Shape::Document(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
            Shape::Unknown => Ok(()),
        }
    }

    /// Whether to read on.
    pub fn progress(&self) -> Progress {
        match (self.answer.is_too_long(), self.answer.ended) {
            (true, _) => Progress::Enough,
            // All that may follow is what it used.
            (false, true) => Progress::Ended,
            (false, false) => Progress::More,
        }
    }

    /// The answer, now that there are no more bytes.
    pub fn finish(mut self, delta: &mut dyn FnMut(&str)) -> Result<Answered, CallError> {
        match std::mem::replace(&mut self.shape, Shape::Unknown) {
            Shape::Unknown => {
                return Err(CallError::Broken { reason: "the answer is empty".to_owned() });
            }
            Shape::Events(_) if self.progress() == Progress::More => {
                let reason = format!("the answer ends in the middle, after {} bytes", self.bytes);
                return Err(CallError::Broken { reason });
            }
            Shape::Events(_) => {}
            Shape::Document(held) => {
                let document = whole(&held)?;
                (self.wording.document)(&document, &mut self.answer, delta)?;
            }
        }
        self.answer.finish(delta)
    }

    fn event(&mut self, data: &str, delta: &mut dyn FnMut(&str)) -> Result<(), CallError> {
        if data.trim() == "[DONE]" {
            self.answer.ended = true;
            return Ok(());
        }
        let value: Value = serde_json::from_str(data).map_err(|_| CallError::Malformed {
            reason: format!("an event that is not JSON: {}", excerpt(data)),
        })?;
        (self.wording.event)(&value, &mut self.answer, delta)
    }
}

fn whole(bytes: &[u8]) -> Result<Value, CallError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        if error.is_eof() && !text.starts_with('<') {
            return CallError::Broken {
                reason: format!("the answer ends in the middle, after {} bytes", bytes.len()),
            };
        }
        CallError::Malformed { reason: excerpt(&text) }
    })
}
