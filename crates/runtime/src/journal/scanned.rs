//! What looking for the skills of a run came to, for its record.

use agent::setup::{Scanned, ScannedConflict, ScannedLoser, ScannedPath, ScannedRoot};
use skill::index::{Conflict, IgnoredPath, Report, RootReport};

/// Entries of each list that a record holds.
const LISTED: usize = 100;

/// What a report of an index says, in short; `text` takes secrets out of paths and messages.
pub fn summarise_scan(report: &Report, text: impl Fn(&str) -> String) -> Scanned {
    let left_over = |length: usize| length.saturating_sub(LISTED);
    Scanned {
        milliseconds: whole(report.roots.iter().map(|root| root.milliseconds).sum()),
        roots: report.roots.iter().map(|root| searched(root, &text)).collect(),
        found: report.found,
        valid: report.valid,
        ignored: report.ignored.iter().take(LISTED).map(|it| ignored(it, &text)).collect(),
        conflicts: report.conflicts.iter().take(LISTED).map(|it| settled(it, &text)).collect(),
        not_listed: left_over(report.ignored.len()) + left_over(report.conflicts.len()),
    }
}

fn searched(root: &RootReport, text: &impl Fn(&str) -> String) -> ScannedRoot {
    ScannedRoot {
        source: root.source,
        path: text(&root.path),
        valid: root.valid,
        milliseconds: whole(root.milliseconds),
    }
}

fn ignored(path: &IgnoredPath, text: &impl Fn(&str) -> String) -> ScannedPath {
    ScannedPath { path: text(&path.path), code: path.code.to_owned(), message: text(&path.message) }
}

fn settled(conflict: &Conflict, text: &impl Fn(&str) -> String) -> ScannedConflict {
    let losers = conflict.losers.iter().take(LISTED);
    ScannedConflict {
        name: text(&conflict.name),
        winner: text(&conflict.winner),
        losers: losers
            .map(|loser| ScannedLoser { path: text(&loser.path), reason: text(&loser.reason) })
            .collect(),
    }
}

/// Fractions of a millisecond say nothing in a record.
fn whole(milliseconds: f64) -> u64 {
    milliseconds.ceil() as u64
}
