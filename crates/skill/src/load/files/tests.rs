use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use basics::failure::Explain;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, RenameFlags, chownat, linkat, mknodat, renameat_with,
};

use super::super::{Limits, load_body, load_resource};
use super::*;
use crate::metadata::ReadOptions;
use crate::world::{World, bytes_read_by_this_thread, without_privileges};

const SECRET: &str = "SECRET";

/// A skill in `root/a`, and beside the root what it must not reach.
fn world() -> World {
    let world = World::with_skills(["root/a"]);
    world.write("root/a/references/x.md", "inside");
    world.write("outside/x.md", SECRET);
    world.write("outside/SKILL.md", format!("---\nname: a\ndescription: b\n---\n{SECRET}"));
    world
}

/// The text of a resource, or the error's code.
fn outcome(world: &World, path: &str) -> String {
    match load_resource(&world.entry(), path, None, &Limits::default()) {
        Ok(loaded) => loaded.text,
        Err(error) => error.code().to_owned(),
    }
}

#[track_caller]
fn check(world: &World, path: &str, expected: &str) {
    assert_eq!(outcome(world, path), expected, "{path:?}");
}

#[test]
fn a_path_within_the_skill_is_read() {
    let world = world();
    for path in ["references/x.md", "./references//x.md", "references/./x.md"] {
        check(&world, path, "inside");
    }
    check(&world, "references/y.md", "IOError");
    check(&world, "references/x.md/z", "IOError");
    check(&world, &"x".repeat(5_000), "IOError");
}

#[test]
fn a_path_out_of_the_skill_is_refused() {
    let world = world();
    let absolute = world.path("outside/x.md").to_string_lossy().into_owned();
    for path in [
        "..",
        "../a/references/x.md",
        "../../outside/x.md",
        "references/../../../outside/x.md",
        "references/../references/x.md",
        "/etc/passwd",
        "//etc/passwd",
        &absolute,
        "~/x.md",
        "C:/x.md",
        "c:x.md",
        "references\\x.md",
        "..\\x.md",
        "\\\\server\\share",
        "references/x.md\0.png",
        "",
        ".",
        "/",
    ] {
        check(&world, path, "PathTraversalBlocked");
    }
}

#[test]
fn a_link_out_of_the_skill_is_refused() {
    let world = world();
    world.link("root/a/file.md", "../../outside/x.md");
    world.link("root/a/absolute.md", world.path("outside/x.md"));
    world.link("root/a/folder", "../../outside");
    world.link("root/a/one", "two");
    world.link("root/a/two", "three");
    world.link("root/a/three", "../../outside");
    world.link("root/a/up", "..");
    world.link("root/a/proc", "/proc/self/root");
    for path in [
        "file.md",
        "absolute.md",
        "folder/x.md",
        "one/x.md",
        "up/a/references/x.md",
        "proc/etc/passwd",
    ] {
        check(&world, path, "PathTraversalBlocked");
    }
}

#[test]
fn a_link_within_the_skill_is_followed() {
    let world = world();
    world.link("root/a/file.md", "references/x.md");
    world.link("root/a/folder", "references");
    world.link("root/a/references/back.md", "../references/x.md");
    world.link("root/a/one", "two");
    world.link("root/a/two", "file.md");
    for path in ["file.md", "folder/x.md", "references/back.md", "one"] {
        check(&world, path, "inside");
    }
    world.link("root/a/loop", "loop");
    check(&world, "loop", "IOError");
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let world = world();
    world.pipe("root/a/pipe");
    check(&world, "pipe", "PathTraversalBlocked");
    check(&world, "references", "PathTraversalBlocked");
    let _socket = std::os::unix::net::UnixListener::bind(world.path("root/a/socket")).unwrap();
    check(&world, "socket", "PathTraversalBlocked");
    world.pipe("root/a/references/pipe");
    world.link("root/a/to-pipe", "references/pipe");
    check(&world, "to-pipe", "PathTraversalBlocked");
    let zero = rustix::fs::makedev(1, 5);
    let made = mknodat(
        CWD,
        world.path("root/a/zero"),
        FileType::CharacterDevice,
        Mode::from_raw_mode(0o666),
        zero,
    );
    match made {
        Ok(()) => check(&world, "zero", "PathTraversalBlocked"),
        Err(error) => println!("skipped: a device cannot be made here: {error}"),
    }
}

