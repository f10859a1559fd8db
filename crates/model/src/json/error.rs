//! What can be wrong with a JSON text, and where.

use thiserror::Error;

/// Why a text is not JSON, and the byte where that became certain.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{problem} at byte {offset}")]
pub struct JsonError {
    /// Bytes before the one that is wrong.
    pub offset: u64,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a JSON text.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Problem {
    /// A byte that cannot stand here.
    #[error("expected {expected}, found `{}`", found.escape_ascii())]
    Unexpected {
        /// What could have stood here.
        expected: &'static str,
        /// The byte that stands here.
        found: u8,
    },
    /// The text stops before the value is complete.
    #[error("text ends before the value is complete")]
    UnexpectedEnd,
    /// More arrays and objects inside each other than are accepted.
    #[error("more than {} levels of nesting", super::MAX_DEPTH)]
    TooDeep,
    /// A byte below 0x20 stands unescaped in a string.
    #[error("control character in a string")]
    ControlCharacter,
    /// Half of a UTF-16 surrogate pair stands alone in a string.
    #[error("surrogate escape without its other half")]
    LoneSurrogate,
    /// Bytes in a string are not UTF-8.
    #[error("string is not UTF-8")]
    InvalidUtf8,
    /// A number too large for a 64-bit float.
    #[error("number is out of range")]
    NumberOutOfRange,
}

impl JsonError {
    /// What the writer of the text can do about it.
    pub fn hint(&self) -> &'static str {
        match self.problem {
            Problem::Unexpected { .. } => {
                "write one strict JSON value: double quotes, no comments, no trailing commas"
            }
            Problem::UnexpectedEnd => {
                "close every string, array and object; shorten the text if it was cut off"
            }
            Problem::TooDeep => "nest fewer arrays and objects",
            Problem::ControlCharacter => {
                "escape line breaks and other control characters in strings, as in `\\n`"
            }
            Problem::LoneSurrogate => "write the character itself, or both halves of the pair",
            Problem::InvalidUtf8 => "encode the text as UTF-8",
            Problem::NumberOutOfRange => "use a smaller number, or a string",
        }
    }
}
