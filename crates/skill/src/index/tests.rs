use basics::sha256::Sha256;
use basics::skill::Source;
use serde_json::{Value as Json, json};

use super::*;
use crate::load::Files;
use crate::trust::TrustStore;
use crate::world::World;

/// Roots in the order given, the strongest first.
fn roots(world: &World, folders: &[(Source, &str)]) -> Vec<Root> {
    let root = |(priority, (source, folder)): (usize, &(Source, &str))| Root {
        source: *source,
        path: world.path(folder),
        priority,
    };
    folders.iter().enumerate().map(root).collect()
}

fn build(world: &World, folders: &[(Source, &str)]) -> Index {
    Index::build(&roots(world, folders), &IndexOptions::default())
}

fn build_root(world: &World, options: &IndexOptions) -> Index {
    Index::build(&roots(world, &[(Source::User, "root")]), options)
}

fn versioned(world: &World, folder: &str, name: &str, version: &str) {
    let content = format!("---\nname: {name}\ndescription: d\nversion: {version}\n---\n");
    world.write(&format!("{folder}/SKILL.md"), content);
}

/// JSON with its keys in order and no white space, written without serde's help.
fn canonical(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Json::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            let entry = |(key, value)| format!("{}:{}", json!(key), canonical(value));
            format!("{{{}}}", entries.into_iter().map(entry).collect::<Vec<_>>().join(","))
        }
        scalar => scalar.to_string(),
    }
}

#[test]
fn the_hash_is_that_of_the_canonical_json() {
    let world = World::with_skills(["root/a", "root/group/b", "elsewhere/c"]);
    world.link("root/c", "../elsewhere/c");
    let full = "---\nname: Other Name\ndescription: \"quotes \\\" and \u{FC}\u{200B}\"\nversion: 1.0\nauthor: me\n\
                allowed-tools: [Read, \"Bash(git:*)\"]\nrun-mode: subagent\ncompatibility: x\nlicense: MIT\n---\n";
    world.write("root/d/SKILL.md", full);
    let index = build_root(&world, &IndexOptions::default());
    assert_eq!(index.skills.len(), 4);
    let json = canonical(&serde_json::to_value(&index.skills).unwrap());
    assert_eq!(index.hash(), format!("sha256:{}", Sha256::of(json.as_bytes())));
}

#[test]
fn the_hash_of_nothing_is_that_of_an_empty_list() {
    let index = build(&World::new(), &[]);
    assert_eq!(index.hash(), format!("sha256:{}", Sha256::of(b"[]")));
}

#[test]
fn the_hash_depends_on_nothing_but_the_files() {
    let world = World::new();
    let skills: Vec<String> = (0..300).map(|at| format!("root/g{}/s{at}", at % 7)).collect();
    skills.iter().for_each(|skill| world.skill(skill));
    let threads = |threads| {
        let discovery = DiscoveryOptions { threads, ..DiscoveryOptions::default() };
        IndexOptions { discovery, ..IndexOptions::default() }
    };
    let hash = build_root(&world, &threads(1)).hash();
    for threads in [threads(2), threads(8)] {
        assert_eq!(build_root(&world, &threads).hash(), hash);
    }
    let cached = IndexOptions { cache: Some(Cache::in_an_hour(&world)), ..threads(8) };
    for state in [CacheState::Cold, CacheState::Warm] {
        let index = build_root(&world, &cached);
        assert_eq!((index.report.roots[0].cache, index.hash()), (state, hash.clone()));
    }
    world.tick();
    world.remove("root");
    skills.iter().rev().for_each(|skill| world.skill(skill));
    assert_eq!(build_root(&world, &threads(8)).hash(), hash, "created the other way round");
    assert_eq!(build_root(&world, &cached).report.roots[0].cache, CacheState::Partial);
    assert_eq!(build_root(&world, &cached).hash(), hash);
}

