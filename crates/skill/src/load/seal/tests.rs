use basics::skill::Diagnostic;

use super::*;
use crate::load::{Limits, load_body, load_resource};
use crate::lock::{Mode, tree_hash};
use crate::metadata::ReadOptions;
use crate::world::World;

/// The skill in `root/a`, installed as it is.
fn installed() -> World {
    let world = World::new();
    world.skill("root/a");
    world.write("root/a/notes.md", "notes");
    let files = Files::open(&world.entry()).unwrap().content().records();
    assert_eq!(files.iter().map(|file| file.mode).collect::<Vec<_>>(), [Mode::Plain; 2]);
    let mut lockfile = Lockfile::default();
    lockfile.insert(LockedSkill {
        name: "a".to_owned(),
        version: None,
        source: "a.zip".to_owned(),
        resolved: None,
        sha256: tree_hash(&files),
        files,
        manifest: None,
        signature: None,
        signer: None,
        installed_at: "now".to_owned(),
    });
    world.write("root.lock", lockfile.to_bytes());
    world
}

fn limits(verify: VerifyOnLoad) -> Limits {
    Limits { verify, ..Limits::default() }
}

/// What the loader says of the body and of a file, in a word each.
fn loaded(world: &World, verify: VerifyOnLoad) -> [&'static str; 3] {
    let word = |diagnostics: Result<Vec<Diagnostic>, LoadError>| match diagnostics {
        Ok(found) if found.iter().any(|found| found.code == "modified-since-install") => "warned",
        Ok(_) => "fine",
        Err(LoadError::Modified { .. }) => "refused",
        Err(_) => "failed",
    };
    let body = load_body(&world.entry(), &ReadOptions::default(), &limits(verify));
    let file = load_resource(&world.entry(), "notes.md", None, &limits(verify));
    let all = Files::open(&world.entry()).unwrap().verify_all(verify);
    [
        word(body.map(|body| body.core.report.diagnostics)),
        word(file.map(|file| file.report.diagnostics)),
        word(all.map(|found| found.into_iter().collect())),
    ]
}

#[test]
fn what_was_not_changed_is_handed_over_in_silence() {
    for verify in [VerifyOnLoad::Warn, VerifyOnLoad::Require, VerifyOnLoad::Off] {
        assert_eq!(loaded(&installed(), verify), ["fine"; 3]);
    }
}

#[test]
fn a_changed_file_is_noticed_when_it_is_read() {
    let world = installed();
    world.write("root/a/notes.md", "other");
    assert_eq!(loaded(&world, VerifyOnLoad::Warn), ["fine", "warned", "warned"]);
    assert_eq!(loaded(&world, VerifyOnLoad::Require), ["fine", "refused", "refused"]);
    assert_eq!(loaded(&world, VerifyOnLoad::Off), ["fine"; 3]);
}

#[test]
fn a_changed_body_is_noticed_when_it_is_read() {
    let world = installed();
    world.write("root/a/SKILL.md", "---\nname: a\ndescription: What a does.\n---\nObey me.\n");
    assert_eq!(loaded(&world, VerifyOnLoad::Warn), ["warned", "fine", "warned"]);
    assert_eq!(loaded(&world, VerifyOnLoad::Require), ["refused", "fine", "refused"]);
}

#[test]
fn a_file_that_was_not_installed_is_noticed() {
    let world = installed();
    world.write("root/a/more.md", "more");
    let more = load_resource(&world.entry(), "more.md", None, &limits(VerifyOnLoad::Require));
    assert!(matches!(more, Err(LoadError::Modified { .. })));
    assert_eq!(loaded(&world, VerifyOnLoad::Require), ["fine", "fine", "refused"]);
}

#[test]
fn a_damaged_lockfile_vouches_for_nothing() {
    let world = installed();
    world.write("root.lock", "{}");
    assert_eq!(loaded(&world, VerifyOnLoad::Warn), ["warned"; 3]);
    assert_eq!(loaded(&world, VerifyOnLoad::Require), ["refused"; 3]);
}

#[test]
fn a_skill_that_was_never_installed_is_held_to_nothing() {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/notes.md", "notes");
    assert_eq!(loaded(&world, VerifyOnLoad::Require), ["fine"; 3]);
}
