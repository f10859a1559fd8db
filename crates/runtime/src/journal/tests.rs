use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;

use basics::failure::Explain;
use basics::run_id::RunId;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::sample::said;
use super::*;

/// Who makes the records of these tests.
pub(super) fn owner() -> Owner {
    Owner::new(RecordKey::new([7; 32]), Path::new("/project"))
}

fn run_id() -> RunId {
    "20261115_083000_k3f9".parse().unwrap()
}

fn create(runs: &TempDir) -> Journal {
    Journal::create(runs.path(), run_id(), Durability::Sync, Some(&owner())).unwrap()
}

fn note(journal: &mut Journal, data: Value) -> Event {
    let happening = Happening { turn: 3, data: said("error", data) };
    journal.append(happening, "2026-11-15T08:30:00.123987Z".parse().unwrap()).unwrap()
}

#[test]
fn an_event_is_a_line_with_the_hash_of_the_line_before() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({"code": "a"}));
    note(&mut journal, json!({"code": "ü"}));
    assert_eq!(journal.next_sequence(), 3);
    journal.commit().unwrap();
    let first = r#"{"v":2,"seq":1,"ts":"2026-11-15T08:30:00.123Z","run_id":"20261115_083000_k3f9","turn":3,"type":"error","data":{"code":"a"},"prev":""}"#;
    let prev = Sha256::of(first.as_bytes());
    let second = format!(
        r#"{{"v":2,"seq":2,"ts":"2026-11-15T08:30:00.123Z","run_id":"20261115_083000_k3f9","turn":3,"type":"error","data":{{"code":"ü"}},"prev":"{prev}"}}"#
    );
    let text = fs::read_to_string(journal.folder().join("events.jsonl")).unwrap();
    assert_eq!(text, format!("{first}\n{second}\n"));
    let seals = fs::read_to_string(journal.folder().join("events.seal")).unwrap();
    let hashes = format!("{prev} {}", Sha256::of(second.as_bytes()));
    let signature = owner().sign(Origin::Here, run_id().as_str(), 2, &hashes);
    assert_eq!(seals, format!("{hashes} {signature}\n"));
}

#[test]
fn a_record_is_taken_up_by_its_owner_alone() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({}));
    journal.commit().unwrap();
    let folder = journal.folder().to_owned();
    drop(journal);
    let stranger = Owner::new(RecordKey::new([8; 32]), Path::new("/project"));
    let origin = |owner: &Owner| verify(&folder, Some(owner)).unwrap().origin;
    let open = |owner: &Owner| Journal::open(&folder, Durability::Sync, owner).map(|_| ());
    assert_eq!((origin(&owner()), origin(&stranger)), (Origin::Here, Origin::Elsewhere));
    assert!(matches!(open(&stranger).unwrap_err(), JournalError::Foreign { .. }));
    adopt(&folder, &stranger).unwrap();
    assert_eq!((origin(&owner()), origin(&stranger)), (Origin::Elsewhere, Origin::Adopted));
    assert!(matches!(open(&owner()).unwrap_err(), JournalError::Foreign { .. }));
    // What is added stays adopted.
    let (mut journal, _) = Journal::open(&folder, Durability::Sync, &stranger).unwrap();
    note(&mut journal, json!({"more": true}));
    journal.commit().unwrap();
    assert_eq!(origin(&stranger), Origin::Adopted);
}

#[test]
fn a_long_text_is_in_a_file_and_the_event_still_has_it() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    let text = "läng ".repeat(600);
    let event = note(&mut journal, json!({"text": text}));
    assert_eq!(json!(event.data)["data"]["text"], text.as_str());
    journal.commit().unwrap();
    let sha256 = Sha256::of(text.as_bytes());
    let name = format!("observations/{}.txt", &sha256.to_string()[..16]);
    let line = fs::read_to_string(journal.folder().join("events.jsonl")).unwrap();
    let stored: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(stored["data"]["text"], json!({"$ref": name, "sha256": sha256, "chars": 3_000}));
    assert_eq!(fs::read_to_string(journal.folder().join(name)).unwrap(), text);
    assert_eq!(read(journal.folder()).unwrap(), [event]);
}

#[test]
fn nothing_is_written_before_the_commit() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({}));
    assert_eq!(read(journal.folder()).unwrap(), []);
    journal.commit().unwrap();
    journal.commit().unwrap();
    assert_eq!(read(journal.folder()).unwrap().len(), 1);
}

#[test]
fn a_run_has_its_folders_and_is_private() {
    let runs = TempDir::new().unwrap();
    let journal = create(&runs);
    for name in ["", "inputs", "observations", "artifacts", "sandbox"] {
        let metadata = fs::metadata(journal.folder().join(name)).unwrap();
        assert!(metadata.is_dir());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o700, "{name}");
    }
}

#[test]
fn a_name_that_is_taken_is_followed_by_the_next() {
    let runs = TempDir::new().unwrap();
    let journals = [create(&runs), create(&runs), create(&runs)];
    let names = journals.iter().map(|journal| journal.run_id().as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["20261115_083000_k3f9", "20261115_083000_k3fa", "20261115_083000_k3fb"]);
    let taken = journals[0].sibling("20261115_083000_k3fb").unwrap_err();
    assert_eq!(taken.to_string(), "there is already a run `20261115_083000_k3fb`");
    assert!(matches!(journals[0].sibling("../x").unwrap_err(), JournalError::Name(_)));
}

