//! Whatever is changed in a run's folder is found, and nothing that a kill leaves is.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent::event::{Event, EventData};
use agent::run::Run;
use agent::setup::Provenance;
use basics::sha256::Sha256;
use serde_json::json;
use skillful_runtime::driver::Ending;
use skillful_runtime::journal::{
    Durability, IndexSnapshot, Journal, ProblemKind, Verification, verify,
};

use crate::support::scenarios::{Scenario, answer_at_once, everything, nobody_answers, one_effect};
use crate::support::{Hooks, Moment, World, owner, setup};

const INDEX: &str = r#"[{"name":"alpha"}]"#;

pub(crate) fn record(scenario: &Scenario) -> World {
    let world = World::new();
    world.record(scenario);
    assert_eq!(verify(&world.run_folder(), Some(&owner())).unwrap().problems, []);
    world
}

/// Problems as the event and the sort of each.
pub(crate) fn problems(folder: &Path) -> Vec<(Option<u64>, ProblemKind)> {
    let Verification { ok, problems, .. } = verify(folder, Some(&owner())).unwrap();
    assert_eq!(ok, problems.is_empty());
    problems.into_iter().map(|problem| (problem.seq, problem.kind)).collect()
}

/// The world of a run that was killed at a moment.
pub(crate) fn killed_at(scenario: Scenario, moment: Moment) -> World {
    let world = World::new();
    let copy = World::new();
    let mut journal = world.begin(Durability::NoSync);
    let done = Rc::new(RefCell::new(false));
    let hooks = Hooks::new({
        let (from, to, done) = (world.run_folder(), copy.run_folder(), Rc::clone(&done));
        move |now| {
            if now == moment && !done.replace(true) {
                fs::create_dir_all(to.join("observations")).unwrap();
                for name in ["events.jsonl", "events.seal"] {
                    fs::copy(from.join(name), to.join(name)).unwrap();
                }
            }
        }
    });
    world.drive(&mut Run::start(setup(&scenario)), &mut journal, &scenario, hooks);
    assert!(done.take());
    copy
}

