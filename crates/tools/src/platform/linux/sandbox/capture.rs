//! One stream of a program: all of it to the caller's writer, its beginning and its end in memory.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use crate::containment::Captured;

/// A stream that is being captured.
pub(super) struct Capture<'a> {
    store: &'a mut dyn Write,
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    hash: Sha256,
}

impl<'a> Capture<'a> {
    /// Keeps at most `kept` bytes in memory.
    pub(super) fn new(store: &'a mut dyn Write, kept: usize) -> Self {
        let half = kept / 2;
        Self { store, half, head: Vec::new(), tail: VecDeque::new(), bytes: 0, hash: Sha256::new() }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.store.write_all(piece)?;
        self.hash.update(piece);
        self.bytes += piece.len() as u64;
        let room = self.half - self.head.len();
        let (beginning, rest) = piece.split_at(room.min(piece.len()));
        self.head.extend_from_slice(beginning);
        let last = &rest[rest.len().saturating_sub(self.half)..];
        let surplus = (self.tail.len() + last.len()).saturating_sub(self.half);
        self.tail.drain(..surplus);
        self.tail.extend(last);
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<Captured> {
        self.store.flush()?;
        Ok(Captured {
            head: self.head,
            tail: self.tail.into(),
            bytes: self.bytes,
            sha256: self.hash.finalize().into(),
        })
    }
}
