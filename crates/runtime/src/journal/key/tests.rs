#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::super::owner::{Origin, Owner};
use super::*;

fn signs_alike(one: &RecordKey, other: &RecordKey) -> bool {
    let owner = |key: &RecordKey| Owner::new(key.clone(), Path::new("/"));
    let signature = owner(one).sign(Origin::Here, "run", 1, "a");
    owner(other).signed(&signature, "run", 1, "a")
}

#[test]
fn a_key_is_made_once_for_the_user_alone() {
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join(".agent");
    assert!(read_key(&agent).unwrap().is_none());
    let made = read_or_make_key(&agent).unwrap();
    assert!(signs_alike(&made, &read_or_make_key(&agent).unwrap()));
    assert!(signs_alike(&made, &read_key(&agent).unwrap().unwrap()));
    let mode = |path: &str| fs::metadata(agent.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("keys"), mode("keys/record")), (0o700, 0o600));
    assert_eq!(fs::read_dir(agent.join("keys")).unwrap().count(), 1, "nothing is left beside it");
    let other = tempfile::tempdir().unwrap();
    assert!(!signs_alike(&made, &read_or_make_key(other.path()).unwrap()));
}

#[test]
fn processes_that_begin_at_once_agree_on_one_key() {
    let home = tempfile::tempdir().unwrap();
    let agent = home.path().join(".agent");
    let keys: Vec<RecordKey> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| read_or_make_key(&agent))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
    });
    assert!(keys.iter().all(|key| signs_alike(&keys[0], key)));
}

#[test]
fn what_is_no_key_is_an_error_and_stays() {
    for content in
        ["", "abc\n", &"g".repeat(64), &"0".repeat(64), &format!("{}\n\n", "0".repeat(64))]
    {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("keys")).unwrap();
        let file = home.path().join("keys/record");
        fs::write(&file, content).unwrap();
        assert!(read_or_make_key(home.path()).is_err(), "{content:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), content);
    }
}

#[test]
fn a_link_is_no_key() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("keys")).unwrap();
    fs::write(home.path().join("elsewhere"), format!("{}\n", "0".repeat(64))).unwrap();
    std::os::unix::fs::symlink("../elsewhere", home.path().join("keys/record")).unwrap();
    assert!(read_or_make_key(home.path()).is_err());
}
