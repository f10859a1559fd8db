use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::{OFlags, mkdirat};
use tempfile::TempDir;

use super::*;

fn place() -> (TempDir, Folder) {
    let place = TempDir::new().unwrap();
    let folder = Folder::at(place.path()).unwrap();
    (place, folder)
}

#[test]
fn a_tree_is_removed_and_what_its_links_lead_to_is_not() {
    let (place, folder) = place();
    let at = |path: &str| place.path().join(path);
    fs::create_dir_all(at("keep/inner")).unwrap();
    fs::write(at("keep/inner/file"), "").unwrap();
    for path in ["tree/a/b", "tree/c", "tree/d/e/f"] {
        fs::create_dir_all(at(path)).unwrap();
        fs::write(at(path).join("file"), "123").unwrap();
        symlink(at("keep"), at(path).join("link")).unwrap();
    }
    symlink("keep", at("link")).unwrap();
    assert_eq!(folder.size("tree"), 9);
    folder.remove_tree("tree").unwrap();
    folder.remove_tree("link").unwrap();
    folder.remove_tree("missing").unwrap();
    folder.remove_tree("missing/inner").unwrap();
    assert_eq!(folder.names().unwrap(), ["keep"]);
    assert!(at("keep/inner/file").exists());
    assert!(folder.remove_tree("../x").unwrap_err().is_unsafe());
}

#[test]
fn a_tree_deeper_than_any_path_is_measured_and_removed() {
    let (_place, folder) = place();
    let name = "n".repeat(200);
    mkdirat(&folder, "deep", Mode::RWXU).unwrap();
    let mut inner = openat(&folder, "deep", FOLDER, Mode::empty()).unwrap();
    // Many times longer than PATH_MAX.
    for _ in 0..400 {
        mkdirat(&inner, &*name, Mode::RWXU).unwrap();
        inner = openat(&inner, &*name, FOLDER, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    rustix::io::write(openat(&inner, "file", flags, Mode::RWXU).unwrap(), b"12345").unwrap();
    drop(inner);
    assert_eq!(folder.size("deep"), 5);
    folder.remove_tree("deep").unwrap();
    assert_eq!(folder.names().unwrap().len(), 0);
}

#[test]
fn folders_that_nobody_may_list_are_removed() {
    let (place, folder) = place();
    for mode in [0o000, 0o400, 0o500, 0o300] {
        let closed = place.path().join(format!("tree/{mode}/closed"));
        fs::create_dir_all(closed.join("inner")).unwrap();
        fs::write(closed.join("inner/file"), "123").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    }
    folder.size("tree");
    folder.remove_tree("tree").unwrap();
    assert_eq!(folder.names().unwrap().len(), 0);
}

#[test]
fn a_folder_that_was_moved_is_not_left_by_its_new_parent() {
    let (place, folder) = place();
    fs::create_dir_all(place.path().join("a/b")).unwrap();
    fs::create_dir(place.path().join("elsewhere")).unwrap();
    let (above, below) = (folder.folder("a").unwrap(), folder.folder("a/b").unwrap());
    let expected = identity(&fstat(&above).unwrap());
    assert!(up(below.as_fd(), expected).is_ok());
    fs::rename(place.path().join("a/b"), place.path().join("elsewhere/b")).unwrap();
    assert!(matches!(up(below.as_fd(), expected).unwrap_err(), Cause::Moved));
}

#[test]
fn shared_files_do_not_count() {
    let (place, folder) = place();
    fs::create_dir(place.path().join("tree")).unwrap();
    fs::write(place.path().join("tree/one"), "12").unwrap();
    fs::write(place.path().join("tree/two"), "1234").unwrap();
    fs::hard_link(place.path().join("tree/two"), place.path().join("elsewhere")).unwrap();
    assert_eq!(folder.size("tree"), 2);
    assert_eq!(folder.size("none"), 0);
}
