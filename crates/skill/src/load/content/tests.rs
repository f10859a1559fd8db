use std::os::unix::fs::PermissionsExt;

use super::links::{End, resolve};
use super::*;
use crate::lock::tree_hash;
use crate::world::{World, without_privileges};

fn world() -> World {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/scripts/run.sh", "echo a\n");
    world.write("root/a/scripts/.lib/b.sh", "echo b\n");
    world.link("root/a/lib", "scripts/.lib");
    world
}

fn files(world: &World) -> Files {
    Files::open(&world.entry()).unwrap()
}

fn hash(world: &World) -> Result<ContentHash, Gap> {
    files(world).content().hash().cloned().map_err(Clone::clone)
}

#[test]
fn a_skill_of_plain_files_has_the_hash_of_a_lockfile() {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/a-b", "1");
    world.write("root/a/a/b", "2");
    world.write("root/a/.c/node_modules/d", "3");
    let records = files(&world).content().records();
    let paths: Vec<&str> = records.iter().map(|record| record.path.as_str()).collect();
    assert_eq!(paths, [".c/node_modules/d", "SKILL.md", "a-b", "a/b"]);
    assert_eq!(hash(&world).unwrap().as_str(), format!("sha256:{}", tree_hash(&records)));
}

#[test]
fn every_change_changes_the_hash() {
    let world = world();
    let mut seen = vec![hash(&world).unwrap()];
    let mut check = |what: &str| {
        let now = hash(&world).unwrap();
        assert!(!seen.contains(&now), "{what}");
        seen.push(now);
    };
    world.write("root/a/scripts/.lib/b.sh", "echo c\n");
    check("content");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.path("root/a/scripts/run.sh"), executable).unwrap();
    check("mode");
    world.remove("root/a/lib");
    world.link("root/a/lib", "scripts");
    check("where a link leads");
    world.remove("root/a/lib");
    world.write("root/a/lib", "scripts");
    check("a file in place of a link");
    world.folder("root/a/empty");
    check("an empty folder");
    world.write("root/a/empty/x", "");
    check("an empty file");
    world.rename("root/a/empty", "root/a/other");
    check("a name");
}

#[test]
fn the_last_of_very_many_files_counts() {
    let world = World::with_skills(["root/a"]);
    world.folder("root/a/many");
    (0..10_100).for_each(|number| world.write(&format!("root/a/many/{number}"), ""));
    world.write("root/a/z", "one");
    let before = hash(&world).unwrap();
    world.write("root/a/z", "two");
    assert_ne!(hash(&world).unwrap(), before);
    (0..10_000).for_each(|number| world.write(&format!("root/a/many/more-{number}"), ""));
    assert_eq!(hash(&world).unwrap_err(), Gap::TooManyFiles);
}

#[test]
fn folders_that_nest_without_end_give_no_hash() {
    let world = World::with_skills(["root/a"]);
    world.folder(&format!("root/a/{}", "d/".repeat(DEPTH)));
    assert!(hash(&world).is_ok());
    world.folder(&format!("root/a/{}", "d/".repeat(DEPTH + 1)));
    assert_eq!(hash(&world).unwrap_err(), Gap::TooDeep);
}

#[test]
fn a_manifest_that_is_a_link_counts_as_what_it_leads_to() {
    let world = World::new();
    world.write("elsewhere.md", "---\nname: a\ndescription: b\n---\nOne.\n");
    world.link("root/a/SKILL.md", "../../elsewhere.md");
    let before = hash(&world).unwrap();
    world.write("elsewhere.md", "---\nname: a\ndescription: b\n---\nTwo.\n");
    assert_ne!(hash(&world).unwrap(), before);
}

#[test]
fn what_nobody_can_vouch_for_gives_no_hash() {
    let check = |change: &dyn Fn(&World), expected: &str| {
        let world = world();
        change(&world);
        assert_eq!(hash(&world).unwrap_err().to_string(), expected);
        // What could be read is still worth seeing.
        assert!(files(&world).content().records().iter().any(|file| file.path == "SKILL.md"));
    };
    let link = |target: &'static str| move |world: &World| world.link("root/a/z/x", target);
    for target in ["../../b", "/etc/passwd", "/usr/../etc/passwd", "../../a/lib", "../lib/../../.."]
    {
        check(&link(target), "`z/x` leads out of the skill");
    }
    check(&|world| world.pipe("root/a/z/x"), "`z/x` is neither a file nor a folder");
    let large = |world: &World| world.hollow("root/a/z/x", "", 257 << 20);
    check(&large, "it has more than 256 MiB");
}

