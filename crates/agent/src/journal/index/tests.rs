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
