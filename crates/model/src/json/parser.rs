//! The push parser: structure here, strings and numbers in their own files.
//!
//! Invariant: accepts what `serde_json` accepts as a `Value`, nothing else; memory grows with nesting and watched values only.

use super::capture::Capture;
use super::number::Number;
use super::string::StringDecoder;
use super::watch::{Set, Watches};
use super::{Event, JsonError, Mode, PathError, Piece, Problem};

/// How many arrays and objects may lie inside each other, as in `serde_json`.
pub const MAX_DEPTH: usize = 127;

/// Reads one JSON document in pieces and reports what is at watched paths.
pub struct Parser<T> {
    watches: Watches<T>,
    capture: Capture,
    state: State,
    text: StringDecoder,
    number: Number,
    /// What is left of `true`, `false` or `null`.
    literal: &'static str,
    /// The open arrays and objects, outermost first.
    stack: Vec<Container>,
    /// The watches that the current value satisfies so far.
    here: Set,
    key: Vec<u8>,
    offset: u64,
    failure: Option<JsonError>,
}

/// What the next byte belongs to, or what must come next.
#[derive(Clone, Copy)]
enum State {
    Value,
    /// After `[`.
    FirstElement,
    /// After `{`.
    FirstKey,
    Key,
    KeyText,
    Colon,
    Text,
    Number,
    Literal,
    /// After a value in an array or object.
    Next,
    End,
}

struct Container {
    here: Set,
    /// The position of the current element; nothing in an object.
    index: Option<usize>,
}

impl<T: Copy> Parser<T> {
    /// Watches paths such as `$.action.payload.skills[*].name`, each in a mode and under a tag of the caller's.
    pub fn new(watches: &[(&str, Mode, T)]) -> Result<Self, PathError> {
        let watches = Watches::new(watches)?;
        Ok(Self {
            here: watches.root(),
            watches,
            capture: Capture::default(),
            state: State::Value,
            text: StringDecoder::default(),
            number: Number::default(),
            literal: "",
            stack: Vec::new(),
            key: Vec::new(),
            offset: 0,
            failure: None,
        })
    }

    /// Reads the next piece of the document, split anywhere; after an error, every call gives that error again.
    pub fn push(
        &mut self,
        bytes: &[u8],
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<(), JsonError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let piece = Piece { bytes, start: self.offset };
        let result = self.read(piece, on_event);
        self.offset += bytes.len() as u64;
        self.failure = result.err();
        result
    }

    /// Says that the document is over; an error if it is not complete.
    pub fn finish(mut self, on_event: &mut impl FnMut(Event<'_, T>)) -> Result<(), JsonError> {
        match (self.failure, self.state) {
            (Some(failure), _) => Err(failure),
            (None, State::End) => Ok(()),
            (None, State::Number) if self.stack.is_empty() => {
                self.number.finish(self.offset)?;
                self.end_value(Piece { bytes: &[], start: self.offset }, 0, on_event);
                Ok(())
            }
            _ => Err(JsonError { offset: self.offset, problem: Problem::UnexpectedEnd }),
        }
    }

    fn read(
        &mut self,
        piece: Piece<'_>,
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<(), JsonError> {
        let mut index = 0;
        while let Some(&byte) = piece.bytes.get(index) {
            index = match self.state {
                State::KeyText => self.read_key(piece, index)?,
                State::Text => self.read_text(piece, index, on_event)?,
                State::Number => self.read_number(piece, index, on_event)?,
                State::Literal => self.read_literal(piece, index, on_event)?,
                _ => {
                    let offset = piece.start + index as u64;
                    self.structure(byte, piece, index, on_event)
                        .map_err(|problem| JsonError { offset, problem })?;
                    index + 1
                }
            };
        }
        self.capture.hold(piece);
        Ok(())
    }

    /// Reads a byte between keys and values.
    #[inline]
    fn structure(
        &mut self,
        byte: u8,
        piece: Piece<'_>,
        index: usize,
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<(), Problem> {
        let in_array = self.stack.last().is_some_and(|container| container.index.is_some());
        match (self.state, byte) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => {}
            (State::FirstElement, b']') | (State::FirstKey, b'}') => {
                self.close(piece, index, on_event)
            }
            (State::Next, b']') if in_array => self.close(piece, index, on_event),
            (State::Next, b'}') if !in_array => self.close(piece, index, on_event),
            (State::Next, b',') => self.next_child(),
            (State::FirstKey | State::Key, b'"') => {
                self.key.clear();
                self.state = State::KeyText;
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::Value | State::FirstElement, _) => {
                self.begin_value(byte, piece.start + index as u64)?
            }
            (state, found) => {
                return Err(Problem::Unexpected { expected: state.expected(in_array), found });
            }
        }
        Ok(())
    }

    #[inline]
    fn begin_value(&mut self, byte: u8, offset: u64) -> Result<(), Problem> {
        (self.state, self.literal) = match byte {
            b'"' => (State::Text, ""),
            b'{' => (State::FirstKey, ""),
            b'[' => (State::FirstElement, ""),
            b'-' | b'0'..=b'9' => (State::Number, ""),
            b't' => (State::Literal, "rue"),
            b'f' => (State::Literal, "alse"),
            b'n' => (State::Literal, "ull"),
            found => return Err(Problem::Unexpected { expected: "a value", found }),
        };
        let depth = self.stack.len();
        if let Some(Container { here, index: Some(index) }) = self.stack.last() {
            self.here = self.watches.element(*here, depth - 1, *index);
        }
        if self.watches.complete(self.here, depth) & self.watches.values != 0 {
            self.capture.begin(offset);
        }
        match self.state {
            State::Number => self.number = Number::new(byte, offset),
            State::FirstKey | State::FirstElement if depth == MAX_DEPTH => {
                return Err(Problem::TooDeep);
            }
            State::FirstKey => self.stack.push(Container { here: self.here, index: None }),
            State::FirstElement => self.stack.push(Container { here: self.here, index: Some(0) }),
            _ => {}
        }
        Ok(())
    }

    fn next_child(&mut self) {
        self.state = match self.stack.last_mut() {
            Some(Container { index: Some(index), .. }) => {
                *index += 1;
                State::Value
            }
            _ => State::Key,
        };
    }

    fn close(&mut self, piece: Piece<'_>, index: usize, on_event: &mut impl FnMut(Event<'_, T>)) {
        self.here = self.stack.pop().map_or(0, |container| container.here);
        self.end_value(piece, index + 1, on_event);
    }

    /// The current value ended before an index of the piece.
    #[inline]
    fn end_value(&mut self, piece: Piece<'_>, end: usize, on_event: &mut impl FnMut(Event<'_, T>)) {
        let complete = self.watches.complete(self.here, self.stack.len()) & self.watches.values;
        if complete != 0 {
            let json = self.capture.end(piece, piece.start + end as u64);
            self.watches.tags(complete).for_each(|tag| on_event(Event::Value(tag, json)));
        }
        self.state = if self.stack.is_empty() { State::End } else { State::Next };
    }

