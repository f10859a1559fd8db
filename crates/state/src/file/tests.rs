use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use rustix::fs::{CWD, Mode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::folder::Access;

fn place() -> (TempDir, Folder) {
    let place = TempDir::new().unwrap();
    let folder = Folder::at(place.path()).unwrap();
    (place, folder)
}

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StateError>, expected: &str) {
    let error = result.unwrap_err();
    assert!(error.is_unsafe(), "{error:?}");
    assert_eq!(format!("{:?}", error.cause), expected);
}

/// Everything that is no plain file of one name, beside a file elsewhere that must stay as it is.
fn hostile() -> (TempDir, Folder) {
    let (place, _) = place();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("state/folder")).unwrap();
    fs::write(at("precious"), "precious").unwrap();
    symlink("../precious", at("state/link")).unwrap();
    symlink("../missing", at("state/dangling")).unwrap();
    symlink("/dev/zero", at("state/endless")).unwrap();
    symlink("..", at("state/up")).unwrap();
    fs::hard_link(at("precious"), at("state/second")).unwrap();
    pipe(&at("state/pipe"));
    let folder = Folder::at(&at("state")).unwrap();
    (place, folder)
}

const HOSTILE: [(&str, &str); 7] = [
    ("link", "Link"),
    ("dangling", "Link"),
    ("endless", "Link"),
    ("up/precious", "Link"),
    ("second", "ManyNames"),
    ("pipe", "NotAFile"),
    ("folder", "NotAFile"),
];

#[test]
fn only_plain_files_of_one_name_are_read_or_added_to() {
    let (place, folder) = hostile();
    for (name, cause) in HOSTILE {
        refused(folder.read(name, 1_000), cause);
        refused(folder.open_to_append(name), cause);
        refused(folder.append_or_create(name), cause);
    }
    refused(folder.read("../precious", 1_000), "Outside");
    assert_eq!(folder.read_shared("second", 1_000).unwrap(), b"precious");
    assert!(folder.open_to_lock("second").is_ok());
    refused(folder.open_to_lock("pipe"), "NotAFile");
    assert_eq!(fs::read(place.path().join("precious")).unwrap(), b"precious");
    assert!(!place.path().join("missing").exists());
}

#[test]
fn whatever_is_in_the_way_of_a_new_file_is_replaced_and_what_it_leads_to_is_not() {
    type Write = fn(&Folder, &str) -> Result<(), StateError>;
    let ways: [(&str, Write); 4] = [
        ("replace", |folder, name| folder.replace(name, b"new", Durability::Sync)),
        ("among many", |folder, name| folder.replace_among_many(name, b"new", Durability::NoSync)),
        ("exchange", |folder, name| folder.exchange(name, b"new")),
        ("anew", |folder, name| {
            let mut file = folder.create_anew(name)?;
            file.write_all(b"new").map_err(folder.io("write", Path::new(name)))
        }),
    ];
    for (way, write) in ways {
        for name in ["link", "dangling", "endless", "second", "pipe"] {
            let (place, folder) = hostile();
            // What is written first must not be led astray either.
            for end in [".tmp", ".1-0.tmp"] {
                symlink("../precious", place.path().join(format!("state/{name}{end}"))).unwrap();
            }
            for _ in 0..3 {
                write(&folder, name).unwrap();
                assert_eq!(folder.read(name, 3).unwrap(), b"new", "{way} {name}");
            }
            assert_eq!(fs::read(place.path().join("precious")).unwrap(), b"precious", "{way}");
            assert!(!place.path().join("missing").exists(), "{way}");
        }
        let (_place, folder) = hostile();
        // Exchanged, a folder is only in the way of the next.
        assert!(write(&folder, "folder").and_then(|()| write(&folder, "folder")).is_err(), "{way}");
        assert!(write(&folder, "up/x").is_err(), "{way}");
    }
}

#[test]
fn a_new_file_takes_the_place_of_nothing() {
    let (place, folder) = hostile();
    for (name, _) in HOSTILE.iter().filter(|(name, _)| !name.contains('/')) {
        assert!(folder.create_file(name).unwrap_err().is_taken(), "{name}");
    }
    assert!(!place.path().join("missing").exists());
}

#[test]
fn no_more_is_read_than_a_file_of_its_kind_can_have() {
    let (place, folder) = place();
    fs::write(place.path().join("file"), "12345").unwrap();
    assert_eq!(folder.read("file", 5).unwrap(), b"12345");
    let error = folder.read("file", 4).unwrap_err();
    assert!(matches!(error.cause, Cause::TooLarge { limit: 4 }));
    // Without a byte on disk, and more than fits into memory.
    File::create(place.path().join("sparse")).unwrap().set_len(1 << 42).unwrap();
    refused(folder.read("sparse", 1 << 20), "TooLarge { limit: 1048576 }");
    // What says that it has no bytes at all.
    let system = Folder::at(Path::new("/proc/self")).unwrap();
    refused(system.read("status", 10), "TooLarge { limit: 10 }");
}

#[test]
fn exchanging_reuses_the_file_before_and_leaves_no_old_bytes() {
    let (place, folder) = place();
    let inode = |name: &str| fs::metadata(place.path().join(name)).map(|found| found.ino()).ok();
    folder.exchange("state.json", b"first, and long").unwrap();
    folder.exchange("state.json", b"second").unwrap();
    let (kept, spare) = (inode("state.json"), inode("state.json.tmp"));
    folder.exchange("state.json", b"3").unwrap();
    if cfg!(all(target_os = "linux", not(portable))) {
        assert!(spare.is_some());
        assert_eq!((inode("state.json"), inode("state.json.tmp")), (spare, kept));
    }
    assert_eq!(folder.read("state.json", 10).unwrap(), b"3");
    folder.remove_spare("state.json").unwrap();
    folder.remove_spare("state.json").unwrap();
    assert_eq!(folder.names().unwrap(), ["state.json"]);
}

#[test]
fn a_write_that_fails_leaves_nothing_behind() {
    let (_place, folder) = place();
    folder.new_folder("taken", Access::Mask).unwrap();
    folder.create_file("taken/inner").unwrap();
    assert!(folder.replace("taken", b"x", Durability::NoSync).is_err());
    assert!(folder.replace_among_many("taken", b"x", Durability::NoSync).is_err());
    assert_eq!(folder.names().unwrap(), ["taken"]);
}

#[test]
fn files_of_other_users_are_not_added_to() {
    let (place, folder) = place();
    let path = place.path().join("file");
    fs::write(&path, "").unwrap();
    if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
        eprintln!("skipped: only root can give a file away");
        return;
    }
    refused(folder.open_to_append("file"), "NotOurs");
    fs::rename(&path, place.path().join("state.json.tmp")).unwrap();
    folder.exchange("state.json", b"x").unwrap();
    assert_eq!(fs::metadata(place.path().join("state.json")).unwrap().uid(), geteuid().as_raw());
}

#[test]
fn what_is_gone_need_not_be_removed() {
    let (place, folder) = place();
    folder.remove_file("none").unwrap();
    folder.remove_file("none/none").unwrap();
    symlink("/etc/passwd", place.path().join("link")).unwrap();
    folder.remove_file("link").unwrap();
    assert_eq!(folder.names().unwrap().len(), 0);
}
