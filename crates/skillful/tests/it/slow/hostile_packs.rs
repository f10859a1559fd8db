//! Packs that were built to do harm: each is refused for its own reason, and nothing changes.

mod trees;
mod zips;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use serde_json::Value;

use crate::world::World;
use crate::zip::{item, zip};

/// Everything below a folder: types, modes, times and bytes.
fn snapshot(folder: &Path) -> BTreeMap<String, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(path) = waiting.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let content = match metadata.file_type() {
            kind if kind.is_dir() => {
                waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                Vec::new()
            }
            kind if kind.is_file() => fs::read(&path).unwrap(),
            _ => fs::read_link(&path)
                .map(|to| to.to_string_lossy().into_owned().into_bytes())
                .unwrap_or_default(),
        };
        // A folder's time changes when something is put into it and taken out again.
        let time = if metadata.is_dir() { 0 } else { metadata.mtime_nsec() };
        found.insert(
            path.to_string_lossy().into_owned(),
            (metadata.permissions().mode(), time, content),
        );
    }
    found
}

/// A home with an installed skill, which must stay as it is.
fn world() -> World {
    let world = World::new();
    world.skill("good/steady", "Stays as it is.");
    world.run("cd .. && skillful pack good -o steady.zip && skillful install steady.zip");
    world.write("outside/file", "untouched");
    fs::create_dir_all(world.path("tmp")).unwrap();
    let tmp = world.path("tmp");
    world.with("TMPDIR", tmp)
}

/// Installs `source`; it must be refused for `code`, and leave no trace. Answers with what went wrong.
fn refused(world: &World, name: &str, code: &str, source: &str) -> Option<String> {
    let watched = ["home/.agent", "outside", "tmp", "project"];
    let before: Vec<_> = watched.iter().map(|folder| snapshot(&world.path(folder))).collect();
    // Seconds of the processor, so that a busy machine is no reason to fail, and KiB of memory: one that takes more
    // is killed or gives up.
    let limits = "ulimit -t 10; ulimit -d 100000";
    let install = format!("skillful install '{source}' --json --force --allow-unsafe");
    let output = world.output(&format!("{limits}; {install}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{name}: {output:?}"));
    let damage = [
        "NotAZip",
        "Truncated",
        "BadData",
        "WrongCrc",
        "NoSkill",
        "NoSkillFile",
        "InvalidFrontmatter",
    ];
    let whole = [
        "NotAZip",
        "Truncated",
        "LeadingData",
        "TrailingData",
        "HiddenData",
        "SeveralEndRecords",
        "SplitArchive",
        "OddComment",
        "TooManyEntries",
        "TooLarge",
        "NoSkill",
    ];
    let exit = if damage.contains(&code) { 1 } else { 4 };
    let error = &document["error"];
    let is_right = error["code"] == code
        && output.status.code() == Some(exit)
        && error["hint"].is_string()
        && (error["details"]["entry"].is_string() || whole.contains(&code));
    let after: Vec<_> = watched.iter().map(|folder| snapshot(&world.path(folder))).collect();
    for (before, after) in before.iter().zip(&after) {
        let differs = |path: &&String| before.get(*path) != after.get(*path);
        let changed: Vec<&String> = before.keys().chain(after.keys()).filter(differs).collect();
        assert!(changed.is_empty(), "{name} changed {changed:?}");
    }
    (!is_right).then(|| format!("{name} is {code}, but {:?}: {text}", output.status))
}

#[test]
fn every_hostile_zip_is_refused_and_changes_nothing() {
    let world = world();
    let cases = zips::cases();
    assert!(cases.len() >= 80, "{}", cases.len());
    let refuse = |(name, code, bytes): (&str, &str, Vec<u8>)| {
        world.write("pack.zip", bytes);
        refused(&world, name, code, "../pack.zip")
    };
    assert_eq!(cases.into_iter().filter_map(refuse).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn a_good_zip_of_the_same_make_is_installed() {
    let world = world();
    world.write(
        "pack.zip",
        zip(&[
            zips::skill(),
            item("demo/x", "content ".repeat(50)).deflated(),
            item("demo/folder/", "").with(|item| item.mode = 0o040_755),
        ]),
    );
    let installed = world.json("skillful install ../pack.zip --json");
    assert_eq!(installed["installed"][0]["name"], "demo", "{installed}");
}

#[test]
fn every_hostile_folder_is_refused_and_changes_nothing() {
    let world = world();
    for (name, code, make) in trees::folders() {
        let folder = world.path("source");
        let _ = fs::remove_dir_all(&folder);
        world.write("source/demo/SKILL.md", zips::SKILL);
        make(&folder);
        assert_eq!(refused(&world, name, code, "../source"), None);
    }
}

#[test]
fn every_hostile_repository_is_refused_and_changes_nothing() {
    let world = world();
    for (name, code, files) in trees::repositories() {
        let folder = world.path("source");
        let _ = fs::remove_dir_all(&folder);
        trees::repository(&folder, &files);
        assert_eq!(refused(&world, name, code, "git+../source"), None);
    }
}

#[test]
fn other_protocols_are_refused() {
    let world = world();
    for source in [
        "http://127.0.0.1:1/a.zip",
        "git://127.0.0.1/a.git",
        "ssh://host/a",
        "git@host:a.git",
        "git+http://host/a",
        "ftp://host/a.zip",
    ] {
        let document = world.json(&format!("skillful install {source} --json"));
        assert_eq!(document["error"]["code"], "NotHttps", "{source}");
    }
}
