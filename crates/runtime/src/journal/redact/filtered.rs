//! Taking secrets out of bytes on their way to where they are kept.
//!
//! Lines are passed on as soon as they are there, so that whoever looks sees how far it is.
//!
//! Invariant: what was passed on has no secret in it, not even a part of one, as long as [`WINDOW`] bytes are
//! enough to tell that a secret has begun.

use std::io::{self, Write};
use std::ops::Range;

use basics::sha256::Sha256;
use sha2::{Digest, Sha256 as Hasher};

use super::{Redactor, Rule};

/// So much is held back where a line does not end, in case a secret has begun in it.
const WINDOW: usize = 8 << 10;
/// What goes on for longer than this is data.
const LONGEST: usize = 64 << 10;
/// How what may go on over several lines begins.
const BEGIN: &[u8] = b"-----BEGIN ";

/// Takes secrets out of the bytes that are written to it.
pub(crate) struct Filtered<'r, W> {
    redactor: &'r Redactor,
    to: W,
    held: Vec<u8>,
    hash: Hasher,
    bytes: u64,
}

/// What was passed on in the end.
pub(crate) struct Passed {
    /// How many bytes.
    pub(crate) bytes: u64,
    /// Their SHA-256, in hexadecimal.
    pub(crate) sha256: Sha256,
}

impl<'r, W: Write> Filtered<'r, W> {
    pub(crate) fn new(redactor: &'r Redactor, to: W) -> Self {
        Self { redactor, to, held: Vec::new(), hash: Hasher::new(), bytes: 0 }
    }

    /// Passes on what was held back.
    pub(crate) fn finish(mut self) -> io::Result<Passed> {
        self.pass(self.held.len())?;
        self.to.flush()?;
        Ok(Passed { bytes: self.bytes, sha256: self.hash.into() })
    }

    fn pass(&mut self, length: usize) -> io::Result<()> {
        let rest = self.held.split_off(length);
        let clean = self.redactor.content(&self.held);
        self.to.write_all(&clean)?;
        self.hash.update(&clean);
        self.bytes += clean.len() as u64;
        self.held = rest;
        Ok(())
    }

    /// How much can go: nothing of a secret that has begun.
    fn ready(&self) -> usize {
        let mut ready = self.candidate();
        let mut found = self.redactor.find_secrets(&self.held);
        // From the end, so that one that begins inside another is passed over with it.
        found.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.end));
        for secret in found {
            // One that ends there may go on.
            if secret.start < ready && ready <= secret.end {
                ready = secret.start;
            }
        }
        if ready == 0 && self.held.len() > LONGEST { self.held.len() } else { ready }
    }

    /// The end of the last line, or what is beyond the window; before what may be the beginning of a secret of
    /// several lines.
    fn candidate(&self) -> usize {
        let known = self.redactor.known();
        let secrets = &known.secrets;
        let longest = secrets.iter().map(String::len).max().unwrap_or(0);
        let beyond = self.held.len().saturating_sub(WINDOW.max(longest));
        if self.redactor.rules.iter().any(|(_, rule)| matches!(rule, Rule::All("configured"))) {
            return beyond;
        }
        let line = self.held.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let may_go_on = |start: &usize| {
            let rest = &self.held[*start..];
            rest.starts_with(BEGIN)
                || secrets.iter().any(|known| known.as_bytes().starts_with(rest))
        };
        (beyond..line).find(may_go_on).unwrap_or(line).max(beyond)
    }
}

impl<W: Write> Write for Filtered<'_, W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(piece);
        if piece.contains(&b'\n') || self.held.len() >= 2 * WINDOW {
            self.pass(self.ready())?;
        }
        Ok(piece.len())
    }

    /// What is held back stays so.
    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Redactor {
    /// Where secrets stand.
    fn find_secrets(&self, content: &[u8]) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        let mut start = 0;
        let known = self.known();
        for chunk in content.utf8_chunks() {
            let words = known.pattern.iter().flat_map(|words| words.find_iter(chunk.valid()));
            places.extend(words.map(|word| start + word.start()..start + word.end()));
            for (pattern, rule) in &self.rules {
                let found = pattern.captures_iter(chunk.valid());
                let secrets = found.filter(|found| rule.replacement(found).is_some());
                places.extend(secrets.filter_map(|found| {
                    let place = found.get(0)?.range();
                    Some(start + place.start..start + place.end)
                }));
            }
            start += chunk.valid().len() + chunk.invalid().len();
        }
        places
    }
}
