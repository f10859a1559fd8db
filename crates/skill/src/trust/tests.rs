use std::fs;

use super::*;
use crate::world::World;

fn trusting(root: &Path, hash: &str) -> TrustStore {
    let mut store = TrustStore::default();
    store.trust(root, hash.to_owned(), "2026-01-01T00:00:00Z".to_owned());
    store
}

fn covers(store: TrustStore, root: &Path, hash: &str) -> bool {
    Trust::Only(store).covers(root, || hash.to_owned())
}

#[test]
fn trust_is_bound_to_a_folder_and_its_content() {
    let world = World::new();
    world.folder("a");
    world.folder("b");
    let (a, b) = (world.path("a"), world.path("b"));
    assert!(covers(trusting(&a, "1"), &a, "1"));
    assert!(!covers(trusting(&a, "1"), &a, "2"));
    assert!(!covers(trusting(&a, "1"), &b, "1"));
    assert!(!covers(TrustStore::default(), &a, "1"));
    assert!(Trust::Everything.covers(&a, || unreachable!("no hash is needed")));
    assert!(!Trust::default().covers(&a, || unreachable!("an unknown folder needs no hash")));
}

#[test]
fn a_link_is_not_another_folder() {
    let world = World::new();
    world.folder("a");
    world.link("b", "a");
    assert!(covers(trusting(&world.path("b"), "1"), &world.path("a"), "1"));
    world.remove("b");
    world.folder("b");
    assert!(!covers(trusting(&world.path("a"), "1"), &world.path("b"), "1"));
}

#[test]
fn trust_is_taken_back_from_everything_below_a_folder() {
    let world = World::new();
    ["p/one", "p/two", "pq/three"].iter().for_each(|folder| world.folder(folder));
    let mut store = TrustStore::default();
    for folder in ["p/one", "p/two", "pq/three"] {
        store.trust(&world.path(folder), "1".to_owned(), "now".to_owned());
    }
    let gone = store.untrust(&world.path("p"));
    let path = |folder: &str| world.path(folder).to_string_lossy().into_owned();
    assert_eq!(gone, [path("p/one"), path("p/two")]);
    assert_eq!(store.projects.keys().collect::<Vec<_>>(), [&path("pq/three")]);
    assert_eq!(store.untrust(&world.path("p")), Vec::<String>::new());
}

fn with_key() -> TrustStore {
    let key = TrustedKey {
        name: "team".to_owned(),
        public_key: "RWQ".to_owned(),
        names: vec!["*".to_owned()],
        trusted_at: "now".to_owned(),
        revoked_at: None,
    };
    TrustStore { keys: BTreeMap::from([("00AA".to_owned(), key)]), ..TrustStore::default() }
}

#[test]
fn a_store_keeps_keys_beside_projects() {
    let world = World::new();
    let file = world.path("config/trust.json");
    assert_eq!(TrustStore::read(&file).unwrap(), TrustStore::default());
    let mut store = with_key();
    world.folder("a");
    store.trust(&world.path("a"), "1".to_owned(), "now".to_owned());
    store.write(&file).unwrap();
    let read = TrustStore::read(&file).unwrap();
    assert_eq!((&read.keys, &read.projects), (&store.keys, &store.projects));
    // Older ones have no checksum, and no keys.
    world.write("config/trust.json", r#"{"projects": {}}"#);
    assert_eq!(TrustStore::read(&file).unwrap(), TrustStore::default());
}

#[test]
fn a_change_of_any_byte_of_a_store_is_noticed() {
    let world = World::new();
    let file = world.path("trust.json");
    with_key().write(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        world.write("trust.json", &changed);
        assert!(TrustStore::read(&file).is_err(), "byte {at}");
    }
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
    let error = TrustStore::default().write(&world.path("trust.json/below")).unwrap_err();
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
        Trust::Only(store.clone()).evals(file, sum).unwrap()
    };
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Trusted);
    assert_eq!(said(&store, &a, "2"), EvalsTrust::Changed);
    assert_eq!(said(&store, &b, "1"), EvalsTrust::Unknown);
    let unneeded = || -> Result<String, ()> { unreachable!("no hash is needed") };
    assert_eq!(Trust::Only(store.clone()).evals(&b, unneeded), Ok(EvalsTrust::Unknown));
    assert_eq!(Trust::Everything.evals(&b, unneeded), Ok(EvalsTrust::Trusted));
    let file = world.path("trust.json");
    store.write(&file).unwrap();
    let mut store = TrustStore::read(&file).unwrap();
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Trusted);
    assert_eq!(store.untrust(&world.path("p")), [a.to_string_lossy()]);
    assert_eq!(said(&store, &a, "1"), EvalsTrust::Unknown);
}
