use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use basics::failure::Explain;
use basics::sha256::Sha256;
use basics::skill::Source;
use serde_json::json;

use super::*;
use crate::index::{Index, IndexOptions};
use crate::load::Files;
use crate::roots::Root;
use crate::world::{World, bytes_read_by_this_thread};

const NOW: &str = "2026-01-01T00:00:00Z";

fn root(world: &World, path: &str) -> Root {
    Root { source: Source::Project, path: world.path(path), priority: 0 }
}

fn entries(root: &Root, store: &TrustStore) -> Vec<Entry> {
    let options = IndexOptions { trust: Trust::Only(store.clone()), ..IndexOptions::default() };
    let index = Index::build(std::slice::from_ref(root), &options);
    index.skills.into_iter().chain(index.shadowed).collect()
}

/// Trusts every skill below a root as it is.
fn trusting(root: &Root) -> TrustStore {
    let mut store = TrustStore::default();
    for entry in entries(root, &store) {
        let content = Files::open(&entry).unwrap().content().hash().unwrap().clone();
        store.trust(&root.path, &entry, content, NOW);
    }
    store
}

/// Why each skill waits, by its folder.
fn waiting(root: &Root, store: &TrustStore) -> Vec<(String, Option<Waiting>)> {
    let entries = entries(root, store).into_iter();
    entries.map(|entry| (relative(&root.path, &entry.path), entry.waiting)).collect()
}

#[test]
fn a_change_asks_again_for_one_skill_alone() {
    let world = World::with_skills(["root/a", "root/b"]);
    let root = root(&world, "root");
    let store = trusting(&root);
    let both = |a, b| vec![("a".to_owned(), a), ("b".to_owned(), b)];
    assert_eq!(waiting(&root, &store), both(None, None));
    assert_eq!(
        waiting(&root, &TrustStore::default()),
        both(Some(Waiting::New), Some(Waiting::New))
    );
    world.write("root/a/SKILL.md", "---\nname: a\ndescription: Other.\n---\n");
    assert_eq!(waiting(&root, &store), both(Some(Waiting::Changed), None));
    world.rename("root/b", "root/c");
    let moved =
        vec![("a".to_owned(), Some(Waiting::Changed)), ("c".to_owned(), Some(Waiting::New))];
    assert_eq!(waiting(&root, &store), moved);
}

#[test]
fn what_the_index_cannot_see_is_compared_when_a_skill_is_used() {
    let world = World::with_skills(["root/a", "root/b"]);
    world.write("root/a/references/x.md", "x");
    let root = root(&world, "root");
    let store = trusting(&root);
    let used = |path: &str| {
        let entry = entries(&root, &store).remove(0);
        assert!(entry.trusted, "nobody looked at its files yet");
        let read = Default::default();
        match path {
            "SKILL.md" => crate::load::load_body(&entry, &read, &Default::default()).map(|_| ()),
            path => crate::load::load_resource(&entry, path, None, &Default::default()).map(|_| ()),
        }
        .map_err(|error| error.code())
    };
    assert_eq!([used("SKILL.md"), used("references/x.md")], [Ok(()), Ok(())]);
    world.write("root/a/scripts/.new", "x");
    assert_eq!([used("SKILL.md"), used("references/x.md")], [Err("SkillChanged"); 2]);
    let entry = entries(&root, &store).remove(0);
    let looked_at = entry.looked_at();
    assert_eq!((looked_at.trusted, looked_at.waiting), (false, Some(Waiting::Changed)));
    assert!(crate::load::load_body(&looked_at, &Default::default(), &Default::default()).is_ok());
    let other = entries(&root, &store).remove(1);
    assert!(other.looked_at().trusted, "the other one is what it was");
}

#[test]
fn the_index_reads_no_more_of_a_trusted_skill_than_of_any_other() {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/scripts/large.sh", "x".repeat(1 << 20));
    let root = root(&world, "root");
    let trusted = trusting(&root);
    let bytes_read = |store: &TrustStore| {
        let discovery = crate::discover::DiscoveryOptions { threads: 1, ..Default::default() };
        let trust = Trust::Only(store.clone());
        let options = IndexOptions { trust, discovery, ..IndexOptions::default() };
        let before = bytes_read_by_this_thread();
        let index = Index::build(std::slice::from_ref(&root), &options);
        (index.skills[0].trusted, bytes_read_by_this_thread() - before)
    };
    let (is_trusted, read) = bytes_read(&trusted);
    let (was_trusted, expected) = bytes_read(&TrustStore::default());
    assert_eq!((is_trusted, was_trusted, read), (true, false, expected));
}

#[test]
fn a_link_is_not_another_folder() {
    let world = World::with_skills(["a/s"]);
    world.link("b", "a");
    let store = trusting(&root(&world, "b"));
    assert_eq!(waiting(&root(&world, "a"), &store), [("s".to_owned(), None)]);
    world.remove("b");
    world.skill("b/s");
    let other = trusting(&root(&world, "a"));
    assert_eq!(waiting(&root(&world, "b"), &other), [("s".to_owned(), Some(Waiting::New))]);
}

