use std::fs;

use agent::event::Happening;
use agent::outcome::Status;
use tempfile::TempDir;

use super::super::sample::{asked, budget_updated, said, started};
use super::super::tests::owner;
use super::*;
use crate::journal::{Durability, Journal};

/// A run with so many events, not finished.
fn record(runs: &Path, run_id: &str, events: u32) -> Journal {
    let mut journal =
        Journal::create(runs, run_id.parse().unwrap(), Durability::NoSync, Some(&owner())).unwrap();
    let mut note = |turn, data| {
        journal.append(Happening { turn, data }, jiff::Timestamp::UNIX_EPOCH).unwrap();
    };
    let request = format!("request of {run_id} {}", "and more ".repeat(300));
    note(0, started(&request));
    for turn in 1..events {
        // Others are as long.
        let long = serde_json::json!({"x": "x".repeat(900)});
        note(turn, said("of_another_version", long));
        note(turn, budget_updated(turn));
    }
    journal.commit().unwrap();
    journal
}

fn listed(runs: &TempDir, limit: Option<usize>) -> (Vec<String>, Vec<Unlisted>) {
    let (listed, unlisted) = list(runs.path(), limit, Some(&owner())).unwrap();
    (listed.into_iter().map(|run| run.summary.run_id).collect(), unlisted)
}

#[test]
fn runs_are_listed_newest_first_without_child_runs() {
    let runs = TempDir::new().unwrap();
    assert_eq!(list(&runs.path().join("none"), None, None).unwrap(), (vec![], vec![]));
    for run_id in [
        "20261115_083000_b000",
        "20261115_083001_a000",
        "20261115_083000_a000",
        "20261115_083000_a000.1",
    ] {
        record(runs.path(), run_id, 2);
    }
    fs::create_dir(runs.path().join(".indexes")).unwrap();
    fs::write(runs.path().join("notes.txt"), "").unwrap();
    let all = ["20261115_083001_a000", "20261115_083000_b000", "20261115_083000_a000"];
    assert_eq!(listed(&runs, None), (all.map(str::to_owned).into(), vec![]));
    assert_eq!(listed(&runs, Some(1)).0, all[..1]);
}

#[test]
fn a_run_without_a_summary_is_listed_from_the_ends_of_its_record() {
    let runs = TempDir::new().unwrap();
    for (run_id, events) in [("20261115_083000_a000", 1), ("20261115_083000_b000", 2_000)] {
        record(runs.path(), run_id, events);
        let summary = summarize(&Folder::at(runs.path()).unwrap(), run_id).unwrap();
        assert!(summary.request.starts_with(&format!("request of {run_id}")));
        assert_eq!((summary.turns, summary.spent.turns), (events - 1, events - 1));
        assert_eq!(summary.status, None);
    }
}

#[test]
fn a_run_that_cannot_be_read_does_not_hide_the_others() {
    let runs = TempDir::new().unwrap();
    record(runs.path(), "20261115_083000_a000", 1);
    fs::create_dir(runs.path().join("20261115_083000_b000")).unwrap();
    let damaged = record(runs.path(), "20261115_083000_c000", 1);
    fs::write(damaged.folder().join("run.json"), "{").unwrap();
    let empty = record(runs.path(), "20261115_083000_d000", 1);
    fs::write(empty.folder().join("events.jsonl"), "").unwrap();
    let (names, unlisted) = listed(&runs, None);
    assert_eq!(names, ["20261115_083000_a000"]);
    let messages: Vec<&str> = unlisted.iter().map(|unlisted| unlisted.message.as_str()).collect();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0], "the run stopped before anything was recorded");
    assert!(messages[1].starts_with("`run.json`: EOF"), "{}", messages[1]);
    assert!(messages[2].starts_with("`events.jsonl`: No such file"), "{}", messages[2]);
}

#[test]
fn a_run_that_waits_for_an_approval_says_so() {
    let runs = TempDir::new().unwrap();
    let mut journal = record(runs.path(), "20261115_083000_a000", 3);
    let asked = Happening { turn: 3, data: asked() };
    journal.append(asked, jiff::Timestamp::UNIX_EPOCH).unwrap();
    journal.commit().unwrap();
    assert_eq!(list(runs.path(), None, None).unwrap().0[0].summary.status, Some(Status::Blocked));
}

#[test]
fn a_run_is_called_by_its_folder_and_read_within_bounds() {
    let runs = TempDir::new().unwrap();
    let journal = record(runs.path(), "20261115_083000_a000", 1);
    let lying = journal.folder().join("run.json");
    let summary = serde_json::to_value(RunSummary::default()).unwrap();
    fs::write(&lying, summary.to_string()).unwrap();
    assert_eq!(listed(&runs, None), (vec!["20261115_083000_a000".to_owned()], vec![]));
    fs::remove_file(lying).unwrap();
    let events = File::options().write(true).open(journal.folder().join("events.jsonl")).unwrap();
    events.set_len(0).unwrap();
    events.set_len(1 << 40).unwrap();
    let (names, unlisted) = listed(&runs, None);
    assert_eq!(names, Vec::<String>::new());
    assert_eq!(unlisted[0].message, "`events.jsonl`: its first line has no end");
}