#[test]
fn a_hard_link_to_another_owners_file_is_refused() {
    let world = world();
    let (outside, inside) = (world.path("outside/x.md"), world.path("root/a/hard.md"));
    linkat(CWD, &outside, CWD, &inside, AtFlags::empty()).unwrap();
    check(&world, "hard.md", SECRET);
    if !rustix::process::getuid().is_root() {
        return println!("skipped: only root can make a file someone else's");
    }
    chownat(CWD, &outside, Some(rustix::fs::Uid::from_raw(65_534)), None, AtFlags::empty())
        .unwrap();
    check(&world, "hard.md", "PathTraversalBlocked");
    world.remove("root/a/SKILL.md");
    linkat(
        CWD,
        world.path("outside/SKILL.md"),
        CWD,
        world.path("root/a/SKILL.md"),
        AtFlags::empty(),
    )
    .unwrap();
    let entry = world.entry();
    chownat(
        CWD,
        world.path("outside/SKILL.md"),
        Some(rustix::fs::Uid::from_raw(65_534)),
        None,
        AtFlags::empty(),
    )
    .unwrap();
    let error = load_body(&entry, &ReadOptions::default(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "PathTraversalBlocked");
}

#[test]
fn a_file_that_may_not_be_read_is_no_escape() {
    let world = world();
    let file = world.path("root/a/references/x.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(without_privileges(|| outcome(&world, "references/x.md")), "IOError");
    world.link("root/a/out.md", "../../outside/x.md");
    assert_eq!(without_privileges(|| outcome(&world, "out.md")), "PathTraversalBlocked");
}

#[test]
fn a_file_over_the_limit_is_refused_unread() {
    let world = world();
    world.hollow("root/a/exact", "", 2_000_000);
    world.hollow("root/a/large", "", 2_000_001);
    world.hollow("root/a/huge", "", 1 << 40);
    let entry = world.entry();
    check(&world, "exact", "NotText");
    for path in ["large", "huge"] {
        let before = bytes_read_by_this_thread();
        let error = load_resource(&entry, path, None, &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "FileTooLarge");
        assert!(bytes_read_by_this_thread() - before < 1_000, "the counter's own bytes");
    }
}

/// Files of the kernel say they are empty and then have content, like a file that grows.
#[test]
fn a_file_that_grows_while_it_is_read_is_cut_off_at_the_limit() {
    let open = || fs::File::open("/proc/self/status").unwrap();
    assert_eq!(open().metadata().unwrap().len(), 0);
    let error = read(open(), "x", 100).unwrap_err();
    assert!(matches!(error, LoadError::FileTooLarge { bytes: 101, limit: 100, .. }), "{error}");
    assert!(read(open(), "x", 1_000_000).is_ok());
    assert!(read(open(), "x", u64::MAX).is_ok());
}

#[test]
fn a_linked_manifest_loads_wherever_the_index_found_it() {
    let body = |world: &World| {
        let body = load_body(&world.entry(), &ReadOptions::default(), &Limits::default());
        body.map_or_else(|error| error.code().to_owned(), |body| body.core.text)
    };
    for target in ["../../outside/SKILL.md", "../b/SKILL.md", "docs/real.md"] {
        let world = World::with_skills(["root/b", "outside"]);
        world.named_skill("root/a/docs", "a");
        world.rename("root/a/docs/SKILL.md", "root/a/docs/real.md");
        world.link("root/a/SKILL.md", target);
        assert_eq!(body(&world), "Body.\n", "{target}");
        world.remove("root/a/SKILL.md");
        let absolute = world.path("root/a").join(target);
        world.link("root/a/SKILL.md", absolute.canonicalize().unwrap());
        assert_eq!(body(&world), "Body.\n", "{absolute:?}");
    }
}

#[test]
fn a_linked_skill_loads_wherever_the_index_found_it() {
    for target in ["../outside/a", ".store/a"] {
        let world = World::with_skills(["outside/a", "root/.store/a"]);
        world.write("outside/a/x.md", "x");
        world.write("root/.store/a/x.md", "x");
        world.link("root/a", target);
        check(&world, "x.md", "x");
        check(&world, "../a/x.md", "PathTraversalBlocked");
    }
}

#[test]
fn a_root_behind_a_link_is_as_good_as_any() {
    let world = world();
    world.rename("root", "real");
    world.link("root", "real");
    check(&world, "references/x.md", "inside");
    let body = load_body(&world.entry(), &ReadOptions::default(), &Limits::default());
    assert_eq!(body.unwrap().core.text, "Body.\n");
}

/// After the index was built, what it recorded may be replaced by a link to somewhere else.
#[test]
fn what_was_swapped_for_a_link_since_the_index_was_built_is_refused() {
    type Swap = fn(&World);
    let swaps: [(&str, Swap); 5] = [
        ("references", |world| {
            world.remove("root/a/references");
            world.link("root/a/references", "../../outside");
        }),
        ("the skill's folder", |world| {
            world.rename("root/a", "root/old");
            world.link("root/a", "../outside");
        }),
        ("the manifest", |world| {
            world.remove("root/a/SKILL.md");
            world.link("root/a/SKILL.md", "../../outside/SKILL.md");
        }),
        ("the root", |world| {
            world.rename("root", "old");
            world.rename("outside", "other");
            world.folder("outside");
            world.rename("other", "outside/a");
            world.link("root", "outside");
        }),
        ("a recorded link", |world| {
            world.remove("root/linked/SKILL.md");
            world.link("root/linked/SKILL.md", "../../outside/SKILL.md");
        }),
    ];
    for (what, swap) in swaps {
        let world = world();
        world.skill("shared/linked");
        world.link("root/linked/SKILL.md", "../../shared/linked/SKILL.md");
        world.write("outside/references/x.md", SECRET);
        let folder = if what == "a recorded link" { "root/linked" } else { "root/a" };
        let entry = world.entry_of(folder);
        swap(&world);
        let path = if what == "references" { "references/x.md" } else { "SKILL.md" };
        let error = load_resource(&entry, path, None, &Limits::default()).unwrap_err();
        assert_eq!(error.code(), "PathTraversalBlocked", "{what}");
        if path == "SKILL.md" {
            let body = load_body(&entry, &ReadOptions::default(), &Limits::default());
            assert_eq!(body.unwrap_err().code(), "PathTraversalBlocked", "{what}");
        }
    }
}

/// Exchanges a folder and a link to another one, over and over, while they are read.
fn race(folder: &str, link: &str, target: &str, path: &str) {
    let world = world();
    world.write("outside/references/x.md", SECRET);
    let entry = world.entry();
    world.link(link, target);
    let (folder, link) = (world.path(folder), world.path(link));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..3_000 {
            let text = match load_resource(&entry, path, None, &Limits::default()) {
                Ok(loaded) => loaded.text,
                Err(error) => error.to_string(),
            };
            if text.contains(SECRET) {
                done.store(true, Ordering::Relaxed);
                panic!("the race was lost: {text}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_folder_swapped_for_a_link_while_it_is_read_never_leads_outside() {
    race("root/a/references", "root/a/other", "../../outside", "references/x.md");
}

#[test]
fn a_skill_swapped_for_a_link_while_it_is_read_never_leads_outside() {
    race("root/a", "root/other", "../outside", "references/x.md");
}

#[test]
fn files_are_listed_by_name_and_links_are_not_followed() {
    let world = world();
    world.write("root/a/scripts/run.sh", "12345");
    world.write("root/a/.git/config", "");
    world.write("root/a/node_modules/x/y.js", "");
    world.link("root/a/out", "../../outside");
    world.pipe("root/a/pipe");
    let files = Files::open(&world.entry()).unwrap().list();
    let listed: Vec<(&str, u64)> =
        files.iter().map(|file| (file.path.as_str(), file.size)).collect();
    let manifest = fs::metadata(world.path("root/a/SKILL.md")).unwrap().len();
    let expected = [
        ("SKILL.md", manifest),
        ("out", 0),
        ("pipe", 0),
        ("references/x.md", 6),
        ("scripts/run.sh", 5),
    ];
    assert_eq!(listed, expected);
}
