//! Applications and undos are stopped before some of their operations (`slow` has all), as a crash and as an error.
//! Whoever comes next finds the old state or the new one, whole.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nothing more happens.
    Crash,
    /// This one fails, the next ones do not.
    Error,
}

/// Each of them, with and without what only some file systems can do.
const FAULTS: [(Fault, bool); 4] =
    [(Fault::Crash, false), (Fault::Error, false), (Fault::Crash, true), (Fault::Error, true)];

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

fn world() -> World {
    let mut world = World::new();
    world.file("a", "old").file("dir/x", "x").file("dir/deep/y", "y").file("mode", "m");
    world.file("to_folder", "f").file("to_file/inner", "i").file("kept/k", "k");
    world.upper("a", "new").upper("n/e/w", "n").upper("mode", "m").deletes("dir");
    world.upper("to_folder/inner", "1").upper("to_file", "now");
    fs::create_dir(world.upper.join("kept")).unwrap();
    set_mode(&world.upper.join("kept"), 0o500);
    set_mode(&world.upper.join("mode"), 0o600);
    world.upper("closed/c", "c");
    set_mode(&world.upper.join("closed"), 0o500);
    symlink("nowhere", world.upper.join("link")).unwrap();
    world.note();
    world
}

#[test]
fn an_application_that_is_stopped_leaves_the_old_or_the_new() {
    stop_applications(6);
}

/// At every so many operations.
pub(super) fn stop_applications(step: usize) {
    for (number, (fault, plain)) in FAULTS.into_iter().enumerate() {
        let (mut was_old, mut was_new) = (0, 0);
        for at in (number % step..).step_by(step) {
            let world = world();
            let old = world.snapshot();
            let (disk, counter) = failing(at, fault);
            let disk = if plain { disk.plain() } else { disk };
            let applied = world.apply(&disk);
            if counter.load(Ordering::SeqCst) <= at {
                applied.unwrap();
                break;
            }
            if fault == Fault::Error && applied.is_err() {
                assert_eq!(world.snapshot(), old, "after an error at {at}");
            }
            world.recover();
            let now = world.snapshot();
            if now == old {
                was_old += 1;
                assert_eq!(world.store().list().unwrap(), [], "at {at}");
                world.apply(&Disk::default()).unwrap();
            } else {
                was_new += 1;
                assert_eq!(world.store().list().unwrap(), [(1, Phase::Applied)], "at {at}");
            }
            assert_eq!(world.shown(), "", "{fault:?} at {at}");
            let (number, _) = world.store().list().unwrap()[0];
            world.undo(number, &Disk::default()).unwrap();
            assert_eq!(world.snapshot(), old, "{fault:?} at {at}");
        }
        assert!(was_old > 20 / step, "{was_old}");
        assert!(was_new > 15 / step || fault == Fault::Error, "{was_new}");
    }
}

#[test]
fn an_undo_that_is_stopped_leaves_the_old_or_the_new() {
    stop_undos(6);
}

/// At every so many operations.
pub(super) fn stop_undos(step: usize) {
    for (number, (fault, plain)) in FAULTS.into_iter().enumerate() {
        for at in (number % step..).step_by(step) {
            let world = world();
            let old = world.snapshot();
            world.apply(&Disk::default()).unwrap();
            let new = world.snapshot();
            let (disk, counter) = failing(at, fault);
            let disk = if plain { disk.plain() } else { disk };
            let undone = world.undo(1, &disk);
            if counter.load(Ordering::SeqCst) <= at {
                undone.unwrap();
                break;
            }
            if fault == Fault::Error && undone.is_err() {
                assert_eq!(world.snapshot(), new, "after an error at {at}");
            }
            world.recover();
            let phase = world.store().list().unwrap()[0].1;
            match phase {
                Phase::Applied => assert_eq!(world.snapshot(), new, "{fault:?} at {at}"),
                Phase::Undone => assert_eq!(world.snapshot(), old, "{fault:?} at {at}"),
                other => panic!("{other:?} at {at}"),
            }
            if phase == Phase::Applied {
                world.undo(1, &Disk::default()).unwrap();
                assert_eq!(world.snapshot(), old);
            }
        }
    }
}

/// A recovery is stopped, too, and somebody comes after that.
#[test]
fn a_recovery_that_is_stopped_can_be_recovered() {
    for (at, second) in (15..60).step_by(7).flat_map(|at| [(at, 1), (at, 4), (at, 9)]) {
        let world = world();
        let old = world.snapshot();
        if world.apply(&failing(at, Fault::Crash).0).is_ok() {
            break;
        }
        let disk = failing(second, Fault::Crash).0;
        let _ = recover(&world.store(), (&world.workspace, &world.rules), &disk);
        world.recover();
        match world.store().list().unwrap()[..] {
            [] => assert_eq!(world.snapshot(), old),
            _ => assert_eq!(world.shown(), ""),
        }
    }
}

/// Somebody changes a file after the point of no return.
#[test]
fn a_file_that_changes_meanwhile_takes_everything_back() {
    for at in (0..80).step_by(3) {
        let world = world();
        let target = world.workspace.join("a");
        let old = world.snapshot();
        let counter = AtomicUsize::new(0);
        let foreign = target.clone();
        let disk = Disk::with_hook(move |_| {
            if counter.fetch_add(1, Ordering::SeqCst) == at {
                // As editors do: a new file with the name of the old one.
                let beside = foreign.with_extension("new");
                fs::write(&beside, "theirs").unwrap();
                fs::rename(&beside, &foreign).unwrap();
            }
            Ok(())
        });
        match world.apply(&disk) {
            Ok(_) => {
                let content = fs::read(&target).unwrap();
                assert!(content == b"new" || content == b"theirs", "at {at}");
            }
            Err(ChangesError::Conflict { .. }) => {
                assert_eq!(fs::read(&target).unwrap(), b"theirs", "at {at}");
                let mut now = world.snapshot();
                now.insert("a".into(), old[Path::new("a")].clone());
                assert_eq!(now, old, "at {at}");
            }
            Err(other) => panic!("{other:?} at {at}"),
        }
    }
}