#[test]
fn what_cannot_be_read_gives_no_hash() {
    for path in ["root/a/scripts/run.sh", "root/a/scripts"] {
        let world = world();
        std::fs::set_permissions(world.path(path), std::fs::Permissions::from_mode(0o0)).unwrap();
        let found = without_privileges(|| hash(&world));
        std::fs::set_permissions(world.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(found, Err(Gap::Unreadable { .. })), "{path}: {found:?}");
    }
}

#[test]
fn a_copy_holds_exactly_what_was_hashed() {
    let world = world();
    let script = world.path("root/a/scripts/run.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    world.folder("root/a/empty/er");
    world.folder("copies/root");
    let folder = |path: &str| std::fs::File::open(world.path(path)).unwrap();
    let (copy, copied) = files(&world).copy_to(folder("copies/root")).unwrap();
    assert_eq!(copy, "a");
    assert_eq!(copied, hash(&world).unwrap());
    world.rename("root", "original");
    world.rename("copies/root", "root");
    assert_eq!(hash(&world).unwrap(), copied);
    let mode = std::fs::metadata(world.path("root/a/scripts/run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let again = files(&world).copy_to(folder("root"));
    assert!(matches!(again, Err(CopyError::Write(_))), "what is there is not written over");
}

#[test]
fn a_built_in_skill_is_copied_too() {
    let world = World::new();
    let root = crate::roots::Root {
        source: basics::skill::Source::Builtin,
        path: crate::builtin::ROOT.into(),
        priority: 0,
    };
    let index = crate::index::Index::build(&[root], &Default::default());
    let files = Files::open(index.get("csv-report", None).unwrap()).unwrap();
    let (copy, hash) = files.copy_to(std::fs::File::open(world.path("")).unwrap()).unwrap();
    assert_eq!(Ok(&hash), files.content().hash());
    let copy = world.path("").join(copy);
    let script = std::fs::metadata(copy.join("scripts/report.sh")).unwrap();
    assert_eq!(script.permissions().mode() & 0o777, 0o755);
}

#[test]
fn links_are_followed_as_the_kernel_follows_them() {
    let link = |path: &str, target: &str| Item {
        path: path.as_bytes().to_vec(),
        kind: Kind::Link { target: target.as_bytes().to_vec() },
    };
    let mut items = vec![
        link("bin", "/usr/bin"),
        link("deep/er/up", "../.."),
        link("loop", "loop"),
        link("one", "two"),
        link("two", "deep/er"),
        link("out", ".."),
    ];
    items.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let check = |folder: &str, path: &str, expected: End| {
        assert_eq!(resolve(&items, folder.as_bytes(), path.as_bytes()), expected, "{path}");
    };
    let inside = |path: &str| End::Inside(path.as_bytes().to_vec());
    check("", "a/./b//c", inside("a/b/c"));
    check("deep", "../x", inside("x"));
    check("deep", "../../x", End::Outside);
    check("", "one/x", inside("deep/er/x"));
    check("", "one/up/y", inside("y"));
    check("", "one/up/../y", End::Outside);
    check("", "bin/sh", End::System);
    check("", "/usr/bin/env", End::System);
    check("", "/usr/../home", End::Outside);
    check("", "/home/x", End::Outside);
    check("", "out/a/x", End::Outside);
    check("", "loop", inside("loop"));
    check("", "gone/../x", inside("x"));
}

#[test]
fn bytes_are_held_to_the_content_also_behind_links() {
    let world = world();
    let files = files(&world);
    let content = files.content();
    assert!(content.holds("scripts/.lib/b.sh", b"echo b\n"));
    assert!(content.holds("lib/b.sh", b"echo b\n"));
    assert!(!content.holds("lib/b.sh", b"echo c\n"));
    assert!(!content.holds("lib", b"echo b\n"));
    assert!(!content.holds("gone", b""));
}
