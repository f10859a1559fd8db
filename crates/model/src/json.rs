//! Incremental JSON: bytes in, split anywhere; events at watched paths out.
//!
//! Invariant: how the bytes were split never changes a verdict, an offset, a value or the concatenated deltas.
//!
//! ```
//! use skillful_model::json::{Event, Mode, Parser};
//!
//! #[derive(Clone, Copy)]
//! enum Field {
//!     Kind,
//!     Answer,
//! }
//!
//! let (mut kind, mut answer) = (String::new(), String::new());
//! let mut on_event = |event: Event<'_, Field>| match event {
//!     Event::Value(Field::Kind, json) => kind = serde_json::from_slice(json).unwrap_or_default(),
//!     Event::Delta(Field::Answer, text) => answer.push_str(text),
//!     _ => {}
//! };
//! let watches =
//!     [("$.type", Mode::Value, Field::Kind), ("$.payload.content", Mode::Deltas, Field::Answer)];
//! let mut parser = Parser::new(&watches)?;
//! for piece in [r#"{"type": "final_an"#, r#"swer", "payload": {"content": "caf\u00"#, r#"e9"}}"#] {
//!     parser.push(piece.as_bytes(), &mut on_event)?;
//! }
//! parser.finish(&mut on_event)?;
//! assert_eq!((kind.as_str(), answer.as_str()), ("final_answer", "café"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capture;
mod error;
mod number;
mod parser;
mod path;
mod string;
mod watch;

pub use error::{JsonError, Problem};
pub use parser::{MAX_DEPTH, Parser};
pub use path::PathError;
pub use watch::{Event, Mode};

/// One pushed slice, and where it lies in the whole text.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    start: u64,
}

#[cfg(test)]
mod tests;
