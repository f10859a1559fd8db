//! Events against their numbers, their hashes and each other.
//!
//! Invariant: a change of any byte of a complete line is found, and nothing that a kill leaves is.

use agent::event::VERSION;
use basics::sha256::Sha256;

use super::line::Line;
use super::lines::{Files, NoEvent, SEALS, parse, split};
use super::owner::{Origin, Owner};
use super::seal::Seals;
use super::verify::{Problem, ProblemKind};

/// What the lines and their hashes say.
#[derive(Debug)]
pub(super) struct Checked {
    /// Those that can be read, with references in their data.
    pub(super) lines: Vec<Line>,
    pub(super) problems: Vec<Problem>,
    /// Of every complete line.
    pub(super) hashes: Vec<String>,
    /// Lines at the end whose hashes a power failure took.
    pub(super) unsealed: usize,
    /// After the last complete line.
    pub(super) torn_bytes: usize,
}

impl Checked {
    /// Whose record it is. Only one without a flaw is anybody's.
    pub(super) fn origin(&self, files: &Files, owner: Option<&Owner>, run_id: &str) -> Origin {
        let (Some(owner), Some(seals), Some(last)) = (owner, &files.seals, self.hashes.last())
        else {
            return Origin::Elsewhere;
        };
        match self.problems.iter().all(|problem| problem.kind == ProblemKind::Tail) {
            true => seals.origin(owner, run_id, self.hashes.len(), last),
            false => Origin::Elsewhere,
        }
    }
}

/// What is known about a line without reading it.
struct Around<'a> {
    expected_seq: u64,
    hash: &'a str,
    /// The hash of the line before; nothing if that one is not sound.
    previous: Option<&'a str>,
    /// Whether the line before is the end of the run.
    is_late: bool,
    /// Whether the next line holds this one's hash.
    is_followed: bool,
    /// That of the line before: a newer program may have taken the run up again, an older one cannot.
    version: u32,
}

pub(super) fn check(files: &Files) -> Checked {
    let (lines, torn) = split(&files.events);
    let hashes: Vec<String> = lines.iter().map(|line| Sha256::of(line).to_string()).collect();
    let parsed: Vec<Result<Line, NoEvent>> = lines.iter().map(|line| parse(line)).collect();
    let nothing = Seals::default();
    let seals = files.seals.as_ref().unwrap_or(&nothing);
    let mut problems = Vec::new();
    if seals.malformed || (files.seals.is_none() && !lines.is_empty()) {
        let message = format!("`{SEALS}` is missing, or not what this program writes");
        problems.push(Problem::new(None, ProblemKind::Seal, message));
    }
    let last = check_lines(&parsed, &hashes, seals, &mut problems);
    problems.extend(check_end(last, torn, seals));
    Checked {
        lines: parsed.into_iter().flatten().collect(),
        problems,
        unsealed: hashes.len().saturating_sub(seals.hashes.len()),
        hashes,
        torn_bytes: torn.len(),
    }
}

/// Answers with the number of the last event.
fn check_lines(
    parsed: &[Result<Line, NoEvent>],
    hashes: &[String],
    seals: &Seals,
    problems: &mut Vec<Problem>,
) -> u64 {
    let first = parsed.iter().flatten().next();
    let mut last = 0_u64;
    let mut has_ended = false;
    let mut previous = Some("");
    for (place, hash) in hashes.iter().enumerate() {
        let next = parsed.get(place + 1).and_then(|next| next.as_ref().ok());
        let around = Around {
            expected_seq: last.saturating_add(1),
            hash,
            previous,
            is_late: has_ended && !matches!(&parsed[place], Ok(line) if line.is_epilogue()),
            is_followed: next.is_some_and(|next| next.prev == *hash),
            version: parsed[..place].iter().flatten().next_back().map_or(0, |before| before.v),
        };
        let found = match (&parsed[place], first) {
            (Ok(line), Some(first)) => around.judge(line, seals, first),
            (Err(error), _) => Some((ProblemKind::Unreadable, format!("not an event: {error}"))),
            (Ok(_), None) => None,
        };
        has_ended |= matches!(&parsed[place], Ok(line) if line.is_end());
        last = parsed[place].as_ref().map_or(around.expected_seq, |line| line.seq);
        previous = found.is_none().then_some(hash);
        problems.extend(found.map(|(kind, message)| Problem::new(Some(last), kind, message)));
    }
    last
}

impl Around<'_> {
    fn judge(&self, event: &Line, seals: &Seals, first: &Line) -> Option<(ProblemKind, String)> {
        let is_sealed = seals.of(event.seq).is_none_or(|seal| seal == self.hash);
        if event.seq != self.expected_seq {
            let message =
                format!("its number is {}, but it should be {}", event.seq, self.expected_seq);
            Some((ProblemKind::Order, message))
        } else if !is_sealed && self.is_followed {
            Some((ProblemKind::Seal, format!("its hash in `{SEALS}` changed")))
        } else if !is_sealed {
            Some((ProblemKind::Changed, "it changed after it was written".to_owned()))
        } else if self.previous.is_some_and(|previous| previous != event.prev) {
            let message = "it does not contain the hash of the line before it";
            Some((ProblemKind::Chain, message.to_owned()))
        } else if self.is_late {
            Some((ProblemKind::Order, "it comes after the end of the run".to_owned()))
        } else if event.run_id != first.run_id || !(self.version..=VERSION).contains(&event.v) {
            let message = format!("it belongs to the run `{}`, version {}", event.run_id, event.v);
            Some((ProblemKind::Changed, message))
        } else {
            None
        }
    }
}

/// Nothing that was committed may be missing, and what follows must be the beginning of a line.
fn check_end(last: u64, torn: &[u8], seals: &Seals) -> Vec<Problem> {
    let mut problems = Vec::new();
    let due = Some(last.saturating_add(1));
    let missing = (seals.committed as u64).saturating_sub(last);
    if missing > 0 && !seals.malformed {
        let message = format!("{missing} events are missing at the end");
        problems.push(Problem::new(due, ProblemKind::Missing, message));
    }
    // A power failure can leave zeros where a line was being written.
    let end = torn.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let written = &torn[..end];
    let seal = seals.of(last.saturating_add(1));
    let is_foreign = match parse(written) {
        Ok(_) => seal.is_some_and(|seal| seal != Sha256::of(written).to_string()),
        Err(error) => !error.is_cut_off(),
    };
    if is_foreign {
        let message = "there is something after the last event, and it is not the start of another";
        problems.push(Problem::new(due, ProblemKind::Tail, message));
    }
    problems
}