#[test]
fn an_author_is_trusted_in_a_workspace_and_nowhere_else() {
    let world = World::with_skills([
        "p/.agent/skills/own",
        "p/.agent/skills/cloned",
        "p/sub/.agent/skills/below",
        "p/nested/.agent/skills/other",
        "elsewhere/linked",
    ]);
    ["p/.git", "p/.agent/skills/cloned/.git", "p/nested/.git"]
        .iter()
        .for_each(|folder| world.folder(folder));
    world.link("p/.agent/skills/linked", "../../../elsewhere/linked");
    let mut store = TrustStore::default();
    store.trust_author(&world.path("p"), NOW);
    let waits = |path: &str| waiting(&root(&world, path), &store);
    let (yes, no) = (None, Some(Waiting::New));
    let expected = [("cloned", no), ("linked", no), ("own", yes)];
    assert_eq!(waits("p/.agent/skills"), expected.map(|(name, why)| (name.to_owned(), why)));
    assert_eq!(waits("p/sub/.agent/skills"), [("below".to_owned(), yes)]);
    assert_eq!(waits("p/nested/.agent/skills"), [("other".to_owned(), no)]);
    assert_eq!(store.untrust(&world.path("p")), [world.path("p")]);
    assert_eq!(waiting(&root(&world, "p/sub/.agent/skills"), &store), [("below".to_owned(), no)]);
}

#[test]
fn an_author_without_a_repository_is_trusted_in_one_folder() {
    let world = World::with_skills(["w/.agent/skills/own", "w/unpacked/.agent/skills/other"]);
    let mut store = TrustStore::default();
    store.trust_author(&world.path("w"), NOW);
    let waits = |path: &str| waiting(&root(&world, path), &store);
    assert_eq!(waits("w/.agent/skills"), [("own".to_owned(), None)]);
    assert_eq!(waits("w/unpacked/.agent/skills"), [("other".to_owned(), Some(Waiting::New))]);
}

#[test]
fn trust_is_taken_back_from_everything_below_a_folder_or_from_one_skill() {
    let world = World::with_skills(["p/one/a", "p/one/b", "p/two/a", "pq/three/a"]);
    let mut store = TrustStore::default();
    for folder in ["p/one", "p/two", "pq/three"] {
        store.projects.extend(trusting(&root(&world, folder)).projects);
    }
    let before = store.clone();
    let path = |folder: &str| world.path(folder);
    assert_eq!(store.untrust_skill(&path("p"), "a"), [path("p/one/a"), path("p/two/a")]);
    assert_eq!(store.projects.len(), 2, "of `p/two` nothing is left");
    assert_eq!(store.untrust_skill(&path("p"), "a"), Vec::<PathBuf>::new());
    let mut store = before;
    assert_eq!(store.untrust(&path("p")), [path("p/one"), path("p/two")]);
    assert_eq!(store.projects.len(), 1);
    assert_eq!(store.untrust(&path("p")), Vec::<PathBuf>::new());
}

fn with_key(store: &mut TrustStore) {
    let key = TrustedKey {
        name: "team".to_owned(),
        public_key: "RWQ".to_owned(),
        names: vec!["*".to_owned()],
        trusted_at: "now".to_owned(),
        revoked_at: None,
    };
    store.keys.insert("00AA".to_owned(), key);
}

#[test]
fn a_store_keeps_keys_beside_projects_and_what_it_does_not_know() {
    let world = World::with_skills(["root/a"]);
    let file = world.path("config/trust.json");
    assert_eq!(TrustStore::read(&file).unwrap(), TrustStore::default());
    TrustStore::change(&file, |store| {
        *store = trusting(&root(&world, "root"));
        with_key(store);
        store.trust_author(&world.path("root"), NOW);
        store.other.insert("servers".to_owned(), json!({"/p": "sha256:00"}));
    })
    .unwrap();
    TrustStore::change(&file, |store| store.untrust(&world.path("root"))).unwrap();
    let read = TrustStore::read(&file).unwrap();
    assert_eq!((read.keys.len(), read.projects.len(), read.authors.len()), (1, 0, 0));
    assert_eq!(read.other["servers"]["/p"], "sha256:00");
}

