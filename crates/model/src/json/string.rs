//! The body of one JSON string, from after its opening quote to its closing one.
//!
//! Invariant: text handed out is valid UTF-8 and, joined, the decoded string; only an unfinished escape or character is kept.

use super::{JsonError, Piece, Problem};

/// The string read so far: nothing but where in it the next byte stands.
#[derive(Clone, Copy, Default)]
pub(super) enum StringDecoder {
    #[default]
    Text,
    /// Inside a character of several bytes.
    Character { bytes: [u8; 4], length: usize, start: u64 },
    /// After a backslash.
    Escape,
    /// Inside the four hexadecimal digits, perhaps of the second half of a pair.
    Unicode { first_half: Option<u16>, digits: u8, code: u16 },
    /// After the first half of a pair: a backslash must follow.
    PairBackslash { first_half: u16 },
    /// And then a `u`.
    PairU { first_half: u16 },
}

impl StringDecoder {
    /// Reads on from an index of the piece; gives the index after the closing quote, if that was reached.
    #[inline]
    pub(super) fn push(
        &mut self,
        piece: Piece<'_>,
        mut index: usize,
        mut text: impl FnMut(&str),
    ) -> Result<Option<usize>, JsonError> {
        while index < piece.bytes.len() {
            if let Self::Text = self {
                index = self.run(piece, index, &mut text)?;
                match piece.bytes.get(index) {
                    Some(b'"') => return Ok(Some(index + 1)),
                    Some(b'\\') => *self = Self::Escape,
                    Some(_) => return Err(error(piece, index, Problem::ControlCharacter)),
                    None => return Ok(None),
                }
            } else {
                *self = self.step(piece, index, &mut text)?;
            }
            index += 1;
        }
        Ok(None)
    }

    /// Hands out the longest run that needs no decoding, without copying it; gives the index after it.
    #[inline]
    fn run(
        &mut self,
        piece: Piece<'_>,
        index: usize,
        text: &mut impl FnMut(&str),
    ) -> Result<usize, JsonError> {
        let rest = &piece.bytes[index..];
        let run = &rest[..plain_prefix(rest)];
        match std::str::from_utf8(run) {
            Ok("") => {}
            Ok(whole) => text(whole),
            Err(invalid) => {
                let valid = run.utf8_chunks().next().map_or("", |chunk| chunk.valid());
                if !valid.is_empty() {
                    text(valid);
                }
                let tail = &run[valid.len()..];
                if invalid.error_len().is_some() || run.len() < rest.len() {
                    return Err(error(piece, index + valid.len(), Problem::InvalidUtf8));
                }
                let mut bytes = [0; 4];
                bytes[..tail.len()].copy_from_slice(tail);
                let start = piece.start + (index + valid.len()) as u64;
                *self = Self::Character { bytes, length: tail.len(), start };
            }
        }
        Ok(index + run.len())
    }

    /// The state after one byte of an unfinished character or escape.
    fn step(
        self,
        piece: Piece<'_>,
        index: usize,
        text: &mut impl FnMut(&str),
    ) -> Result<Self, JsonError> {
        let byte = piece.bytes[index];
        let unexpected =
            |expected| error(piece, index, Problem::Unexpected { expected, found: byte });
        let lone = || error(piece, index, Problem::LoneSurrogate);
        match self {
            Self::Text => Ok(self),
            Self::Character { bytes, length, start } => character(bytes, length, start, byte, text),
            Self::Escape if byte == b'u' => {
                Ok(Self::Unicode { first_half: None, digits: 0, code: 0 })
            }
            Self::Escape => {
                text(
                    short_escape(byte).ok_or_else(|| {
                        unexpected("an escape such as `\\n`, `\\\"` or `\\u000a`")
                    })?,
                );
                Ok(Self::Text)
            }
            Self::Unicode { first_half, digits, code } => {
                let digit = char::from(byte)
                    .to_digit(16)
                    .ok_or_else(|| unexpected("a hexadecimal digit"))?;
                let code = code << 4 | digit as u16;
                if digits < 3 {
                    return Ok(Self::Unicode { first_half, digits: digits + 1, code });
                }
                unicode(first_half, code, text).ok_or_else(lone)
            }
            Self::PairBackslash { first_half } if byte == b'\\' => Ok(Self::PairU { first_half }),
            Self::PairU { first_half } if byte == b'u' => {
                Ok(Self::Unicode { first_half: Some(first_half), digits: 0, code: 0 })
            }
            Self::PairBackslash { .. } | Self::PairU { .. } => Err(lone()),
        }
    }
}

fn error(piece: Piece<'_>, index: usize, problem: Problem) -> JsonError {
    JsonError { offset: piece.start + index as u64, problem }
}

/// Adds a byte to an unfinished character.
fn character(
    mut bytes: [u8; 4],
    length: usize,
    start: u64,
    byte: u8,
    text: &mut impl FnMut(&str),
) -> Result<StringDecoder, JsonError> {
    bytes[length] = byte;
    let length = length + 1;
    match std::str::from_utf8(&bytes[..length]) {
        Ok(whole) => {
            text(whole);
            Ok(StringDecoder::Text)
        }
        Err(invalid) if invalid.error_len().is_none() => {
            Ok(StringDecoder::Character { bytes, length, start })
        }
        Err(_) => Err(JsonError { offset: start, problem: Problem::InvalidUtf8 }),
    }
}

/// The state after a complete `\uXXXX`, or nothing if its other half is missing.
fn unicode(
    first_half: Option<u16>,
    code: u16,
    text: &mut impl FnMut(&str),
) -> Option<StringDecoder> {
    if first_half.is_none() && (0xd800..0xdc00).contains(&code) {
        return Some(StringDecoder::PairBackslash { first_half: code });
    }
    let decoded = char::decode_utf16(first_half.into_iter().chain([code])).next()?.ok()?;
    text(decoded.encode_utf8(&mut [0; 4]));
    Some(StringDecoder::Text)
}

fn short_escape(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'"' => "\"",
        b'\\' => "\\",
        b'/' => "/",
        b'b' => "\u{8}",
        b'f' => "\u{c}",
        b'n' => "\n",
        b'r' => "\r",
        b't' => "\t",
        _ => return None,
    })
}

/// How many bytes come before the first quote, backslash or control character.
///
/// Eight bytes at a time: the three kinds in one pass, where `memchr` would need two.
#[inline]
fn plain_prefix(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGHS: u64 = u64::from_ne_bytes([0x80; 8]);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let (quote, backslash) = (word ^ (ONES * 0x22), word ^ (ONES * 0x5c));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let quote = quote.wrapping_sub(ONES) & !quote;
        let backslash = backslash.wrapping_sub(ONES) & !backslash;
        // A borrow can mark a byte wrongly, but only above one that is marked rightly.
        let special = (control | quote | backslash) & HIGHS;
        if special != 0 {
            return index * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let tail = rest.iter().position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\');
    words.len() * 8 + tail.unwrap_or(rest.len())
}
