//! Whatever bit of a record is flipped, it is found.

use std::fs;
use std::path::Path;

use skillful_runtime::journal::verify;

use crate::support::scenarios::{answer_at_once, nobody_answers, one_effect};
use crate::support::{Moment, owner};
use crate::verify::{killed_at, problems, record};

/// Flips a bit of every `step`th byte of a file, one after the other: each time it must be found.
fn flip(folder: &Path, name: &str, step: usize) {
    let path = folder.join(name);
    let original = fs::read(&path).unwrap();
    assert!(!original.is_empty(), "{name}");
    for place in (0..original.len()).step_by(step) {
        let mut bytes = original.clone();
        bytes[place] ^= [0x01, 0x20, 0x80][place / step % 3];
        fs::write(&path, &bytes).unwrap();
        let found = verify(folder, Some(&owner())).unwrap();
        assert!(!found.ok || !found.origin.is_own(), "{name}, byte {place}: {}", bytes[place]);
    }
    fs::write(&path, original).unwrap();
    assert_eq!(problems(folder), []);
}

#[test]
fn any_flipped_byte_of_a_finished_run_is_found() {
    let world = record(&answer_at_once());
    for name in ["events.jsonl", "events.seal", "run.json", "final.md"] {
        flip(&world.run_folder(), name, 1);
    }
}

#[test]
fn any_flipped_byte_of_a_run_that_waits_is_found() {
    let world = record(&nobody_answers());
    flip(&world.run_folder(), "events.jsonl", 5);
    flip(&world.run_folder(), "events.seal", 11);
    flip(&world.run_folder(), "run.json", 11);
}

#[test]
fn any_flipped_byte_of_a_run_that_was_killed_is_found() {
    let world = killed_at(one_effect(), Moment::AfterEffect);
    flip(&world.run_folder(), "events.jsonl", 5);
    flip(&world.run_folder(), "events.seal", 11);
}

#[test]
fn any_flipped_byte_of_the_last_line_is_found_even_before_its_commit_was_sealed() {
    let world = killed_at(answer_at_once(), Moment::Asked);
    let folder = world.run_folder();
    let seals = fs::read_to_string(folder.join("events.seal")).unwrap();
    fs::write(folder.join("events.seal"), seals.trim_end()).unwrap();
    assert_eq!(problems(&folder), []);
    flip(&folder, "events.jsonl", 3);
}
