//! The JSON text of the values that are being watched whole.
//!
//! Invariant: no more is kept than the largest such value, and a value inside one piece is never copied.

use super::Piece;

/// The unfinished values, outermost first, and the bytes since the outermost began.
#[derive(Default)]
pub(super) struct Capture {
    starts: Vec<u64>,
    pub(super) held: Vec<u8>,
}

impl Capture {
    /// A watched value begins at an offset in the text.
    pub(super) fn begin(&mut self, start: u64) {
        self.starts.push(start);
    }

    /// The value that began last ends before an offset in the text; gives its JSON.
    pub(super) fn end<'a>(&'a mut self, piece: Piece<'a>, end: u64) -> &'a [u8] {
        let outermost = self.starts.first().copied().unwrap_or(end);
        let start = self.starts.pop().unwrap_or(end);
        let end_in_piece = (end - piece.start) as usize;
        if start >= piece.start {
            return &piece.bytes[(start - piece.start) as usize..end_in_piece];
        }
        self.hold_until(piece, outermost, end_in_piece);
        &self.held[(start - outermost) as usize..]
    }

    /// The piece is over: keeps what unfinished values still need of it.
    pub(super) fn hold(&mut self, piece: Piece<'_>) {
        if let Some(&outermost) = self.starts.first() {
            self.hold_until(piece, outermost, piece.bytes.len());
        }
    }

    fn hold_until(&mut self, piece: Piece<'_>, outermost: u64, end_in_piece: usize) {
        if outermost >= piece.start {
            self.held.clear();
        }
        let missing = outermost + self.held.len() as u64;
        self.held.extend_from_slice(&piece.bytes[(missing - piece.start) as usize..end_in_piece]);
    }
}
