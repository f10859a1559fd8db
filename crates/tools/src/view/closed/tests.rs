use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

/// Makes a folder with these files.
fn folder(files: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "content").unwrap();
    }
    folder
}

/// What is closed in it, without its own path.
fn closed(folder: &TempDir, settled: &[&str], most: usize) -> (Vec<String>, u64) {
    let settled: Vec<_> = settled.iter().map(|path| folder.path().join(path)).collect();
    let settled: Vec<_> = settled.iter().map(PathBuf::as_path).collect();
    let closed = find_among(folder.path(), &PathPatterns::secrets(), &settled, most);
    let inner =
        |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_str().unwrap().to_owned();
    let mut paths: Vec<_> = closed.paths.iter().map(inner).collect();
    paths.sort();
    (paths, closed.unsearched)
}

#[test]
fn what_the_tools_hide_is_closed_wherever_it_lies() {
    let folder = folder(&[
        ".env",
        "data.csv",
        "deploy/server.key",
        "deploy/notes.md",
        ".ssh/known_hosts",
        ".git/config",
        ".git/HEAD",
        "src/config",
    ]);
    assert_eq!(
        closed(&folder, &[], 1000),
        ([".env", ".git/config", ".ssh", "deploy/server.key"].map(str::to_owned).into(), 0)
    );
}

#[test]
fn a_second_name_of_a_hidden_file_is_closed() {
    let folder = folder(&[".env", ".ssh/id", "a/notes.txt", "z/other.txt"]);
    fs::hard_link(folder.path().join(".env"), folder.path().join("a/harmless.txt")).unwrap();
    fs::hard_link(folder.path().join(".ssh/id"), folder.path().join("z/second.txt")).unwrap();
    fs::hard_link(folder.path().join("a/notes.txt"), folder.path().join("z/notes.txt")).unwrap();
    assert_eq!(
        closed(&folder, &[], 1000),
        ([".env", ".ssh", "a/harmless.txt", "z/second.txt"].map(str::to_owned).into(), 0)
    );
}

#[test]
fn what_is_granted_or_closed_by_itself_is_passed_over() {
    let folder = folder(&["skill/.env", "runs/.env", "other/.env"]);
    assert_eq!(closed(&folder, &["skill", "runs"], 1000), (vec!["other/.env".to_owned()], 0));
}

#[test]
fn what_was_not_looked_at_stays_closed_and_is_counted() {
    let folder = folder(&["a/b/one.txt", "a/b/two.txt", "a/b/c/.env", "d/.env"]);
    // `a` and `d`, then what is in them.
    assert_eq!(closed(&folder, &[], 4), (["a/b", "d/.env"].map(str::to_owned).into(), 1));
    assert_eq!(
        closed(&folder, &[], 5),
        (["a/b", "d/.env"].map(str::to_owned).into(), 1),
        "half of it"
    );
    assert_eq!(closed(&folder, &[], 7), (["a/b/c", "d/.env"].map(str::to_owned).into(), 1));
    assert_eq!(closed(&folder, &[], 100), (["a/b/c/.env", "d/.env"].map(str::to_owned).into(), 0));
}

#[test]
fn a_link_is_not_followed() {
    let folder = folder(&["outside/.env"]);
    fs::create_dir(folder.path().join("inside")).unwrap();
    symlink("../outside", folder.path().join("inside/link")).unwrap();
    assert_eq!(closed(&folder, &[], 1000), (vec!["outside/.env".to_owned()], 0));
}

/// Who may read everything has no such folders.
#[test]
fn a_folder_that_cannot_be_listed_is_closed_whole() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&["p000/.env", "p311/.env", "p444/sub/.env", "p755/x"]);
    let set = |name: &str, mode| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let modes = [("p000", 0o000), ("p311", 0o311), ("p444", 0o444)];
    modes.iter().for_each(|(name, mode)| set(name, *mode));
    let found = closed(&folder, &[], 1000);
    let may_read_all = fs::read_dir(folder.path().join("p000")).is_ok();
    modes.iter().for_each(|(name, _)| set(name, 0o755));
    if !may_read_all {
        assert_eq!(found, (["p000", "p311", "p444"].map(str::to_owned).into(), 3));
    }
}
