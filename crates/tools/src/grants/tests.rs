use std::fs;
use std::os::unix::fs::PermissionsExt;

use basics::failure::Explain;
use permission::{Grant, Permission, SkillHash};
use tempfile::TempDir;

use super::GrantFile;

fn grant(pattern: &str) -> Grant {
    Grant {
        project: "/project".to_owned(),
        permission: Permission::RunScript,
        pattern: pattern.to_owned(),
        skill_hash: Some(SkillHash("abc".to_owned())),
        wildcard: false,
    }
}

fn file(folder: &TempDir) -> GrantFile {
    GrantFile::new(folder.path().join("deep/grants.json"))
}

#[test]
fn what_is_added_is_listed_until_it_is_revoked() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    assert_eq!(file.list().unwrap(), []);
    file.add([grant("b"), grant("a")]).unwrap();
    file.add([grant("a")]).unwrap();
    assert_eq!(file.list().unwrap(), [grant("a"), grant("b")]);
    let chosen = grant("a").id();
    assert_eq!(file.revoke(|grant| grant.id() == chosen).unwrap(), [grant("a")]);
    assert_eq!(file.revoke(|grant| grant.id() == chosen).unwrap(), []);
    assert_eq!(file.list().unwrap(), [grant("b")]);
}

#[test]
fn the_file_is_for_its_owner_only_and_can_be_read_by_a_person() {
    let folder = TempDir::new().unwrap();
    file(&folder).add([grant("a")]).unwrap();
    let path = folder.path().join("deep/grants.json");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("\"skill_hash\": \"abc\""), "{text}");
}

fn check_untouched(content: &str, message: &str) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("grants.json");
    fs::write(&path, content).unwrap();
    let file = GrantFile::new(&path);
    for error in [
        file.list().unwrap_err(),
        file.add([grant("a")]).unwrap_err(),
        file.revoke(|_| true).unwrap_err(),
    ] {
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(error.hint().contains("move"), "{}", error.hint());
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn a_file_that_cannot_be_understood_stays_as_it_is() {
    check_untouched("", "cannot understand");
    check_untouched("{\"version\": 1, \"grants\": [", "cannot understand");
    check_untouched("{\"version\": 1, \"grants\": [{\"project\": 1}]}", "cannot understand");
    check_untouched("{\"version\": 2, \"grants\": []}", "the remembered approvals in");
}

#[test]
fn changes_at_the_same_time_all_survive() {
    let folder = TempDir::new().unwrap();
    let file = file(&folder);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let file = &file;
            scope.spawn(move || file.add([grant(&number.to_string())]).unwrap());
        }
    });
    assert_eq!(file.list().unwrap().len(), 8);
}

#[test]
fn an_id_depends_on_every_part() {
    let original = grant("a");
    let changed = [
        Grant { project: "/other".to_owned(), ..original.clone() },
        Grant { permission: Permission::Skill, ..original.clone() },
        Grant { pattern: "b".to_owned(), ..original.clone() },
        Grant { skill_hash: None, ..original.clone() },
    ];
    for grant in changed {
        assert_ne!(grant.id(), original.id());
    }
    assert!(original.id().starts_with("gr_") && original.id().len() == 15);
}
