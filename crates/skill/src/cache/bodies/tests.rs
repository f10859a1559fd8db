use std::fs;

use basics::skill::Source;

use super::*;
use crate::index::{Index, IndexOptions};
use crate::world::{World, bytes_read_by_this_thread};

const BIG: usize = 1_000_000;

/// Two skills of which one speaks of `word` in a large body alone.
fn world(word: &str) -> World {
    let world = World::with_skills(["root/a"]);
    body(&world, word);
    world
}

fn body(world: &World, word: &str) {
    let rest = ".".repeat(BIG);
    let content = format!("---\nname: b\ndescription: Other.\n---\n{word}s and more\n{rest}\n");
    world.write("root/b/SKILL.md", content);
}

fn index(world: &World, search_bodies: bool) -> Index {
    let cache = Some(Cache::in_an_hour(world));
    let root = Root { source: Source::User, path: world.path("root"), priority: 0 };
    Index::build(&[root], &IndexOptions { cache, search_bodies, ..IndexOptions::default() })
}

/// Names and reasons of the hits in a new process.
fn hits(world: &World, query: &str) -> Vec<String> {
    let hits = index(world, true).search(query, 10);
    hits.iter().map(|hit| format!("{} ({})", hit.name, hit.why)).collect()
}

/// Whether preparing reads a large body.
fn prepare(world: &World) -> bool {
    let index = index(world, true);
    let before = bytes_read_by_this_thread();
    index.prepare_search();
    bytes_read_by_this_thread() - before > BIG as u64
}

fn files(world: &World, kind: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(world.path("cache")).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.extension().is_some_and(|extension| extension == kind)).collect()
}

#[test]
fn a_body_is_searched_once_it_was_prepared_and_only_where_that_is_wanted() {
    let world = world("zebra");
    assert!(hits(&world, "zebra").is_empty());
    assert!(prepare(&world));
    assert_eq!(hits(&world, "zebra"), ["b (body)"]);
    assert_eq!(hits(&world, "zebra other"), ["b (description: other)"]);
    let offered = index(&world, true).offer(|entry| entry.name != "b").search("zebra", 10);
    assert!(offered.is_empty(), "a skill that may not be loaded is not found by its body");
    assert!(index(&world, false).search("zebra", 10).is_empty());
}

#[test]
fn nobody_reads_a_body_who_did_not_ask_for_it() {
    let world = world("zebra");
    let before = bytes_read_by_this_thread();
    index(&world, false).prepare_search();
    index(&world, true).search("zebra", 10);
    assert!(bytes_read_by_this_thread() - before < 100_000);
    assert!(files(&world, "words").is_empty() && files(&world, "bodies").is_empty());
}

#[test]
fn only_a_body_that_changed_is_read_again() {
    let world = world("zebra");
    assert!(prepare(&world));
    assert!(!prepare(&world));
    world.tick();
    body(&world, "giraffe");
    assert!(prepare(&world));
    assert_eq!((hits(&world, "zebra").len(), hits(&world, "giraffe").len()), (0, 1));
    world.remove("root/b");
    prepare(&world);
    assert!(hits(&world, "giraffe").is_empty());
}

#[test]
fn the_words_are_put_together_again_where_the_skills_are_others() {
    let world = world("zebra");
    prepare(&world);
    world.skill("root/0");
    assert_eq!(hits(&world, "zebra"), ["b (body)"], "the places of the skills have moved");
    assert_eq!(hits(&world, "zebra"), ["b (body)"]);
}

#[test]
fn a_bad_file_of_words_counts_as_absent() {
    for kind in ["words", "bodies"] {
        for make in [|world: &World, path: &str| world.write(path, "bad"), World::pipe] {
            let world = world("zebra");
            prepare(&world);
            let file = files(&world, kind).remove(0);
            let name = format!("cache/{}", file.file_name().unwrap().to_string_lossy());
            world.remove(&name);
            make(&world, &name);
            assert!(hits(&world, "zebra").len() <= 1, "no error, at worst not found");
            assert!(prepare(&world) == (kind == "words"));
            assert_eq!(hits(&world, "zebra"), ["b (body)"], "{kind}");
        }
    }
}

#[test]
fn a_body_that_cannot_be_read_has_no_words() {
    let world = world("zebra");
    let index = index(&world, true);
    world.remove("root/b");
    world.write("root/a/SKILL.md", "no frontmatter: zebra");
    index.prepare_search();
    assert!(index.search("zebra", 10).is_empty());
    assert_eq!(index.search("other", 10).len(), 1);
}
