use super::*;
use crate::world::World;

fn skill(name: &str) -> LockedSkill {
    let file = FileRecord {
        path: "SKILL.md".to_owned(),
        sha256: "0".repeat(64),
        size: 3,
        mode: Mode::Plain,
    };
    LockedSkill {
        name: name.to_owned(),
        version: Some("1.0.0".to_owned()),
        source: "packs/a.zip".to_owned(),
        resolved: None,
        sha256: tree_hash([&file]),
        files: vec![file],
        manifest: None,
        signature: None,
        signer: Some(Signer { key: "00".to_owned(), name: "team".to_owned() }),
        installed_at: "2026-01-01T00:00:00Z".to_owned(),
    }
}

#[test]
fn skills_are_kept_by_name_whatever_the_order() {
    let (mut one, mut two) = (Lockfile::default(), Lockfile::default());
    ["b", "a", "c", "a"].iter().for_each(|name| one.insert(skill(name)));
    ["a", "c", "b"].iter().for_each(|name| two.insert(skill(name)));
    assert_eq!(one.to_bytes(), two.to_bytes());
    assert_eq!(Lockfile::parse(&one.to_bytes()).unwrap(), two);
    assert_eq!(one.remove("b").unwrap().name, "b");
    assert_eq!(one.skills().len(), 2);
}

#[test]
fn a_change_of_any_byte_is_noticed() {
    let mut lockfile = Lockfile::default();
    lockfile.insert(skill("a"));
    let bytes = lockfile.to_bytes();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(Lockfile::parse(&changed).is_err(), "byte {at}");
        changed.remove(at);
        assert!(Lockfile::parse(&changed).is_err(), "without byte {at}");
    }
    assert!(Lockfile::parse(&bytes[..bytes.len() - 1]).is_err());
}

#[test]
fn a_missing_lockfile_is_empty_and_a_damaged_one_an_error() {
    let world = World::new();
    let path = Lockfile::path_for(&world.path(".agent/skills"));
    assert_eq!(path, world.path(".agent/skills.lock"));
    assert_eq!(Lockfile::read(&path).unwrap(), Lockfile::default());
    world.write(".agent/skills.lock", "");
    assert!(matches!(Lockfile::read(&path), Err(LockError::Damaged { .. })));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(matches!(Lockfile::read(&path), Err(LockError::Damaged { .. })), "it never ends");
}

#[test]
fn any_change_of_a_file_changes_the_tree() {
    let file = skill("a").files.remove(0);
    let changes: [&dyn Fn(&mut FileRecord); 4] = [
        &|file| file.path.push('b'),
        &|file| file.sha256 = "1".repeat(64),
        &|file| file.size = 2,
        &|file| file.mode = Mode::Executable,
    ];
    let first = tree_hash([&file]);
    for change in changes {
        let mut other = file.clone();
        change(&mut other);
        assert_ne!(tree_hash([&other]), first);
    }
    assert_ne!(tree_hash([&file, &file]), first);
}
