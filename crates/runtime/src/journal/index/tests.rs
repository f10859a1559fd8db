use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use tempfile::TempDir;

use super::super::tests::owner;
use super::*;
use crate::journal::Durability;

fn journal(runs: &Path) -> Journal {
    let run_id = "20261115_083000_k3f9".parse().unwrap();
    Journal::create(runs, run_id, Durability::Sync, Some(&owner())).unwrap()
}

const JSON: &str = r#"[{"name":"alpha"}]"#;

#[test]
fn an_index_is_made_and_kept_once_for_all_runs() {
    let runs = TempDir::new().unwrap();
    let index = IndexSnapshot::new(JSON.into());
    let (mut first, mut second) = (journal(runs.path()), journal(runs.path()));
    first.write_index(&index).unwrap();
    second.write_index(&index).unwrap();
    for journal in [&first, &second] {
        let path = journal.folder().join(INDEX);
        assert_eq!(fs::read_to_string(&path).unwrap(), JSON);
        assert_eq!(fs::metadata(&path).unwrap().nlink(), 3);
    }
}

#[test]
fn an_index_that_is_not_what_its_name_says_is_not_taken() {
    let index = IndexSnapshot::new(JSON.into());
    let name = shared_name(index.hash());
    for put in [
        |path: &Path| fs::write(path, JSON.replace('a', "b")).unwrap(),
        |path: &Path| fs::write(path, "longer than it should be").unwrap(),
        |path: &Path| std::os::unix::fs::symlink("/etc/passwd", path).unwrap(),
        |path: &Path| fs::create_dir(path).unwrap(),
    ] {
        let runs = TempDir::new().unwrap();
        fs::create_dir(runs.path().join(INDEXES)).unwrap();
        put(&runs.path().join(INDEXES).join(&name));
        let mut journal = journal(runs.path());
        journal.write_index(&index).unwrap();
        assert_eq!(fs::read_to_string(journal.folder().join(INDEX)).unwrap(), JSON);
    }
}
