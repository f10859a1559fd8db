use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;

use super::*;
use crate::platform::open_in_one_call;

type Open = fn(&Path, OFlags) -> Result<OwnedFd, Errno>;

/// The way of new kernels and the way of all others.
const WAYS: [(&str, Open); 2] =
    [("in one call", open_in_one_call), ("name by name", open_name_by_name)];

#[test]
fn both_ways_open_a_real_path_and_stop_at_every_link() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().canonicalize().unwrap();
    fs::create_dir_all(place.join("a/b")).unwrap();
    fs::write(place.join("a/b/file"), "inside").unwrap();
    symlink("a", place.join("link")).unwrap();
    symlink("file", place.join("a/b/same")).unwrap();
    for (way, open) in WAYS {
        if open(&place, OFlags::DIRECTORY).err() == Some(Errno::NOSYS) {
            eprintln!("skipped: this system has no openat2");
            continue;
        }
        let read = |path: &str, flags: OFlags| {
            let mut text = String::new();
            let opened = open(&place.join(path), flags | OFlags::CLOEXEC)?;
            Ok(File::from(opened).read_to_string(&mut text).map(|_| text).unwrap_or_default())
        };
        assert_eq!(read("a/b/file", OFlags::RDONLY), Ok("inside".to_owned()), "{way}");
        assert_eq!(read("a/b", OFlags::DIRECTORY), Ok(String::new()), "{way}");
        assert_eq!(read("a/none", OFlags::RDONLY), Err(Errno::NOENT), "{way}");
        assert_eq!(read("a/b/file/x", OFlags::RDONLY), Err(Errno::NOTDIR), "{way}");
        for linked in ["link/b/file", "a/b/same", "link/b", "link"] {
            for flags in [OFlags::RDONLY, OFlags::DIRECTORY] {
                assert_eq!(read(linked, flags), Err(Errno::LOOP), "{way}: {linked}");
            }
        }
    }
    let root = open_name_by_name(Path::new("/"), OFlags::DIRECTORY).unwrap();
    assert!(rustix::fs::Dir::new(root).is_ok(), "it can be listed");
}
