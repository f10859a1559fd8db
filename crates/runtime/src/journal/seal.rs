//! `events.seal`: the hash of every line, written before the line itself.
//!
//! The chain inside the events cannot show a change of the last line, for no line follows it. So each
//! commit first writes the hashes of its lines here, then the lines, then ends the line here.
//!
//! A commit ends with its owner's signature, if it has an owner: `made:` and its digits.
//!
//! Invariant: whenever the process is killed, every complete event has its hash here, and every event
//! whose hashes end with a newline is complete.

use super::owner::{Origin, Owner, Signature};

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
    /// Each commit, by the place after its last hash.
    commits: Vec<(usize, Option<Signature>)>,
}

impl Seals {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut seals = Self::default();
        let finished = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let (commits, begun) = bytes.split_at(finished);
        for commit in commits.split(|byte| *byte == b'\n').filter(|_| finished > 0) {
            let words = commit.split(is_space).count();
            // An empty commit is never written; the one empty piece is what follows the last newline.
            seals.malformed |= !commit.is_empty() && seals.take(commit) != words;
        }
        seals.malformed |=
            commits.starts_with(b"\n") || commits.windows(2).any(|two| two == b"\n\n");
        seals.committed = seals.hashes.len();
        seals.finished_bytes = finished;
        seals.malformed |= !is_beginning(begun);
        seals.take(begun);
        seals
    }

    /// Answers with how many words were understood.
    fn take(&mut self, commit: &[u8]) -> usize {
        let words: Vec<&[u8]> = commit.split(is_space).collect();
        let hashes = words.iter().take_while(|word| is_hash(word)).count();
        let texts = words[..hashes].iter().map(|hash| String::from_utf8_lossy(hash).into_owned());
        self.hashes.extend(texts);
        // Nothing follows a signature, and one of nothing is never written.
        let is_last = hashes > 0 && words.len() == hashes + 1;
        let signature = is_last.then(|| Signature::parse(words[hashes])).flatten();
        let understood = hashes + usize::from(signature.is_some());
        if hashes > 0 {
            self.commits.push((self.hashes.len(), signature));
        }
        understood
    }

    /// Whose record it is that has so many complete events, the last of which has this hash.
    ///
    /// The commit that has this event must be signed: the event holds the hash of the one before, and so on.
    pub(super) fn origin(&self, owner: &Owner, run_id: &str, events: usize, last: &str) -> Origin {
        let place = self.commits.partition_point(|(end, _)| *end < events);
        match self.signed(owner, run_id, place) {
            Some(origin) if events > 0 && self.hashes[events - 1] == last => origin,
            _ => Origin::Elsewhere,
        }
    }

    /// What the owner says about the commit in this place; nothing where the owner says nothing.
    fn signed(&self, owner: &Owner, run_id: &str, place: usize) -> Option<Origin> {
        let (end, signature) = self.commits.get(place)?;
        let signature = signature.as_ref()?;
        let start = place.checked_sub(1).map_or(0, |before| self.commits[before].0);
        let hashes = self.hashes[start..*end].join(" ");
        owner.signed(signature, run_id, *end as u64, &hashes).then_some(signature.origin)
    }

    /// The last event of a finished commit that its owner did not sign, although others are the owner's.
    pub(super) fn unsigned(&self, owner: &Owner, run_id: &str) -> Option<u64> {
        let finished = self.commits.partition_point(|(end, _)| *end <= self.committed);
        let signed: Vec<bool> =
            (0..finished).map(|place| self.signed(owner, run_id, place).is_some()).collect();
        let place = signed.iter().position(|signed| !signed)?;
        signed.contains(&true).then(|| self.commits[place].0 as u64)
    }

    /// Whose record it is whose last complete event has this hash, as far as that and the seals tell.
    pub(super) fn origin_of(&self, owner: &Owner, run_id: &str, last: &str) -> Origin {
        match self.hashes.iter().rposition(|hash| hash == last) {
            Some(place) if !self.malformed && place + 1 >= self.committed => {
                self.origin(owner, run_id, place + 1, last)
            }
            _ => Origin::Elsewhere,
        }
    }

    /// The hash of the event with this number, counted from 1.
    pub(super) fn of(&self, seq: u64) -> Option<&str> {
        let place = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.hashes.get(place).map(String::as_str)
    }
}

/// Whether it is the beginning of a commit, as a kill leaves it.
fn is_beginning(commit: &[u8]) -> bool {
    // What a power failure left may be zeros.
    let end = commit.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut words = commit[..end].rsplit(is_space);
    let is_hashes = |word: &[u8]| word.iter().all(|byte| is_digit(byte) || *byte == 0);
    let is_last = |word: &[u8]| is_hashes(word) || Signature::is_begun(word);
    words.next().is_none_or(is_last) && words.all(is_hashes)
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
