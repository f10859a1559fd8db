use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::TempDir;

use super::{open, open_root, walk};

/// What both ways of opening a path lead to: the content of a file, or why not.
fn check(path: &str, expected: Result<&str, ()>) {
    let folder = TempDir::new().unwrap();
    fs::create_dir_all(folder.path().join("root/a/b")).unwrap();
    fs::write(folder.path().join("root/a/b/file"), "inside").unwrap();
    fs::write(folder.path().join("outside"), "outside").unwrap();
    symlink("a/b", folder.path().join("root/inner")).unwrap();
    symlink("../..", folder.path().join("root/a/out")).unwrap();
    symlink("../outside", folder.path().join("root/out")).unwrap();
    symlink("/", folder.path().join("root/top")).unwrap();
    let root = open_root(&folder.path().join("root")).unwrap();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for way in [open, walk] {
        let read = way(root.as_fd(), Path::new(path), flags).and_then(|file| {
            let mut text = String::new();
            fs::File::from(file).read_to_string(&mut text).map(|_| text)
        });
        assert_eq!(read.as_deref().map_err(|_: &io::Error| ()), expected, "{path}");
    }
}

#[test]
fn plain_paths_are_opened() {
    check("a/b/file", Ok("inside"));
    check("a/missing", Err(()));
    check("a/b/file/x", Err(()));
}

#[test]
fn nothing_leads_through_a_link_or_upwards() {
    for path in [
        "inner/file",
        "out",
        "a/out/outside",
        "top/etc/passwd",
        "../outside",
        "a/../../outside",
        "/etc/passwd",
    ] {
        check(path, Err(()));
    }
}
