//! Server-sent events: the bytes of a response in, split anywhere; events out.
//!
//! Follows the WHATWG standard, without `id` and `retry`: a broken reply is asked for again, never continued.
//! Invariant: at most [`MAX_EVENT_BYTES`] are kept, whatever is sent.

use std::borrow::Cow;

use basics::failure::Explain;
use thiserror::Error;

/// How many bytes an unfinished event may have, and with it every line.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// What kind of event it is; `message` unless the server says otherwise.
    pub name: String,
    /// The data, its lines joined by line feeds.
    pub data: String,
}

/// Why a response cannot be read on.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SseError {
    /// An event grew past the limit.
    #[error("an event of the stream is longer than {MAX_EVENT_BYTES} bytes")]
    TooLong,
}

impl Explain for SseError {
    fn code(&self) -> &'static str {
        "MalformedAnswer"
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::TooLong => "check that the base URL is the address of a model server",
        }
        .into()
    }
}

/// Reads a response in pieces.
#[derive(Default)]
pub struct Decoder {
    /// The beginning of a line that ends in a later piece.
    line: Vec<u8>,
    name: Vec<u8>,
    /// The data lines so far, each with a line feed after it.
    data: Vec<u8>,
    first_line_read: bool,
    after_carriage_return: bool,
    failure: Option<SseError>,
}

impl Decoder {
    /// Reads the next piece and gives the events that it completes; an error comes last, and again from every later call.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Result<Event, SseError>> {
        let mut events = Vec::new();
        if self.failure.is_none() {
            self.failure = self.read(bytes, &mut events).err();
        }
        let failure = self.failure.map(Err);
        events.into_iter().map(Ok).chain(failure).collect()
    }

    fn read(&mut self, mut bytes: &[u8], events: &mut Vec<Event>) -> Result<(), SseError> {
        if self.after_carriage_return && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            self.after_carriage_return = false;
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.hold(&bytes[..end])?;
            let mut line = std::mem::take(&mut self.line);
            events.extend(self.end_line(&line));
            line.clear();
            self.line = line;
            let after = &bytes[end + 1..];
            let carriage_return = bytes[end] == b'\r';
            self.after_carriage_return = carriage_return && after.is_empty();
            bytes =
                if carriage_return { after.strip_prefix(b"\n").unwrap_or(after) } else { after };
        }
        self.hold(bytes)
    }

    fn hold(&mut self, part: &[u8]) -> Result<(), SseError> {
        if self.line.len() + self.name.len() + self.data.len() + part.len() > MAX_EVENT_BYTES {
            return Err(SseError::TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn end_line(&mut self, mut line: &[u8]) -> Option<Event> {
        if !std::mem::replace(&mut self.first_line_read, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = value.to_vec(),
            // Comments, which have no name, and fields that mean nothing here.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let data = data.strip_suffix(b"\n")?;
        let name = if name.is_empty() { b"message" } else { &name[..] };
        let [name, data] = [name, data].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Some(Event { name, data })
    }
}

#[cfg(test)]
mod tests;
