//! The grammar and range of one JSON number, a byte at a time.
//!
//! Invariant: constant memory however many digits there are, and the verdict of `serde_json` about the range.

use super::{JsonError, Problem};

/// The number read so far.
#[derive(Default)]
pub(super) struct Number {
    state: State,
    start: u64,
    /// The leading digits, as many as fit.
    significand: u64,
    /// The power of ten that the digits before `e` leave to the significand.
    scale: i64,
    exponent: i64,
    negative_exponent: bool,
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    E,
    Sign,
    Exponent,
}

/// Beyond this, any exponent decides the range alone.
const EXPONENT_CAP: i64 = 10_000_000_000;
/// The largest power of ten that no 64-bit significand turns into infinity.
const SAFE_EXPONENT: i64 = 288;

impl Number {
    /// Begins with the number's first byte, `-` or a digit, at an offset in the text.
    pub(super) fn new(first: u8, start: u64) -> Self {
        let state = match first {
            b'-' => State::Minus,
            b'0' => State::Zero,
            _ => State::Integer,
        };
        let significand = u64::from(first.saturating_sub(b'0'));
        Self { state, start, significand, scale: 0, exponent: 0, negative_exponent: false }
    }

    /// Reads on; gives how many bytes belong to the number when another one follows it.
    pub(super) fn push(&mut self, input: &[u8], offset: u64) -> Result<Option<usize>, JsonError> {
        for (index, &byte) in input.iter().enumerate() {
            match self.next(byte) {
                Some(state) => self.state = state,
                None if self.is_whole() => return self.check_range().map(|()| Some(index)),
                None => {
                    let problem = Problem::Unexpected { expected: self.expected(), found: byte };
                    return Err(JsonError { offset: offset + index as u64, problem });
                }
            }
        }
        Ok(None)
    }

    /// Ends with the text, at an offset.
    pub(super) fn finish(&self, offset: u64) -> Result<(), JsonError> {
        if self.is_whole() {
            self.check_range()
        } else {
            Err(JsonError { offset, problem: Problem::UnexpectedEnd })
        }
    }

    fn next(&mut self, byte: u8) -> Option<State> {
        Some(match (self.state, byte) {
            (State::Minus, b'0') => State::Zero,
            (State::Minus | State::Integer, b'0'..=b'9') => {
                if !self.append(byte) {
                    self.scale = self.scale.saturating_add(1);
                }
                State::Integer
            }
            (State::Zero | State::Integer, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => {
                if self.append(byte) {
                    self.scale = self.scale.saturating_sub(1);
                }
                State::Fraction
            }
            (State::Zero | State::Integer | State::Fraction, b'e' | b'E') => State::E,
            (State::E, b'+') => State::Sign,
            (State::E, b'-') => {
                self.negative_exponent = true;
                State::Sign
            }
            (State::E | State::Sign | State::Exponent, b'0'..=b'9') => {
                self.exponent = (self.exponent * 10 + i64::from(byte - b'0')).min(EXPONENT_CAP);
                State::Exponent
            }
            _ => return None,
        })
    }

    /// Adds a digit to the significand, or says that it is full.
    fn append(&mut self, digit: u8) -> bool {
        let longer = self
            .significand
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(u64::from(digit - b'0')));
        self.significand = longer.unwrap_or(self.significand);
        longer.is_some()
    }

    fn is_whole(&self) -> bool {
        matches!(self.state, State::Zero | State::Integer | State::Fraction | State::Exponent)
    }

    fn expected(&self) -> &'static str {
        if matches!(self.state, State::E) { "a digit or sign" } else { "a digit" }
    }

    /// Asks `serde_json` about the few numbers near the edge, in a short spelling that it reads the same way.
    fn check_range(&self) -> Result<(), JsonError> {
        let exponent = if self.negative_exponent { -self.exponent } else { self.exponent };
        let power = self.scale.saturating_add(exponent);
        let in_range = power <= SAFE_EXPONENT
            || serde_json::from_str::<f64>(&format!("{}e{power}", self.significand)).is_ok();
        if in_range {
            Ok(())
        } else {
            Err(JsonError { offset: self.start, problem: Problem::NumberOutOfRange })
        }
    }
}
