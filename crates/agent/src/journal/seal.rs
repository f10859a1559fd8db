//! `events.seal`: the hash of every line, written before the line itself.
//!
//! The chain inside the events cannot show a change of the last line, for no line follows it. So each
//! commit first writes the hashes of its lines here, then the lines, then ends the line here.
//!
//! Invariant: whenever the process is killed, every complete event has its hash here, and every event
//! whose hashes end with a newline is complete.

/// What `events.seal` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seals {
    /// The hash of each event's line.
    pub(super) hashes: Vec<String>,
    /// How many events are there for certain.
    pub(super) committed: usize,
    /// Bytes up to the end of the last finished commit.
    pub(super) finished_bytes: usize,
    /// Whether it holds something that is never written there.
    pub(super) malformed: bool,
}

impl Seals {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut seals = Self::default();
        let finished = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (commits, begun) = bytes.split_at(finished);
        for commit in commits.split(|byte| *byte == b'\n').filter(|_| finished > 0) {
            seals.malformed |= !commit.is_empty() && !commit.split(is_space).all(is_hash);
            seals.take(commit);
        }
        // An empty commit is never written; the one empty piece is what follows the last newline.
        seals.malformed |=
            commits.starts_with(b"\n") || commits.windows(2).any(|two| two == b"\n\n");
        seals.committed = seals.hashes.len();
        seals.finished_bytes = finished;
        // What a power failure left of a commit may be zeros.
        seals.malformed |= !begun.iter().all(|byte| is_digit(byte) || matches!(byte, b' ' | 0));
        seals.take(begun);
        seals
    }

    fn take(&mut self, commit: &[u8]) {
        let hashes = commit.split(is_space).take_while(|hash| is_hash(hash));
        self.hashes.extend(hashes.map(|hash| String::from_utf8_lossy(hash).into_owned()));
    }

    /// The hash of the event with this number, counted from 1.
    pub(super) fn of(&self, seq: u64) -> Option<&str> {
        let place = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.hashes.get(place).map(String::as_str)
    }
}

fn is_space(byte: &u8) -> bool {
    *byte == b' '
}

fn is_digit(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn is_hash(bytes: &[u8]) -> bool {
    bytes.len() == 64 && bytes.iter().all(is_digit)
}

#[cfg(test)]
mod tests;
