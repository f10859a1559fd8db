use std::fs;

use basics::run_id::RunId;
use tempfile::TempDir;

use super::super::tests::owner;
use super::*;

fn journal(runs: &Path) -> Journal {
    let run_id: RunId = "20261115_083000_k3f9".parse().unwrap();
    Journal::create(runs, run_id, Durability::Sync, Some(&owner())).unwrap()
}

fn written() -> Undo {
    let previous = Some(Previous { bytes: vec![0, 159, 146, 150], mode: 0o644 });
    Undo { path: "notes.bin".to_owned(), previous, sha256_after: Some("1".repeat(64)) }
}

fn created() -> Undo {
    Undo { path: "new.txt".to_owned(), previous: None, sha256_after: Some("2".repeat(64)) }
}

#[test]
fn changes_are_read_back_in_their_order() {
    let runs = TempDir::new().unwrap();
    let mut journal = journal(runs.path());
    assert_eq!(recorded_changes(journal.folder()).unwrap(), []);
    let expected = [written(), created(), written()];
    for change in &expected {
        journal.record_change(change).unwrap();
    }
    assert_eq!(recorded_changes(journal.folder()).unwrap(), expected);
}

#[test]
fn previous_content_that_was_tampered_with_is_not_put_back() {
    let runs = TempDir::new().unwrap();
    let mut journal = journal(runs.path());
    journal.record_change(&written()).unwrap();
    for entry in fs::read_dir(journal.folder().join("observations")).unwrap() {
        fs::write(entry.unwrap().path(), "tampered").unwrap();
    }
    assert!(recorded_changes(journal.folder()).is_err());
}

#[test]
fn what_an_interruption_kept_from_being_vouched_for_is_vouched_for_later() {
    let runs = TempDir::new().unwrap();
    let mut own = journal(runs.path());
    own.record_change(&written()).unwrap();
    let folder = own.folder().to_owned();
    let announced = own.take_changes();
    assert_eq!((announced.len(), own.take_changes()), (1, Vec::new()));
    drop(own);
    let (mut again, _) = Journal::open(&folder, Durability::Sync, &owner()).unwrap();
    assert_eq!(again.take_changes(), announced);
}

#[test]
fn a_change_stays_in_the_workspace() {
    for path in ["../a", "/a", "a/../../b"] {
        let runs = TempDir::new().unwrap();
        let mut journal = journal(runs.path());
        journal.record_change(&Undo { path: path.to_owned(), ..created() }).unwrap();
        assert!(recorded_changes(journal.folder()).is_err(), "{path}");
    }
}

#[test]
fn a_file_never_gets_more_than_permissions_back() {
    let runs = TempDir::new().unwrap();
    let mut journal = journal(runs.path());
    let previous = Some(Previous { bytes: b"#!/bin/sh".into(), mode: 0o106_755 });
    journal.record_change(&Undo { previous, ..written() }).unwrap();
    let [undo] = &recorded_changes(journal.folder()).unwrap()[..] else { panic!("one change") };
    assert_eq!(undo.previous.as_ref().map(|file| file.mode), Some(0o755));
}
