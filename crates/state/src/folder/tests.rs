use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, StateError>, expected: &str, path: &Path) {
    let error = result.unwrap_err();
    assert!(error.is_unsafe(), "{error:?}");
    assert_eq!(format!("{:?}", error.cause), expected);
    assert_eq!(error.path, path);
}

#[test]
fn from_agent_on_nothing_is_reached_through_a_link() {
    for link in [".agent", ".agent/runs", ".agent/runs/one"] {
        let place = TempDir::new().unwrap();
        let at = |path: &str| place.path().join(path);
        fs::create_dir_all(at("elsewhere/runs/one")).unwrap();
        fs::create_dir_all(at("project").join(link).parent().unwrap()).unwrap();
        symlink(at("elsewhere"), at("project").join(link)).unwrap();
        let path = at("project/.agent/runs/one");
        refused(Folder::open(&path), "Link", &at("project").join(link));
        refused(Folder::create(&path), "Link", &at("project").join(link));
        assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 1, "{link}");
    }
}

#[test]
fn links_on_the_way_to_a_project_are_the_users_own() {
    let place = TempDir::new().unwrap();
    let at = |path: &str| place.path().join(path);
    fs::create_dir(at("project")).unwrap();
    symlink("project", at("link")).unwrap();
    let made = Folder::create(&at("link/.agent/runs")).unwrap();
    assert_eq!(made.path(), at("link/.agent/runs"));
    let real = place.path().canonicalize().unwrap().join("project/.agent/runs");
    assert_eq!(made.real_path().unwrap(), real);
    assert!(Folder::open(&at("project/.agent/runs")).is_ok());
    assert!(Folder::open(&at("project/.agent/none")).unwrap_err().is_missing());
}

#[test]
fn the_real_path_is_of_the_folder_that_is_open() {
    let place = TempDir::new().unwrap();
    let path = place.path().join(".agent/runs");
    let folder = Folder::create(&path).unwrap();
    fs::rename(&path, place.path().join("moved")).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(folder.real_path().unwrap_err().cause, Cause::Moved));
}

#[test]
fn what_is_no_folder_is_not_taken_for_one() {
    let place = TempDir::new().unwrap();
    let folder = Folder::at(place.path()).unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    symlink("file", place.path().join("link")).unwrap();
    let file = place.path().join("file");
    refused(Folder::at(&file), "NotAFolder", &file);
    for (name, cause, blamed) in [
        ("file", "NotAFolder", "file"),
        ("file/inner", "NotAFolder", "file"),
        ("link", "Link", "link"),
        ("link/inner", "Link", "link"),
        ("../x", "Outside", "../x"),
        ("/etc", "Outside", "/etc"),
        ("", "Outside", ""),
    ] {
        refused(folder.folder(name), cause, &place.path().join(blamed));
        let created = folder.create_folder(name, Access::Private);
        refused(created, cause, &place.path().join(blamed));
    }
}

#[test]
fn folders_are_made_with_those_on_the_way() {
    let place = TempDir::new().unwrap();
    let folder = Folder::at(place.path()).unwrap();
    let made = folder.create_folder("a/b/c", Access::Private).unwrap();
    assert_eq!(made.path(), place.path().join("a/b/c"));
    for path in ["a", "a/b", "a/b/c"] {
        assert_eq!(mode(&place.path().join(path)), 0o700, "{path}");
    }
    made.create_file("file").unwrap();
    assert_eq!(mode(&place.path().join("a/b/c/file")), 0o600);
    folder.create_folder("a/b/c", Access::Mask).unwrap();
    assert!(folder.new_folder("a", Access::Mask).unwrap_err().is_taken());
}

#[test]
fn what_has_a_name_is_told_from_what_it_leads_to() {
    let place = TempDir::new().unwrap();
    let folder = Folder::at(place.path()).unwrap();
    folder.new_folder("folder", Access::Mask).unwrap();
    folder.create_file("folder/file").unwrap();
    symlink("folder/file", place.path().join("link")).unwrap();
    assert_eq!(folder.find("folder").unwrap(), Some(Found::Folder));
    assert_eq!(folder.find("folder/file").unwrap(), Some(Found::File { names: 1 }));
    assert_eq!(folder.find("link").unwrap(), Some(Found::Other));
    assert_eq!(folder.find("none").unwrap(), None);
    assert_eq!(folder.find("none/none").unwrap(), None);
    folder.link("folder/file", &folder, "second").unwrap();
    assert_eq!(folder.find("second").unwrap(), Some(Found::File { names: 2 }));
    folder.rename("second", "third").unwrap();
    let mut names = folder.names().unwrap();
    names.sort();
    assert_eq!(names, ["folder", "link", "third"]);
}