#[test]
fn two_processes_never_write_one_run() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({}));
    journal.commit().unwrap();
    let folder = journal.folder().to_owned();
    assert!(is_in_use(&folder).unwrap());
    let refused = Journal::open(&folder, Durability::Sync, &owner()).unwrap_err();
    assert_eq!(refused.to_string(), "another process is working on the run `20261115_083000_k3f9`");
    assert!(refused.hint().starts_with("wait until it ends"));
    assert_eq!(read(&folder).unwrap().len(), 1);
    drop(journal);
    assert!(!is_in_use(&folder).unwrap());
    let (journal, events) = Journal::open(&folder, Durability::Sync, &owner()).unwrap();
    assert_eq!((journal.next_sequence(), events.len()), (2, 1));
}

#[test]
fn a_record_goes_on_where_it_ended() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    let first = note(&mut journal, json!({"n": 1}));
    journal.commit().unwrap();
    let folder = journal.folder().to_owned();
    drop(journal);
    let (mut journal, events) = Journal::open(&folder, Durability::Sync, &owner()).unwrap();
    assert_eq!(events, [first]);
    note(&mut journal, json!({"n": 2}));
    journal.commit().unwrap();
    let verification = verify(&folder, Some(&owner())).unwrap();
    assert_eq!((verification.ok, verification.events), (true, 2), "{verification:?}");
}

#[test]
fn what_was_cut_off_is_removed_and_nothing_else_is_taken() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({"n": 1}));
    journal.commit().unwrap();
    let folder = journal.folder().to_owned();
    drop(journal);
    let path = folder.join("events.jsonl");
    let whole = fs::read(&path).unwrap();
    for tail in ["{\"v\":1,", "garbage", "\0\0\0"] {
        fs::write(&path, [whole.as_slice(), tail.as_bytes()].concat()).unwrap();
        let (_, events) = Journal::open(&folder, Durability::Sync, &owner()).unwrap();
        assert_eq!(events.len(), 1, "{tail}");
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    for (text, message) in [
        ([whole.as_slice(), b"garbage\n"].concat(), "event 2: not an event"),
        ([b"\n", whole.as_slice()].concat(), "event 1: not an event"),
        (whole[..whole.len() - 1].to_vec(), "event 1: 1 events are missing at the end"),
        (Vec::new(), "event 1: 1 events are missing at the end"),
    ] {
        fs::write(&path, text).unwrap();
        let error = Journal::open(&folder, Durability::Sync, &owner()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn whoever_is_killed_while_taking_a_record_up_still_owns_it() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    (0..3).for_each(|n| drop(note(&mut journal, json!({"n": n}))));
    journal.commit().unwrap();
    let folder = journal.folder().to_owned();
    drop(journal);
    // As a kill leaves it in the middle of a commit: with all hashes, and two of three events.
    let (events, seals) = (folder.join("events.jsonl"), folder.join("events.seal"));
    let text = fs::read_to_string(&events).unwrap();
    fs::write(&events, text.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    let commit = fs::read_to_string(&seals).unwrap();
    fs::write(&seals, commit.trim_end()).unwrap();
    // Whatever comes in between, whoever looks finds these seals or those that take their place.
    let mut old = File::open(&seals).unwrap();
    assert_eq!(Journal::open(&folder, Durability::Sync, &owner()).unwrap().1.len(), 2);
    let mut found = String::new();
    old.read_to_string(&mut found).unwrap();
    assert_eq!(found, commit.trim_end());
    let verification = verify(&folder, Some(&owner())).unwrap();
    assert_eq!((verification.origin, verification.events), (Origin::Here, 2), "{verification:?}");
}

#[test]
fn a_folder_without_a_run_is_no_run() {
    let runs = TempDir::new().unwrap();
    let folder = runs.path().join("20261115_083000_k3f9");
    for error in [
        Journal::open(&folder, Durability::Sync, &owner()).map(|_| ()).unwrap_err(),
        read(&folder).map(|_| ()).unwrap_err(),
        verify(&folder, Some(&owner())).map(|_| ()).unwrap_err(),
    ] {
        assert!(matches!(error, JournalError::NotFound { .. }), "{error}");
    }
}

#[test]
fn after_a_failed_write_nothing_is_added() {
    let runs = TempDir::new().unwrap();
    let mut journal = create(&runs);
    note(&mut journal, json!({}));
    // A file that cannot be written stands for a disk that is full.
    journal.events = open::Locked(File::open(journal.folder().join("events.jsonl")).unwrap());
    assert!(matches!(journal.commit().unwrap_err(), JournalError::State(_)));
    assert!(matches!(journal.commit().unwrap_err(), JournalError::Incomplete { .. }));
    let happening = Happening { turn: 0, data: said("error", json!({})) };
    assert!(journal.append(happening, jiff::Timestamp::UNIX_EPOCH).is_err());
    let folder = journal.folder().to_owned();
    drop(journal);
    // The hash comes first, or a kill between the two would leave a line that nothing vouches for.
    let seals = fs::read_to_string(folder.join("events.seal")).unwrap();
    assert!(seals.len() > 64 && !seals.contains('\n'), "{seals}");
    assert!(verify(&folder, Some(&owner())).unwrap().ok);
    assert_eq!(Journal::open(&folder, Durability::Sync, &owner()).unwrap().1, []);
}