    #[inline]
    fn read_key(&mut self, piece: Piece<'_>, index: usize) -> Result<usize, JsonError> {
        let Self { text: decoder, watches, stack, key, .. } = self;
        let container = stack.last().map_or(0, |container| container.here);
        let end = match container {
            0 => decoder.push(piece, index, |_| {})?,
            _ => decoder.push(piece, index, |text| watches.collect(key, text))?,
        };
        if end.is_some() {
            self.here = watches.member(container, stack.len() - 1, key);
            self.state = State::Colon;
        }
        Ok(end.unwrap_or(piece.bytes.len()))
    }

    #[inline]
    fn read_text(
        &mut self,
        piece: Piece<'_>,
        index: usize,
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<usize, JsonError> {
        let Self { text: decoder, watches, .. } = self;
        let deltas = watches.complete(self.here, self.stack.len()) & watches.deltas;
        let end = match deltas {
            0 => decoder.push(piece, index, |_| {})?,
            _ => decoder.push(piece, index, |text| {
                watches.tags(deltas).for_each(|tag| on_event(Event::Delta(tag, text)));
            })?,
        };
        if let Some(end) = end {
            watches.tags(deltas).for_each(|tag| on_event(Event::DeltasEnd(tag)));
            self.end_value(piece, end, on_event);
        }
        Ok(end.unwrap_or(piece.bytes.len()))
    }

    #[inline]
    fn read_number(
        &mut self,
        piece: Piece<'_>,
        index: usize,
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<usize, JsonError> {
        let length = self.number.push(&piece.bytes[index..], piece.start + index as u64)?;
        if let Some(length) = length {
            self.end_value(piece, index + length, on_event);
        }
        Ok(length.map_or(piece.bytes.len(), |length| index + length))
    }

    #[inline]
    fn read_literal(
        &mut self,
        piece: Piece<'_>,
        index: usize,
        on_event: &mut impl FnMut(Event<'_, T>),
    ) -> Result<usize, JsonError> {
        let found = piece.bytes[index];
        self.literal = self.literal.strip_prefix(char::from(found)).ok_or_else(|| {
            let problem = Problem::Unexpected { expected: "`true`, `false` or `null`", found };
            JsonError { offset: piece.start + index as u64, problem }
        })?;
        if self.literal.is_empty() {
            self.end_value(piece, index + 1, on_event);
        }
        Ok(index + 1)
    }
}

impl State {
    fn expected(self, in_array: bool) -> &'static str {
        match self {
            Self::FirstKey => "a key in double quotes or `}`",
            Self::Key => "a key in double quotes",
            Self::Colon => "`:`",
            Self::Next if in_array => "`,` or `]`",
            Self::Next => "`,` or `}`",
            Self::End => "nothing after the value",
            _ => "a value",
        }
    }
}

#[cfg(test)]
mod tests;
