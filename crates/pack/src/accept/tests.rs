use std::fs;
use std::time::Duration;

use skill::metadata::ReadOptions;
use skill::trust::TrustStore;

use super::*;
use crate::check::check;
use crate::material::Limits;
use crate::source::{Fetching, Source};

/// A pack with one skill in a version, which has a script.
fn packed(version: &str) -> Verified<Pack> {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("demo/scripts")).unwrap();
    let text = format!("---\nname: demo\ndescription: Demo.\nversion: {version}\n---\n# Demo\n");
    fs::write(folder.path().join("demo/SKILL.md"), text).unwrap();
    fs::write(folder.path().join("demo/scripts/a.sh"), "echo a\n").unwrap();
    let fetching = Fetching {
        limits: Limits::default(),
        read: ReadOptions::default(),
        time: Duration::from_secs(60),
        commit: None,
        environment: Vec::new(),
    };
    let fetched = Source::Folder(folder.path().to_owned()).fetch(&fetching).unwrap();
    let rules =
        Rules { trust: &TrustStore::default(), read: &ReadOptions::default(), allowed: &[] };
    check(fetched.material, None, &rules, None, &|_| ()).unwrap()
}

/// A lockfile that has the skill of a pack.
fn locked(pack: &Pack) -> Lockfile {
    let skill = &pack.skills[0];
    let mut lockfile = Lockfile::default();
    lockfile.insert(LockedSkill {
        name: skill.name().to_owned(),
        version: skill.version().map(str::to_owned),
        source: "demo".to_owned(),
        resolved: None,
        sha256: skill.sha256.clone(),
        files: skill.files.clone(),
        manifest: None,
        signature: None,
        signer: None,
        installed_at: "2026-01-01T00:00:00Z".to_owned(),
    });
    lockfile
}

/// The flaw for which the skill of `new` is not accepted beside `old`.
fn refused(
    new: &Verified<Pack>,
    old: &Lockfile,
    agreed: &Verified<Pack>,
    change: impl FnOnce(&mut Terms<'_>),
) -> Option<Flaw> {
    let skills: Vec<&PackedSkill> = new.skills.iter().collect();
    let (trust, read) = (TrustStore::default(), ReadOptions::default());
    let mut terms = Terms {
        rules: Rules { trust: &trust, read: &read, allowed: &[] },
        needs_signature: false,
        lockfile: old,
        likeness: Likeness::Successor,
    };
    change(&mut terms);
    let seen: Vec<&PackedSkill> = agreed.skills.iter().collect();
    let agreement = Concerns::of(agreed, &seen).unwrap().agree();
    accept(new, skills, &terms, &agreement).err().map(|refusal| refusal.flaw)
}

#[test]
fn what_nobody_agreed_to_is_not_accepted() {
    let (one, two, none) = (packed("1.0.0"), packed("2.0.0"), Lockfile::default());
    assert_eq!(refused(&one, &none, &one, |_| {}), None);
    assert_eq!(refused(&two, &none, &one, |_| {}), Some(Flaw::Unsafe));
}

#[test]
fn an_older_version_is_accepted_only_where_the_user_lets_it_pass() {
    let (one, two) = (packed("1.0.0"), packed("2.0.0"));
    assert_eq!(refused(&two, &locked(&one), &two, |_| {}), None);
    assert_eq!(refused(&one, &locked(&two), &one, |_| {}), Some(Flaw::OlderVersion));
    let older = |terms: &mut Terms<'_>| terms.rules.allowed = &[Flaw::OlderVersion];
    assert_eq!(refused(&one, &locked(&two), &one, older), None);
}

#[test]
fn a_signature_that_is_needed_cannot_be_done_without() {
    let (one, none) = (packed("1.0.0"), Lockfile::default());
    let needed = |terms: &mut Terms<'_>| terms.needs_signature = true;
    assert_eq!(refused(&one, &none, &one, needed), Some(Flaw::SignatureRequired));
    let allowed = |terms: &mut Terms<'_>| {
        terms.needs_signature = true;
        terms.rules.allowed = Rules::NEGOTIABLE;
    };
    assert_eq!(refused(&one, &none, &one, allowed), Some(Flaw::SignatureRequired));
}

#[test]
fn what_must_be_as_locked_is_the_same_or_refused() {
    let (one, two) = (packed("1.0.0"), packed("2.0.0"));
    let exact = |terms: &mut Terms<'_>| terms.likeness = Likeness::Exact;
    assert_eq!(refused(&one, &locked(&one), &one, exact), None);
    assert_eq!(refused(&two, &locked(&one), &two, exact), Some(Flaw::NotAsLocked));
    assert_eq!(refused(&one, &Lockfile::default(), &one, exact), Some(Flaw::NotAsLocked));
}
