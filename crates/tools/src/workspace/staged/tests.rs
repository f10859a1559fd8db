//! A kill closes what a process has open and does nothing else: so a test that stops after a step and drops what it
//! has sees what a kill leaves.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use tempfile::TempDir;

use super::{Staged, sweep};
use crate::beneath::open_root;

fn world() -> (TempDir, OwnedFd) {
    let world = TempDir::new().unwrap();
    let folder = open_root(world.path()).unwrap();
    (world, folder)
}

/// Names and contents.
fn found(folder: &Path) -> Vec<(String, String)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let content = fs::read_to_string(entry.path()).unwrap_or_default();
            (entry.file_name().into_string().unwrap(), content)
        })
        .collect();
    found.sort();
    found
}

type Stage = fn(&OwnedFd, &[u8], Option<u32>) -> std::io::Result<Staged>;

/// The ways to write content down that this system has.
fn ways() -> Vec<Stage> {
    let ways: [(&str, Stage); 2] =
        [("without a name", Staged::unnamed), ("beside", Staged::beside)];
    let (_world, folder) = world();
    let is_there = |(name, stage): &(&str, Stage)| match stage(&folder, b"", None) {
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
            eprintln!("skipped: this system cannot write a file {name}");
            false
        }
        staged => staged.is_ok(),
    };
    ways.into_iter().filter(is_there).map(|(_, stage)| stage).collect()
}

/// After a kill that follows `steps`, and whoever sweeps next, the file has this content and nothing is beside it.
fn check(steps: impl Fn(&OwnedFd), before: Option<&str>, after: Option<&str>) {
    let (world, folder) = world();
    if let Some(before) = before {
        fs::write(world.path().join("a"), before).unwrap();
    }
    steps(&folder);
    sweep(&folder);
    let expected: Vec<_> =
        after.map(|after| ("a".to_owned(), after.to_owned())).into_iter().collect();
    assert_eq!(found(world.path()), expected);
}

#[test]
fn a_kill_at_any_step_leaves_the_old_file_or_the_new_one() {
    let a = OsStr::new("a");
    for stage in ways() {
        let make = |folder: &OwnedFd| stage(folder, b"new", None).unwrap();
        for before in [None, Some("old")] {
            check(|folder| drop(make(folder)), before, before);
            check(|folder| drop(make(folder).named(folder).unwrap()), before, before);
            check(
                |folder| make(folder).named(folder).unwrap().put_over(folder, a).unwrap(),
                before,
                Some("new"),
            );
        }
        check(|folder| make(folder).put(folder, a).unwrap(), None, Some("new"));
        // What came there meanwhile stays.
        check(|folder| drop(make(folder).put(folder, a).unwrap_err()), Some("old"), Some("old"));
    }
}

#[test]
fn what_somebody_writes_right_now_is_not_swept_away() {
    for stage in ways() {
        let (world, folder) = world();
        let staged = stage(&folder, b"new", None).unwrap().named(&folder).unwrap();
        sweep(&folder);
        assert_eq!(found(world.path()).len(), 1);
        staged.put_over(&folder, OsStr::new("a")).unwrap();
        assert_eq!(found(world.path()), [("a".to_owned(), "new".to_owned())]);
    }
}

#[test]
fn only_plain_files_with_a_temporary_name_are_swept_away() {
    let (world, folder) = world();
    let at = |name: &str| world.path().join(name);
    let kept = [".skillful-.tmp", ".skillful-a.tmp", ".skillful-1.txt", "skillful-1.tmp"];
    kept.iter().for_each(|name| fs::write(at(name), "mine").unwrap());
    fs::create_dir(at(".skillful-1-1.tmp")).unwrap();
    symlink("a", at(".skillful-1-2.tmp")).unwrap();
    fs::write(at(".skillful-1-3.tmp"), "left").unwrap();
    sweep(&folder);
    assert!(!at(".skillful-1-3.tmp").exists());
    assert_eq!(fs::read_dir(world.path()).unwrap().count(), kept.len() + 2);
}

#[test]
fn permissions_are_taken_over_and_nothing_else() {
    let (world, folder) = world();
    for stage in ways() {
        for (mode, expected) in [(0o640, 0o640), (0o4755, 0o755), (0o7777, 0o777)] {
            let staged = stage(&folder, b"", Some(mode)).unwrap();
            staged.named(&folder).unwrap().put_over(&folder, OsStr::new("a")).unwrap();
            let found = fs::metadata(world.path().join("a")).unwrap().permissions().mode();
            assert_eq!(found & 0o7777, expected);
        }
    }
}
