use std::time::Duration;

use super::*;
use crate::world::World;

impl Cache {
    /// A cache whose clock is far ahead of the files', so that nothing counts as just written.
    pub(crate) fn in_an_hour(world: &World) -> Self {
        let clock = || SystemTime::now() + Duration::from_secs(3_600);
        Self { folder: world.path("cache"), clock }
    }
}

/// What a discovery says, whatever it took to say it.
fn said(discovery: &Discovery) -> (Vec<Found>, Vec<Ignored>) {
    (discovery.found.clone(), discovery.ignored.clone())
}

fn fresh(world: &World, options: &DiscoveryOptions) -> (Vec<Found>, Vec<Ignored>) {
    said(&discover::discover(&world.path("root"), options, &Known::new(), SystemTime::now()).0)
}

/// Scans through the cache, which must say what a fresh discovery says.
#[track_caller]
fn cached(world: &World, cache: &Cache) -> (CacheState, u64) {
    let options = DiscoveryOptions::default();
    let (discovery, state) = cache.discover(&world.path("root"), &options);
    assert_eq!(said(&discovery), fresh(world, &options));
    (state, discovery.bytes_read)
}

/// A world in which every kind of thing that a discovery looks at is there.
fn world() -> World {
    let world = World::with_skills([
        "root/a",
        "root/b",
        "root/group/c",
        "root/group/deep/d",
        "root/.store/stored",
        "elsewhere/e",
        "elsewhere/f",
    ]);
    world.link("root/e", "../elsewhere/e");
    world.link("root/stored", ".store/stored");
    world.link("root/f/SKILL.md", "../../elsewhere/f/SKILL.md");
    world.link("root/by-way", "../elsewhere/way");
    world.link("elsewhere/way", "e");
    world.link("root/gone", "../elsewhere/later");
    world.link("root/note", "../elsewhere/note");
    world.link("root/back", "../elsewhere/back");
    world.link("elsewhere/back", "../root");
    world.write("elsewhere/note", "a file");
    world.write("root/broken/SKILL.md", "---\nname: broken\n---\n");
    world.write("root/wrong/skill.md", "---\nname: wrong\ndescription: x\n---\n");
    world.pipe("root/pipe/SKILL.md");
    world.folder("root/empty");
    world
}

const SAME_LENGTH: &str = "---\nname: x\ndescription: What x does.\n---\nBody.\n";

