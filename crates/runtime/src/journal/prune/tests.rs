use std::fs;

use agent::event::Happening;
use agent::outcome::StopReason;
use tempfile::TempDir;

use super::super::sample::{finished, started};
use super::super::tests::owner;
use super::*;
use crate::journal::{Durability, IndexSnapshot, Journal};

const NOW: &str = "2026-11-20T00:00:00Z";

/// A run that ended at a time, if at all, and takes up some room.
fn record(runs: &Path, run_id: &str, ended: Option<&str>) -> Journal {
    let mut journal =
        Journal::create(runs, run_id.parse().unwrap(), Durability::NoSync, Some(&owner())).unwrap();
    journal.write_index(&IndexSnapshot::new(b"[]".into())).unwrap();
    let start = Timestamp::UNIX_EPOCH;
    let note = |data| Happening { turn: 0, data };
    journal.append(note(started("x")), start).unwrap();
    if let Some(ended) = ended {
        let end = finished(StopReason::FinalAnswer, 0);
        journal.append(note(end), ended.parse().unwrap()).unwrap();
    }
    journal.commit().unwrap();
    fs::write(journal.folder().join("artifacts/large"), vec![0; 100_000]).unwrap();
    journal
}

/// Two old runs, one of them with a child run, one new one, one that was cut off, one that is in use.
fn world() -> (TempDir, Journal) {
    let runs = TempDir::new().unwrap();
    let old = Some("2026-11-01T00:00:00Z");
    record(runs.path(), "20261101_000000_a000", old);
    record(runs.path(), "20261101_000000_a000.1", old);
    record(runs.path(), "20261101_000000_b000", old);
    record(runs.path(), "20261101_000000_c000", None);
    record(runs.path(), "20261119_000000_a000", Some("2026-11-19T00:00:00Z"));
    let in_use = record(runs.path(), "20261101_000000_d000", old);
    (runs, in_use)
}

fn names(runs: &TempDir) -> Vec<String> {
    run_ids(&Folder::at(runs.path()).unwrap()).unwrap().iter().map(ToString::to_string).collect()
}

fn check(pruning: Pruning, removed: &[&str], left: &[&str]) {
    let (runs, _in_use) = world();
    let now = NOW.parse().unwrap();
    let before = names(&runs);
    let (planned, _) = prunable(runs.path(), &pruning, now).unwrap();
    assert_eq!(names(&runs), before, "looking removes nothing");
    let (gone, problems) = prune(runs.path(), &pruning, now).unwrap();
    assert_eq!((&gone, problems), (&planned, vec![]));
    assert_eq!(gone.iter().map(|run| run.run_id.as_str()).collect::<Vec<_>>(), removed);
    assert_eq!(names(&runs), left);
}

#[test]
fn old_runs_are_removed_with_their_child_runs() {
    check(
        Pruning { older_than: Some(SignedDuration::from_hours(7 * 24)), max_total_bytes: None },
        &["20261101_000000_a000", "20261101_000000_b000"],
        &["20261101_000000_c000", "20261101_000000_d000", "20261119_000000_a000"],
    );
}

#[test]
fn the_oldest_are_removed_until_the_rest_is_small_enough() {
    check(
        Pruning { older_than: None, max_total_bytes: Some(450_000) },
        &["20261101_000000_a000"],
        &[
            "20261101_000000_b000",
            "20261101_000000_c000",
            "20261101_000000_d000",
            "20261119_000000_a000",
        ],
    );
    check(
        Pruning { older_than: None, max_total_bytes: Some(0) },
        &["20261101_000000_a000", "20261101_000000_b000", "20261119_000000_a000"],
        &["20261101_000000_c000", "20261101_000000_d000"],
    );
}

#[test]
fn without_a_limit_everything_stays() {
    let (runs, _in_use) = world();
    let all = names(&runs);
    assert_eq!(
        prune(runs.path(), &Pruning::default(), NOW.parse().unwrap()).unwrap(),
        (vec![], vec![])
    );
    assert_eq!(names(&runs), all);
}

#[test]
fn an_index_stays_as_long_as_a_run_has_it() {
    let runs = TempDir::new().unwrap();
    let indexes = || fs::read_dir(runs.path().join(INDEXES)).unwrap().count();
    record(runs.path(), "20261101_000000_a000", Some("2026-11-01T00:00:00Z"));
    record(runs.path(), "20261102_000000_a000", Some("2026-11-02T00:00:00Z"));
    for (bytes, left) in [(150_000, 1), (0, 0)] {
        let pruning = Pruning { older_than: None, max_total_bytes: Some(bytes) };
        prune(runs.path(), &pruning, NOW.parse().unwrap()).unwrap();
        assert_eq!(indexes(), left);
    }
}

#[test]
fn what_an_interrupted_removal_left_goes_with_the_next() {
    let (runs, _in_use) = world();
    let left = runs.path().join(".removed-20261101_000000_x000");
    fs::create_dir_all(left.join("sandbox")).unwrap();
    prune(runs.path(), &Pruning::default(), NOW.parse().unwrap()).unwrap();
    assert!(!left.exists());
}