#[test]
fn every_field_is_in_the_hash() {
    let world = World::new();
    let mut hashes = BTreeSet::new();
    let variants = [
        "name: a\ndescription: d",
        "name: b\ndescription: d",
        "name: a\ndescription: e",
        "name: a\ndescription: d\nversion: 1",
        "name: a\ndescription: d\nauthor: x",
        "name: a\ndescription: d\nlicense: x",
        "name: a\ndescription: d\ncompatibility: x",
        "name: a\ndescription: d\nallowed-tools: Read",
        "name: a\ndescription: d\ndisable-model-invocation: true",
        "name: a\ndescription: d\nuser-invocable: false",
        "name: a\ndescription: d\nrun-mode: subagent",
        "name: a\ndescription: d\nrun-mode: other",
    ];
    for yaml in variants {
        world.write("root/a/SKILL.md", format!("---\n{yaml}\n---\n"));
        hashes.insert(build_root(&world, &IndexOptions::default()).hash());
    }
    assert_eq!(hashes.len(), variants.len());
}

#[test]
fn an_entry_is_the_json_that_the_contract_shows() {
    let world = World::new();
    let yaml = "name: pdf-form-filler\ndescription: Fill forms\nversion: 1.0.0\nauthor: team\n\
                allowed-tools: Read, Bash(python:*)";
    world.write("root/pdf-form-filler/SKILL.md", format!("---\n{yaml}\n---\n"));
    let index = build(&world, &[(Source::Explicit, "root")]);
    let expected = json!({
        "id": "explicit/pdf-form-filler@1.0.0",
        "name": "pdf-form-filler",
        "description": "Fill forms",
        "source": "explicit",
        "path": world.path("root/pdf-form-filler"),
        "controls": {
            "disable_model_invocation": false,
            "user_invocable": true,
            "allowed_commands": ["python *"],
            "allowed_tools": ["read_file", "run_command", "run_script"],
            "run_mode": "inline",
        },
        "meta": {"version": "1.0.0", "author": "team", "license": null, "compatibility": null},
        "trusted": true,
        "diagnostics": [],
    });
    assert_eq!(serde_json::to_value(&index.skills[0]).unwrap(), expected);
}

#[test]
fn links_out_of_the_root_are_in_the_entry() {
    let world = World::with_skills(["elsewhere/a"]);
    world.link("root/a", "../elsewhere/a");
    let index = build_root(&world, &IndexOptions::default());
    let expected = json!([{"path": world.path("root/a"), "target": world.path("elsewhere/a")}]);
    assert_eq!(serde_json::to_value(&index.skills[0]).unwrap()["links"], expected);
}

#[test]
fn the_report_says_what_was_found_and_left_out() {
    let world = World::with_skills(["root/a", "root/b"]);
    world.write("root/c/SKILL.md", "---\nname: c\n---\n");
    world.write("root/d/skill.md", "");
    world.pipe("root/e/SKILL.md");
    let index = build(&world, &[(Source::User, "root"), (Source::Explicit, "missing")]);
    let report = &index.report;
    assert_eq!((report.found, report.valid), (4, 2));
    assert!(report.bytes_read > 0);
    let ignored: Vec<_> =
        report.ignored.iter().map(|ignored| (ignored.code, ignored.path.clone())).collect();
    let path = |path: &str| world.path(path).to_string_lossy().into_owned();
    let expected = [
        ("missing-description", path("root/c/SKILL.md")),
        ("wrong-case", path("root/d/skill.md")),
        ("not-a-file", path("root/e/SKILL.md")),
        ("no-such-root", path("missing")),
    ];
    assert_eq!(ignored, expected);
    assert!(report.ignored.iter().all(|it| !it.message.is_empty() && !it.hint.is_empty()));
    let roots: Vec<_> =
        report.roots.iter().map(|root| (root.source, root.priority, root.valid)).collect();
    assert_eq!(roots, [(Source::User, 0, 2), (Source::Explicit, 1, 0)]);
}