/// A change that must show in the next discovery.
type Change = (&'static str, fn(&World));

const CHANGES: &[Change] = &[
    ("a file of the same size and modification time", |world| {
        world.set_modified("root/a/SKILL.md", 1_000_000_000);
        world.write("root/a/SKILL.md", SAME_LENGTH);
        world.set_modified("root/a/SKILL.md", 1_000_000_000);
    }),
    ("a file replaced by renaming another over it", |world| {
        world.write("new", SAME_LENGTH);
        world.rename("new", "root/a/SKILL.md");
    }),
    ("only the modification time", |world| world.set_modified("root/a/SKILL.md", 5)),
    ("a skill added", |world| world.skill("root/new")),
    ("a skill added to an empty folder", |world| world.skill("root/empty/new")),
    ("a skill added to a nested group", |world| world.skill("root/group/deep/new")),
    ("a skill removed", |world| world.remove("root/a")),
    ("a manifest removed", |world| world.remove("root/group/c/SKILL.md")),
    ("a skill renamed", |world| world.rename("root/a", "root/z")),
    ("a group renamed", |world| world.rename("root/group", "root/other")),
    ("a skill moved into a group", |world| world.rename("root/a", "root/group/a")),
    ("two skills swapped", |world| {
        world.rename("root/a", "root/t");
        world.rename("root/b", "root/a");
        world.rename("root/t", "root/b");
    }),
    ("a group that becomes a skill", |world| world.skill("root/group")),
    ("a linked folder swapped", |world| {
        world.remove("root/e");
        world.link("root/e", "../elsewhere/f");
    }),
    ("a linked manifest swapped", |world| {
        world.remove("root/f/SKILL.md");
        world.link("root/f/SKILL.md", "../../elsewhere/e/SKILL.md");
    }),
    ("a link further along the way swapped", |world| {
        world.remove("elsewhere/way");
        world.link("elsewhere/way", "f");
    }),
    ("a folder swapped for a link", |world| {
        world.rename("root/a", "elsewhere/a");
        world.link("root/a", "../elsewhere/a");
    }),
    ("a linked folder moved out of the root", |world| {
        world.rename("root/.store/stored", "elsewhere/stored");
        world.remove("root/stored");
        world.link("root/stored", "../elsewhere/stored");
    }),
    ("a manifest swapped for a link to it", |world| {
        world.rename("root/a/SKILL.md", "elsewhere/a.md");
        world.link("root/a/SKILL.md", "../../elsewhere/a.md");
    }),
    ("the target of a linked folder", |world| world.named_skill("elsewhere/e", "other")),
    ("the target of a linked manifest", |world| world.named_skill("elsewhere/f", "other")),
    ("a skill added behind a linked group", |world| {
        world.remove("elsewhere/e/SKILL.md");
        world.skill("elsewhere/e/inner");
    }),
    ("the target of a broken link appears", |world| world.skill("elsewhere/later")),
    ("the target of a link becomes a folder", |world| {
        world.remove("elsewhere/note");
        world.skill("elsewhere/note");
    }),
    ("a link no longer leads back", |world| {
        world.remove("elsewhere/back");
        world.link("elsewhere/back", "f");
    }),
    ("a skill appears in a hidden folder", |world| world.skill("root/.store")),
    ("a broken skill repaired", |world| world.skill("root/broken")),
    ("a name in the wrong case corrected", |world| {
        world.rename("root/wrong/skill.md", "root/wrong/SKILL.md");
    }),
    ("a pipe replaced by a file", |world| {
        world.remove("root/pipe/SKILL.md");
        world.skill("root/pipe");
    }),
    ("the root replaced by another", |world| {
        world.rename("root", "old");
        world.skill("root/only");
    }),
    ("the root removed", |world| world.remove("root")),
    ("the root swapped for a link", |world| {
        world.rename("root", "old");
        world.skill("elsewhere/new-root/only");
        world.link("root", "elsewhere/new-root");
    }),
    ("the root becomes a skill", |world| world.skill("root")),
];

#[test]
fn every_change_is_noticed_with_a_warm_cache() {
    for (what, change) in CHANGES {
        let world = world();
        let cache = Cache::in_an_hour(&world);
        assert_eq!(cached(&world, &cache).0, CacheState::Cold, "{what}");
        assert_eq!(cached(&world, &cache), (CacheState::Warm, 0), "{what}");
        let before = fresh(&world, &DiscoveryOptions::default());
        world.tick();
        change(&world);
        assert_ne!(before, fresh(&world, &DiscoveryOptions::default()), "{what} shows");
        assert_eq!(cached(&world, &cache).0, CacheState::Partial, "{what}");
        if world.path("root").exists() {
            assert_eq!(cached(&world, &cache), (CacheState::Warm, 0), "{what}");
        }
    }
}

/// A change right after a discovery may share its time stamp, so what was just written is read again.
#[test]
fn every_change_is_noticed_right_after_the_last_one() {
    for (_, change) in CHANGES {
        let world = world();
        let cache = Cache::new(world.path("cache"));
        cached(&world, &cache);
        assert_eq!(cached(&world, &cache).0, CacheState::Partial);
        change(&world);
        assert_eq!(cached(&world, &cache).0, CacheState::Partial);
    }
}

#[test]
fn only_what_changed_is_read_again() {
    let world = World::with_skills(["root/a", "root/b", "root/group/c"]);
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    world.tick();
    world.write("root/b/SKILL.md", SAME_LENGTH);
    assert_eq!(cached(&world, &cache), (CacheState::Partial, SAME_LENGTH.len() as u64));
    world.tick();
    world.folder("root/group/new");
    assert_eq!(cached(&world, &cache), (CacheState::Partial, 0));
}

#[test]
fn what_lies_beside_a_manifest_does_not_matter() {
    let world = world();
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    world.tick();
    world.write("root/a/references/x.md", "text");
    world.skill("root/a/below");
    assert_eq!(cached(&world, &cache), (CacheState::Warm, 0));
}

#[test]
fn a_damaged_cache_file_counts_as_absent() {
    let world = World::with_skills(["root/a", "root/group/b"]);
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    let file = cache.file(&world.path("root"), &DiscoveryOptions::default());
    let intact = fs::read(&file).unwrap();
    let flipped = (0..intact.len()).map(|at| {
        let mut bytes = intact.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let cut = (0..intact.len()).map(|length| intact[..length].to_vec());
    let longer = [[&intact[..], b"x"].concat(), b"garbage".repeat(100), Vec::new()];
    for bytes in flipped.chain(cut).chain(longer) {
        fs::write(&file, &bytes).unwrap();
        assert_eq!(cached(&world, &cache).0, CacheState::Cold, "{} bytes", bytes.len());
        assert_eq!(cached(&world, &cache).0, CacheState::Warm, "it is rebuilt");
    }
}

#[test]
fn no_bit_of_a_cache_file_goes_unchecked() {
    let world = World::with_skills(["root/a"]);
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    let mut bytes =
        fs::read(cache.file(&world.path("root"), &DiscoveryOptions::default())).unwrap();
    let intact = |bytes: &[u8]| {
        framed::parse(bytes, MAGIC).and_then(|framed| framed.second.read()).is_some()
    };
    assert!(intact(&bytes));
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(!intact(&bytes), "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_pipe_where_a_cache_file_should_be_is_not_waited_for() {
    let world = World::with_skills(["root/a"]);
    let cache = Cache::in_an_hour(&world);
    let file = cache.file(&world.path("root"), &DiscoveryOptions::default());
    world.pipe(&format!("cache/{}", file.file_name().unwrap().to_string_lossy()));
    assert_eq!(cached(&world, &cache).0, CacheState::Cold);
    assert_eq!(cached(&world, &cache).0, CacheState::Warm, "it was replaced");
}

#[test]
fn a_cache_file_of_another_version_counts_as_absent() {
    let world = World::with_skills(["root/a"]);
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    let file = cache.file(&world.path("root"), &DiscoveryOptions::default());
    let mut foreign = fs::read(&file).unwrap();
    foreign[..MAGIC.len()].copy_from_slice(b"skillful-scan-0\n");
    fs::write(&file, foreign).unwrap();
    assert_eq!(cached(&world, &cache).0, CacheState::Cold);
}

#[test]
fn a_cache_file_of_another_root_is_not_believed() {
    let world = World::with_skills(["root/a", "other/a", "other/b"]);
    world.named_skill("other/a", "x");
    let cache = Cache::in_an_hour(&world);
    let options = DiscoveryOptions::default();
    cache.discover(&world.path("other"), &options);
    let file = |root: &str| cache.file(&world.path(root), &options);
    fs::copy(file("other"), file("root")).unwrap();
    assert_eq!(cached(&world, &cache).0, CacheState::Partial);
}

#[test]
fn roots_and_options_are_kept_apart() {
    let world = World::with_skills(["root/a", "root/1/2/b", "other/c"]);
    world.write("root/d/SKILL.md", "---\nname: d\n---\n");
    let cache = Cache::in_an_hour(&world);
    let mut lenient = DiscoveryOptions::default();
    lenient.read.mode = crate::metadata::Mode::Lenient;
    let shallow = DiscoveryOptions { depth: 1, ..DiscoveryOptions::default() };
    let all = [DiscoveryOptions::default(), lenient, shallow];
    for expected in [CacheState::Cold, CacheState::Warm] {
        for root in ["root", "other"] {
            for options in &all {
                let (discovery, state) = cache.discover(&world.path(root), options);
                assert_eq!(state, expected);
                let fresh = discover::discover(
                    &world.path(root),
                    options,
                    &Known::new(),
                    SystemTime::now(),
                );
                assert_eq!(said(&discovery), said(&fresh.0));
            }
        }
    }
    let threads = DiscoveryOptions { threads: 7, ..DiscoveryOptions::default() };
    assert_eq!(cache.discover(&world.path("root"), &threads).1, CacheState::Warm);
}

#[test]
fn without_a_place_to_write_every_start_is_a_cold_one() {
    let world = World::with_skills(["root/a"]);
    world.write("cache", "a file where the folder should be");
    let cache = Cache::in_an_hour(&world);
    for _ in 0..2 {
        assert_eq!(cached(&world, &cache).0, CacheState::Cold);
    }
}

#[test]
fn what_is_forgotten_is_read_again() {
    let world = World::with_skills(["root/a"]);
    let cache = Cache::in_an_hour(&world);
    cached(&world, &cache);
    cache.forget(&world.path("root"), &DiscoveryOptions::default());
    assert_eq!(cached(&world, &cache).0, CacheState::Cold);
    cache.forget(&world.path("never-seen"), &DiscoveryOptions::default());
}

#[test]
fn many_skills_on_many_threads_stay_warm() {
    let world = World::new();
    for at in 0..300 {
        world.skill(&format!("root/s{at}"));
    }
    let cache = Cache::in_an_hour(&world);
    assert_eq!(cached(&world, &cache).0, CacheState::Cold);
    assert_eq!(cached(&world, &cache), (CacheState::Warm, 0));
    world.tick();
    world.set_modified("root/s299/SKILL.md", 5);
    assert_eq!(cached(&world, &cache).0, CacheState::Partial);
}
