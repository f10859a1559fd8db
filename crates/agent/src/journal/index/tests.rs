use std::os::unix::fs::MetadataExt;

use tempfile::TempDir;

use super::*;

fn journal(runs: &Path) -> Journal {
    let run_id = "20261115_083000_k3f9".parse().unwrap();
    Journal::create(runs, run_id, Durability::Sync).unwrap()
}

const JSON: &str = r#"[{"name":"alpha"}]"#;

#[test]
fn an_index_is_made_and_kept_once_for_all_runs() {
    let runs = TempDir::new().unwrap();
    let hash = index_hash(JSON.as_bytes());
    let (mut first, mut second) = (journal(runs.path()), journal(runs.path()));
    first.write_index(&hash, || JSON.into()).unwrap();
    second.write_index(&hash, || panic!("it is there already")).unwrap();
    for journal in [&first, &second] {
        let path = journal.folder().join(INDEX);
        assert_eq!(fs::read_to_string(&path).unwrap(), JSON);
        assert_eq!(fs::metadata(&path).unwrap().nlink(), 3);
    }
}

#[test]
fn an_index_must_have_the_hash_it_is_called_by() {
    let runs = TempDir::new().unwrap();
    let hash = index_hash(JSON.as_bytes());
    let error = journal(runs.path()).write_index(&hash, || b"[]".into()).unwrap_err();
    assert!(matches!(error, JournalError::OtherIndex { .. }), "{error}");
}
