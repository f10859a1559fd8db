//! Incremental JSON: bytes in, split anywhere; events at watched paths out.
//!
//! Invariant: how the bytes were split never changes a verdict, an offset, a value or the concatenated deltas.

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