/// Changes the lines of a finished run, and says what is found.
fn change_lines(change: impl FnOnce(&mut Vec<String>)) -> Vec<(Option<u64>, ProblemKind)> {
    let world = record(&one_effect());
    let path = world.run_folder().join("events.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    change(&mut lines);
    fs::write(&path, lines.concat()).unwrap();
    problems(&world.run_folder())
}

#[test]
fn an_edit_a_deletion_and_a_reordering_are_told_apart() {
    use ProblemKind::{Changed, Missing, Order, Unreadable};
    assert_eq!(
        change_lines(|lines| lines[4] = lines[4].replacen("08:30", "08:31", 1)),
        [(Some(5), Changed)]
    );
    assert_eq!(change_lines(|lines| drop(lines.remove(4))), [(Some(6), Order)]);
    assert_eq!(
        change_lines(|lines| lines.swap(4, 5)),
        [(Some(6), Order), (Some(5), Order), (Some(7), Order)]
    );
    assert_eq!(change_lines(|lines| lines.insert(5, lines[4].clone())), [(Some(5), Order)]);
    assert_eq!(change_lines(|lines| lines[4] = "{}\n".to_owned()), [(Some(5), Unreadable)]);
    let count = Rc::new(RefCell::new(0));
    let found = change_lines(|lines| {
        lines.pop();
        *count.borrow_mut() = lines.len() as u64;
    });
    assert_eq!(found, [(Some(count.take() + 1), Missing)]);
}

#[test]
fn an_event_after_the_end_is_found_even_when_it_fits_the_chain() {
    let found = change_lines(|lines| {
        let last = lines.last().unwrap().trim_end();
        let mut event: serde_json::Value = serde_json::from_str(last).unwrap();
        event["prev"] = sha256(last.as_bytes()).into();
        event["seq"] = json!(event["seq"].as_u64().unwrap() + 1);
        lines.push(format!("{event}\n"));
    });
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].1, ProblemKind::Order);
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The files that hold what was too long for a line.
fn contents(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("observations")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn changed_and_missing_contents_are_found() {
    let world = record(&everything());
    let folder = world.run_folder();
    assert_eq!(contents(&folder).len(), 2);
    for path in contents(&folder) {
        let original = fs::read(&path).unwrap();
        let mut changed = original.clone();
        changed[100] ^= 1;
        for content in [changed, Vec::new(), original[1..].to_vec()] {
            fs::write(&path, content).unwrap();
            assert!(problems(&folder).iter().all(|(_, kind)| *kind == ProblemKind::Reference));
            assert!(!verify(&folder, Some(&owner())).unwrap().ok);
        }
        fs::remove_file(&path).unwrap();
        assert!(!verify(&folder, Some(&owner())).unwrap().ok);
        fs::write(&path, original).unwrap();
    }
    assert_eq!(problems(&folder), []);
}

#[test]
fn files_that_do_not_agree_with_the_events_are_found() {
    let world = World::new();
    let mut journal = world.begin(Durability::Sync);
    let scenario = answer_at_once();
    let mut setup = setup(&scenario);
    let index = IndexSnapshot::new(INDEX.into());
    journal.write_index(&index).unwrap();
    let hash = format!("sha256:{}", sha256(INDEX.as_bytes()));
    setup.facts = Provenance { index_hash: Some(hash), ..Provenance::default() };
    let ending = world.drive(&mut Run::start(setup), &mut journal, &scenario, Hooks::default());
    assert!(matches!(ending, Ending::Finished(_)));
    let folder = world.run_folder();
    assert_eq!(problems(&folder), []);
    for name in ["index.json", "final.md", "run.json"] {
        let path = folder.join(name);
        let original = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        // A run that was killed before it could write its summary has none, and that is all right.
        let expected = if name == "run.json" { vec![] } else { vec![(None, ProblemKind::File)] };
        assert_eq!(problems(&folder), expected, "{name}");
        fs::write(&path, [original.as_slice(), b" "].concat()).unwrap();
        assert_eq!(problems(&folder), [(None, ProblemKind::File)], "{name}");
        fs::write(&path, original).unwrap();
    }
    fs::remove_file(folder.join("events.seal")).unwrap();
    assert_eq!(problems(&folder), [(None, ProblemKind::Seal)]);
}

#[test]
fn a_run_that_waited_and_went_on_has_no_stale_summary() {
    let waiting = nobody_answers();
    let world = record(&waiting);
    assert!(world.run_folder().join("run.json").exists());
    drop(Journal::open(&world.run_folder(), Durability::Sync, &owner()).unwrap());
    assert!(!world.run_folder().join("run.json").exists());
    let answered = Scenario { answer: Some(permission::Answer::Once), ..nobody_answers() };
    assert!(matches!(world.resume(&answered), Ending::Finished(_)));
    assert_eq!(problems(&world.run_folder()), []);
    let is_question = |event: &&Event| matches!(event.data, EventData::ApprovalRequired(_));
    let asked = world.events().iter().filter(is_question).count();
    assert_eq!((asked, world.effects()), (1, vec!["never".to_owned()]));
}

/// Writes the record anew, as programs of these versions would have: one for each event.
fn forge_versions(folder: &Path, version: impl Fn(u64) -> u32) {
    let text = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let (mut lines, mut hashes, mut prev) = (String::new(), String::new(), String::new());
    for (line, number) in text.lines().zip(1..) {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["v"] = json!(version(number));
        event["prev"] = json!(prev);
        let line = event.to_string();
        prev = Sha256::of(&line).to_string();
        lines += &format!("{line}\n");
        hashes += &format!("{prev}\n");
    }
    fs::write(folder.join("events.jsonl"), lines).unwrap();
    fs::write(folder.join("events.seal"), hashes).unwrap();
}

#[test]
fn a_newer_program_may_go_on_with_a_record_but_no_older_one() {
    let world = record(&answer_at_once());
    let folder = world.run_folder();
    let changed = |version: &dyn Fn(u64) -> u32| -> Vec<u64> {
        forge_versions(&folder, version);
        let problems = problems(&folder).into_iter();
        problems.filter_map(|(seq, kind)| seq.filter(|_| kind == ProblemKind::Changed)).collect()
    };
    let none: Vec<u64> = Vec::new();
    assert_eq!(changed(&|_| 1), none);
    assert_eq!(changed(&|number| if number < 4 { 1 } else { 2 }), none);
    assert_eq!(changed(&|number| if number < 4 { 2 } else { 1 }), [4]);
    assert_eq!(changed(&|number| if number == 3 { 99 } else { 2 })[0], 3);
}
