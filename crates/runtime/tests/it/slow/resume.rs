//! A run that was killed goes on from where its record ends, whatever the kill left of it.
//!
//! Copies of the folder are taken while a run goes on: each is what a kill at that moment would leave. What a
//! kill in the middle of a commit would leave is made from the copies before and after it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use agent::event::{Event, EventData};
use agent::run::Run;
use skillful_runtime::driver::Ending;
use skillful_runtime::journal::{Durability, read, verify};

use crate::support::scenarios::{Scenario, everything, one_effect};
use crate::support::{Hooks, World, answer, owner, setup};

/// Every file below a folder; folders have no content.
type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

fn take(folder: &Path, below: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = below.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            take(&entry.path(), &name, files);
            files.insert(name, None);
        } else {
            files.insert(name, Some(fs::read(entry.path()).unwrap()));
        }
    }
}

fn put(files: &Files) -> World {
    let world = World::new();
    for (name, content) in files {
        let path = world.folder().join(name);
        match content {
            None => fs::create_dir_all(path).unwrap(),
            Some(bytes) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
    world
}

/// A run, and copies of its folder at every moment of it.
struct Recorded {
    scenario: Scenario,
    ending: Ending,
    events: Vec<Fact>,
    effects: Vec<String>,
    copies: Vec<Files>,
}

/// An event without what depends on when it was written.
type Fact = (u64, u32, EventData);

fn facts(events: &[Event]) -> Vec<Fact> {
    events.iter().map(|event| (event.seq, event.turn, event.data.clone())).collect()
}

impl Recorded {
    fn new(scenario: Scenario) -> Self {
        let world = World::new();
        let copies: Rc<RefCell<Vec<Files>>> = Rc::default();
        let mut journal = world.begin(Durability::NoSync);
        let mut run = Run::start(setup(&scenario));
        let hooks = Hooks::new({
            let (copies, folder) = (Rc::clone(&copies), world.folder().to_owned());
            move |_| {
                let mut files = Files::new();
                take(&folder, Path::new(""), &mut files);
                let mut copies = copies.borrow_mut();
                if copies.last() != Some(&files) {
                    copies.push(files);
                }
            }
        });
        let ending = world.drive(&mut run, &mut journal, &scenario, hooks);
        Self {
            ending,
            events: facts(&world.events()),
            effects: world.effects(),
            copies: copies.take(),
            scenario,
        }
    }

    /// Takes the run up from this state: it must end as it did, and nothing may happen twice.
    fn check(&self, files: &Files) {
        let world = put(files);
        let cut_off = interrupted_effects(&world);
        for folder in world.records() {
            let verification = verify(&folder, Some(&owner())).unwrap();
            assert!(verification.ok, "{:?}", verification.problems);
        }
        let ending = world.resume(&self.scenario);
        assert_eq!(answer(&ending), answer(&self.ending));
        assert!(verify(&world.run_folder(), Some(&owner())).unwrap().ok);
        world.assert_nothing_happened_twice();
        assert_eq!(world.interruptions(), cut_off);
        if cut_off == 0 {
            assert_eq!(facts(&world.events()), self.events);
            assert_eq!(world.effects(), self.effects);
        }
    }

    /// States in the middle of each commit: `offsets` picks how many bytes of a write got through.
    fn check_commits(&self, offsets: impl Fn(&[u8]) -> Vec<usize>) -> usize {
        let mut checked = 0;
        for pair in self.copies.windows(2) {
            for (seals, events) in records(&pair[1]) {
                let added = |name: &PathBuf| added(&pair[0], &pair[1], name);
                let (hashes, lines) = (added(&seals), added(&events));
                let Some(hashes) = hashes.strip_suffix(b"\n") else { continue };
                for length in offsets(hashes) {
                    self.check(&grown(&pair[0], &seals, &hashes[..length]));
                    checked += 1;
                }
                let sealed = grown(&pair[0], &seals, hashes);
                for length in offsets(&lines) {
                    self.check(&grown(&sealed, &events, &lines[..length]));
                    checked += 1;
                }
            }
        }
        checked
    }
}

/// The files of seals and events, of the run and its child run.
fn records(files: &Files) -> Vec<(PathBuf, PathBuf)> {
    let seals = files.keys().filter(|name| name.ends_with("events.seal"));
    seals.map(|seals| (seals.clone(), seals.with_file_name("events.jsonl"))).collect()
}

fn content<'f>(files: &'f Files, name: &Path) -> &'f [u8] {
    files.get(name).and_then(Option::as_deref).unwrap_or_default()
}

fn added(before: &Files, after: &Files, name: &Path) -> Vec<u8> {
    content(after, name)[content(before, name).len()..].to_vec()
}

fn grown(files: &Files, name: &Path, by: &[u8]) -> Files {
    let mut files = files.clone();
    let bytes = [content(&files, name), by].concat();
    files.insert(name.to_owned(), Some(bytes));
    files
}

/// How many effects were announced and have no result: of these nobody knows whether they happened.
fn interrupted_effects(world: &World) -> usize {
    let is_granted = |folder: &&PathBuf| {
        let events = read(folder).unwrap();
        events.last().is_some_and(|event| matches!(event.data, EventData::ApprovalGranted(_)))
    };
    world.records().iter().filter(is_granted).count()
}

#[test]
fn a_run_goes_on_from_every_event() {
    let recorded = Recorded::new(everything());
    for files in &recorded.copies {
        recorded.check(files);
    }
    assert!(recorded.copies.len() > 30, "{}", recorded.copies.len());
}

#[test]
fn a_run_goes_on_from_every_complete_line() {
    let recorded = Recorded::new(everything());
    let checked = recorded.check_commits(|bytes| {
        let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        newlines.map(|(place, _)| place + 1).collect()
    });
    assert!(checked >= recorded.events.len(), "{checked}");
}

#[test]
fn a_run_goes_on_from_every_byte_of_its_last_lines() {
    let mut recorded = Recorded::new(one_effect());
    let last_commit = recorded.copies.len() - 2;
    recorded.copies.drain(..last_commit);
    let checked =
        recorded.check_commits(|bytes| (bytes.len().saturating_sub(600)..=bytes.len()).collect());
    assert!(checked > 600, "{checked}");
}

#[test]
fn a_run_goes_on_from_any_byte() {
    let recorded = Recorded::new(everything());
    assert!(recorded.check_commits(|bytes| (0..bytes.len()).step_by(1_499).collect()) > 50);
}