/// The folders of skills and shadowed skills, and the conflicts as `winner > loser: reason`.
fn conflicts(world: &World, index: &Index) -> (Vec<String>, Vec<String>, Vec<String>) {
    let home = world.path("").to_string_lossy().into_owned() + "/";
    let shown = |path: &str| path.replace(&home, "");
    let folders = |entries: &[Entry]| -> Vec<String> {
        entries.iter().map(|entry| shown(&entry.path.to_string_lossy())).collect()
    };
    let lines = index.report.conflicts.iter().flat_map(|conflict| {
        let winner = shown(&conflict.winner);
        conflict.losers.iter().map(move |loser| {
            let version = loser.version.as_deref().unwrap_or("none");
            let at = shown(&loser.path);
            format!("{winner} > {at} ({}, {version}): {}", loser.source, loser.reason)
        })
    });
    // Which of those with other names comes first is a matter of when they were made.
    let mut shadowed = folders(&index.shadowed);
    shadowed.sort();
    (folders(&index.skills), shadowed, lines.collect())
}

#[test]
fn of_two_roots_the_stronger_one_wins() {
    let world = World::new();
    versioned(&world, "user/a", "a", "2.0");
    versioned(&world, "explicit/a", "a", "1.0");
    world.set_modified("explicit/a/SKILL.md", 1);
    let index = build(&world, &[(Source::Explicit, "explicit"), (Source::User, "user")]);
    let reason =
        "explicit/a > user/a (user, 2.0): the other one's source wins: explicit before user";
    let expected = (vec!["explicit/a".into()], vec!["user/a".into()], vec![reason.into()]);
    assert_eq!(conflicts(&world, &index), expected);
    let found = |source| index.get("a", source).map(|entry| entry.id());
    assert_eq!(found(None).as_deref(), Some("explicit/a@1.0"));
    assert_eq!(found(Some(Source::User)).as_deref(), Some("user/a@2.0"));
    assert_eq!(found(Some(Source::Project)), None);
    assert_eq!(index.get("b", None), None);
}

#[test]
fn in_one_root_the_later_one_wins_and_then_the_earlier_path() {
    let world = World::new();
    for (folder, modified) in
        [("root/z", 5), ("root/deep/down/a", 99), ("root/y", 50), ("root/deep/b", 99)]
    {
        world.named_skill(folder, "same");
        world.set_modified(&format!("{folder}/SKILL.md"), modified);
    }
    let index = build_root(&world, &IndexOptions::default());
    let (skills, shadowed, lines) = conflicts(&world, &index);
    assert_eq!(skills, ["root/deep/b"]);
    assert_eq!(shadowed, ["root/deep/down/a", "root/y", "root/z"]);
    let by_path = "the other one in the same folder comes first by path";
    let by_time = "the other one in the same folder is newer";
    let nearly = "the other one in the same folder is newer, by a minute at most";
    let expected = [("root/deep/down/a", by_path), ("root/y", nearly), ("root/z", by_time)];
    let expected = expected.map(|(path, why)| format!("root/deep/b > {path} (user, none): {why}"));
    assert_eq!(lines, expected);
}

#[test]
fn one_folder_that_is_reached_twice_is_one_skill() {
    let world = World::with_skills(["home/a", "home/b", "weaker/b"]);
    world.link("linked", "home");
    world.link("weaker/a", "../home/a");
    world.link("home/z", "b");
    let none = |losers: &[&str]| (own(&["home/a", "home/b"]), own(losers), Vec::<String>::new());
    let linked = build(&world, &[(Source::User, "home"), (Source::User, "linked")]);
    assert_eq!(conflicts(&world, &linked), none(&[]));
    let sources = build(&world, &[(Source::Explicit, "home"), (Source::User, "linked")]);
    assert_eq!(conflicts(&world, &sources), none(&["linked/a", "linked/b", "linked/z"]));
    let (skills, shadowed, lines) =
        conflicts(&world, &build(&world, &[(Source::User, "home"), (Source::User, "weaker")]));
    assert_eq!((skills, shadowed), (own(&["home/a", "home/b"]), own(&["weaker/b"])));
    assert_eq!(lines.len(), 1, "another folder is a conflict: {lines:?}");
}