#[test]
fn a_store_of_an_earlier_version_is_read_and_counts_for_nothing() {
    let world = World::with_skills(["root/a"]);
    let root = root(&world, "root");
    let path = serde_json::to_string(&world.path("root")).unwrap();
    let plain =
        format!(r#"{{"projects":{{{path}:{{"index_hash":"sha256:0","trusted_at":"t"}}}}}}"#);
    let checksum = format!("sha256:{}", Sha256::of(plain.as_bytes()));
    let pretty = format!(
        "{{\n  \"projects\": {{\n    {path}: {{\n      \"index_hash\": \"sha256:0\",\n      \"trusted_at\": \"t\"\n    }}\n  }},\n  \"checksum\": \"{checksum}\"\n}}\n"
    );
    for text in [r#"{"projects": {}}"#.to_owned(), plain, pretty] {
        world.write("trust.json", &text);
        let mut store = TrustStore::read(&world.path("trust.json")).unwrap();
        let expected = if store.projects.is_empty() { Waiting::New } else { Waiting::Earlier };
        assert_eq!(waiting(&root, &store), [("a".to_owned(), Some(expected))], "{text}");
        // Trusting it anew replaces what was there.
        let entry = entries(&root, &store).remove(0);
        let content = Files::open(&entry).unwrap().content().hash().unwrap().clone();
        store.trust(&root.path, &entry, content, NOW);
        assert_eq!(waiting(&root, &store), [("a".to_owned(), None)], "{text}");
    }
}

#[test]
fn a_change_of_any_byte_of_a_store_is_noticed() {
    let world = World::new();
    let file = world.path("trust.json");
    TrustStore::change(&file, with_key).unwrap();
    let bytes = fs::read(&file).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        world.write("trust.json", &changed);
        assert!(TrustStore::read(&file).is_err(), "byte {at}");
    }
}

#[test]
fn a_store_is_its_owners_alone_and_never_written_through_a_link() {
    let world = World::new();
    let file = world.path("home/trust.json");
    world.write("home/elsewhere", "{\"projects\": {}}\n");
    symlink("elsewhere", &file).unwrap();
    TrustStore::change(&file, with_key).unwrap();
    assert_eq!(fs::read_to_string(world.path("home/elsewhere")).unwrap(), "{\"projects\": {}}\n");
    let found = fs::symlink_metadata(&file).unwrap();
    assert!(found.is_file());
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    world.remove("home/trust.json.lock");
    symlink("elsewhere", world.path("home/trust.json.lock")).unwrap();
    let error = TrustStore::change(&file, |_| ()).unwrap_err();
    assert!(matches!(error, TrustError::Write { .. }), "{error}");
}

#[test]
fn changes_at_the_same_time_all_survive() {
    let world = World::new();
    let file = world.path("trust.json");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (file, folder) = (&file, world.path(&number.to_string()));
            scope.spawn(move || {
                TrustStore::change(file, |store| store.trust_author(&folder, NOW)).unwrap();
            });
        }
    });
    assert_eq!(TrustStore::read(&file).unwrap().authors.len(), 8);
}

#[test]
fn a_damaged_store_is_an_error_and_not_an_empty_one() {
    let world = World::new();
    world.write("trust.json", "{\"projects\": ");
    let error = TrustStore::read(&world.path("trust.json")).unwrap_err();
    assert!(matches!(error, TrustError::Damaged { .. }), "{error}");
    world.folder("folder");
    let error = TrustStore::read(&world.path("folder")).unwrap_err();
    assert!(matches!(error, TrustError::Read { .. }), "{error}");
    let error = TrustStore::change(&world.path("trust.json/below"), |_| ()).unwrap_err();
    assert!(matches!(error, TrustError::Write { .. }), "{error}");
}

#[test]
fn a_file_of_cases_is_trusted_with_what_it_brings_along() {
    let world = World::new();
    world.write("p/a.json", "");
    world.write("p/b.json", "");
    let (a, b) = (world.path("p/a.json"), world.path("p/b.json"));
    let mut store = TrustStore::default();
    store.trust_evals(&a, "1".to_owned());
    let said = |store: &TrustStore, file: &Path, sum: &str| {
        let sum = || Ok::<_, std::convert::Infallible>(sum.to_owned());
        Trust::Only(store.clone()).evals(&world.path("p"), file, sum).unwrap()
    };
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Trusted);
    assert_eq!(said(&store, &a, "2"), EvalsTrust::Changed);
    assert_eq!(said(&store, &b, "1"), EvalsTrust::Unknown);
    let unneeded = || -> Result<String, ()> { unreachable!("no hash is needed") };
    let (own, other) = (world.path("p"), world.path("."));
    assert_eq!(Trust::Only(store.clone()).evals(&own, &b, unneeded), Ok(EvalsTrust::Unknown));
    assert_eq!(Trust::Everything.evals(&own, &b, unneeded), Ok(EvalsTrust::Trusted));
    let mut authors = store.clone();
    authors.trust_author(&own, "now");
    assert_eq!(Trust::Only(authors.clone()).evals(&own, &b, unneeded), Ok(EvalsTrust::Trusted));
    let authors = Trust::Only(authors);
    assert_eq!(authors.evals(&other, &b, unneeded), Ok(EvalsTrust::Unknown));
    world.write("c.json", "");
    world.link("p/c.json", "../c.json");
    let linked = world.path("p/c.json");
    assert_eq!(authors.evals(&own, &linked, unneeded), Ok(EvalsTrust::Unknown), "not part of it");
    let file = world.path("trust.json");
    TrustStore::change(&file, |kept| *kept = store).unwrap();
    let mut store = TrustStore::read(&file).unwrap();
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Trusted);
    assert_eq!(store.untrust(&world.path("p")), [a.as_path()]);
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Unknown);
}
