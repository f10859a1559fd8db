use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;
use crate::folder::Folder;

type Open = fn(BorrowedFd<'_>, &Path, OFlags) -> Result<OwnedFd, Errno>;

/// The way of new kernels and the way of all others.
const WAYS: [(&str, Open); 2] = [("in one call", open_in_one_call), ("name by name", name_by_name)];

#[test]
fn both_ways_open_what_lies_beneath_and_nothing_else() {
    let place = TempDir::new().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("root/a/b")).unwrap();
    fs::write(at("root/a/b/file"), "").unwrap();
    fs::write(at("outside"), "").unwrap();
    symlink("b", at("root/a/link")).unwrap();
    symlink("file", at("root/a/b/same")).unwrap();
    symlink("/proc/self", at("root/a/magic")).unwrap();
    let root = Folder::at(&at("root")).unwrap();
    for (way, open) in WAYS {
        let opened = |path: &str| open(root.as_fd(), Path::new(path), FILE).is_ok();
        if open(root.as_fd(), Path::new("a/b"), FOLDER).err() == Some(Errno::NOSYS) {
            eprintln!("skipped: this system has no openat2");
            continue;
        }
        for inside in ["a/b/file", "a/b", "a"] {
            assert!(opened(inside), "{way}: {inside}");
        }
        for outside in [
            "a/link/file",
            "a/link",
            "a/b/same",
            "../outside",
            "a/../../outside",
            "a/magic/root/etc",
            "/etc/passwd",
            "a/b/file/x",
            "a/missing",
        ] {
            assert!(!opened(outside), "{way}: {outside}");
        }
    }
}