fn own(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn a_source_reaches_the_strongest_of_its_shadowed_skills() {
    let world = World::new();
    versioned(&world, "project/a", "a", "1");
    versioned(&world, "user/a", "a", "old");
    versioned(&world, "user/b", "a", "new");
    world.set_modified("user/a/SKILL.md", 1);
    world.set_modified("user/b/SKILL.md", 2);
    let index = build(&world, &[(Source::Project, "project"), (Source::User, "user")]);
    let found = index.get("a", Some(Source::User)).map(Entry::id);
    assert_eq!(found.as_deref(), Some("user/a@new"));
    let offered: Vec<String> = index.offer(|_| true).skills().map(Entry::id).collect();
    assert_eq!(offered, ["user/a@new"], "the project is not trusted");
}

#[test]
fn a_skill_that_waits_for_trust_is_not_offered_and_hides_no_other() {
    let world = World::with_skills(["project/a", "project/b", "user/a", "builtin/c"]);
    let folders = [(Source::Project, "project"), (Source::User, "user")];
    let offered = |trust: Trust| {
        let options = IndexOptions { trust, ..IndexOptions::default() };
        let index = Index::build(&roots(&world, &folders), &options);
        index.offer(|_| true).skills().map(Entry::id).collect::<Vec<_>>()
    };
    assert_eq!(offered(Trust::default()), ["user/a"]);
    assert_eq!(offered(Trust::Everything), ["project/a", "project/b"]);
    let root = &roots(&world, &folders)[0];
    let mut store = TrustStore::default();
    for entry in &Index::build(std::slice::from_ref(root), &IndexOptions::default()).skills {
        let content = Files::open(entry).unwrap().content().hash().unwrap().clone();
        store.trust(&root.path, entry, content, "2026-01-01T00:00:00Z");
    }
    assert_eq!(offered(Trust::Only(store.clone())), ["project/a", "project/b"]);
    world.skill("project/new");
    let told = offered(Trust::Only(store.clone()));
    assert_eq!(told, ["project/a", "project/b"], "what was added was never looked at");
    world.write("project/a/SKILL.md", "---\nname: a\ndescription: Other.\n---\n");
    assert_eq!(offered(Trust::Only(store)), ["user/a", "project/b"], "the other one stays");
}

#[test]
fn a_skill_that_hides_from_the_model_is_listed_but_not_offered() {
    let world = World::with_skills(["root/a"]);
    let hidden = "---\nname: b\ndescription: d\ndisable-model-invocation: true\n---\n";
    world.write("root/b/SKILL.md", hidden);
    world.skill("weaker/b");
    let index = build(&world, &[(Source::Explicit, "root"), (Source::User, "weaker")]);
    assert_eq!(index.skills.len(), 2);
    let offered: Vec<String> = index.offer(|_| true).skills().map(Entry::id).collect();
    assert_eq!(offered, ["explicit/a"], "and it still hides the weaker one of its name");
}

#[test]
fn a_link_may_lead_to_a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_skills(["elsewhere/a"]);
    let odd = world.path("").join(std::ffi::OsStr::from_bytes(b"\xFF"));
    std::fs::rename(world.path("elsewhere"), &odd).unwrap();
    world.link("root/a", odd.join("a"));
    let cache = Some(Cache::in_an_hour(&world));
    let options = IndexOptions { cache, ..IndexOptions::default() };
    for state in [CacheState::Cold, CacheState::Warm] {
        let index = build_root(&world, &options);
        assert_eq!(index.report.roots[0].cache, state);
        assert!(Files::open(&index.skills[0]).is_ok(), "{state:?}");
    }
}

#[test]
fn rebuilding_takes_nothing_from_the_cache() {
    let world = World::with_skills(["root/a"]);
    let cache = Some(Cache::in_an_hour(&world));
    let options = IndexOptions { cache, ..IndexOptions::default() };
    let roots = roots(&world, &[(Source::User, "root")]);
    let state = |index: Index| index.report.roots[0].cache;
    assert_eq!(state(Index::build(&roots, &options)), CacheState::Cold);
    assert_eq!(state(Index::rebuild(&roots, &options)), CacheState::Cold);
    assert_eq!(state(Index::build(&roots, &options)), CacheState::Warm);
}
