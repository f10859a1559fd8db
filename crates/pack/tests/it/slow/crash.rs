//! Every change is stopped before each of its operations, as a crash and as an error. Whoever comes next
//! finds the old state or the new one, whole.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use skillful_pack::disk::Disk;

use crate::support::{CHANGES, Change, World, prepared};

type State = BTreeMap<String, (u32, Vec<u8>)>;

/// How the world ends at an operation.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Nothing more happens.
    Crash,
    /// This one fails, the next ones do not.
    Error,
}

/// A disk that fails at the operation with this number; the counter says how many there were.
fn failing(at: usize, fault: Fault) -> (Disk, Arc<AtomicUsize>) {
    let counter = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&counter);
    let disk = Disk::with_hook(move |operation| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let fails = match fault {
            Fault::Crash => number >= at,
            Fault::Error => number == at,
        };
        match fails {
            true => Err(io::Error::other(format!("{operation:?}"))),
            false => Ok(()),
        }
    });
    (disk, counter)
}

/// The state that the change leads to when nothing goes wrong.
fn new_state(world: &World, old: &State, change: Change) -> State {
    change(world, &Disk::default()).unwrap();
    let new = world.recovered();
    assert_ne!(new, *old);
    new
}

fn check(name: &str, fault: Fault) {
    let change = CHANGES.iter().find(|(other, _)| *other == name).unwrap().1;
    let world = prepared();
    let old = world.state();
    let new = new_state(&world, &old, change);
    let (mut olds, mut news) = (0, 0);
    for at in 0.. {
        world.reset(&old);
        let (disk, counter) = failing(at, fault);
        let result = change(&world, &disk);
        let happened = counter.load(Ordering::SeqCst) > at;
        assert!(result.is_err() || matches!(fault, Fault::Error) || !happened, "{name} at {at}");
        let state = world.recovered();
        match () {
            () if state == new => news += 1,
            () if state == old => olds += 1,
            () => {
                let differs = |path: &&String| {
                    state.get(*path) != old.get(*path) && state.get(*path) != new.get(*path)
                };
                let paths: Vec<&String> = state.keys().chain(old.keys()).filter(differs).collect();
                panic!(
                    "{name}: neither old nor new after {fault:?} at {at}: {paths:?}\n{:?}",
                    state.keys()
                );
            }
        }
        assert!(state == new || result.is_err(), "{name}: it said that it succeeded at {at}");
        if !happened {
            break;
        }
    }
    assert!(olds > 3 && news > 3, "{name}: {olds} old, {news} new");
}

#[test]
fn a_crash_at_any_operation_leaves_old_or_new() {
    CHANGES.iter().for_each(|(name, _)| check(name, Fault::Crash));
}

#[test]
fn an_error_at_any_operation_leaves_old_or_new() {
    CHANGES.iter().for_each(|(name, _)| check(name, Fault::Error));
}

#[test]
fn a_crash_during_recovery_is_recovered_from() {
    let world = prepared();
    let old = world.state();
    let change = CHANGES[1].1;
    let new = new_state(&world, &old, change);
    // Each crash of the change, then each crash of the recovery.
    let mut recoveries = 0;
    for at in (0..).step_by(5) {
        for again in 0.. {
            world.reset(&old);
            let (disk, counter) = failing(at, Fault::Crash);
            let _ = change(&world, &disk);
            if counter.load(Ordering::SeqCst) <= at {
                assert!(recoveries > 50, "{recoveries}");
                return;
            }
            let (disk, counter) = failing(again, Fault::Crash);
            let _ = world.root().tidy(&disk);
            let state = world.recovered();
            assert!(state == old || state == new, "crash at {at}, then at {again}");
            recoveries += 1;
            if counter.load(Ordering::SeqCst) <= again {
                break;
            }
        }
    }
}
