use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::world::{World, without_privileges};

/// What a walk over the world's `root` finds and what it leaves out, line by line.
fn outcome(world: &World, options: &DiscoveryOptions) -> Vec<String> {
    let (discovery, _) = discover(&world.path("root"), options, &Known::new(), SystemTime::now());
    let found = discovery.found.iter().map(|found| format!("skill {}", found.folder.display()));
    let ignored = discovery.ignored.iter().map(|ignored| {
        assert!(!ignored.problem.hint().is_empty());
        format!("{} {}", ignored.problem.code(), ignored.path.display())
    });
    found.chain(ignored).collect()
}

#[track_caller]
fn check(world: &World, expected: &[&str]) {
    for threads in [1, 8] {
        let options = DiscoveryOptions { threads, ..DiscoveryOptions::default() };
        assert_eq!(outcome(world, &options), expected, "{threads} threads");
    }
}

/// Links out of the root on the way to each skill.
fn links(world: &World) -> Vec<(String, Vec<(String, String)>)> {
    let (discovery, _) = discover(
        &world.path("root"),
        &DiscoveryOptions::default(),
        &Known::new(),
        SystemTime::now(),
    );
    let shown =
        |path: &Path| path.to_string_lossy().replace(&*world.path("").to_string_lossy(), "");
    let each = |found: Found| {
        let links = found.links.iter().map(|link| (shown(&link.path), shown(&link.target)));
        (found.folder.to_string_lossy().into_owned(), links.collect())
    };
    discovery.found.into_iter().map(each).collect()
}

#[test]
fn a_folder_with_a_manifest_is_a_skill_and_nothing_below_it_is_searched() {
    let world = World::with_skills(["root/a", "root/group/b", "root/group/b/below", "root/c"]);
    world.write("root/README.md", "");
    world.folder("root/empty");
    check(&world, &["skill a", "skill c", "skill group/b"]);
}

#[test]
fn skills_come_in_the_order_of_their_paths() {
    let world = World::with_skills(["root/z", "root/a/b/c", "root/m/n", "root/a-b"]);
    check(&world, &["skill a-b", "skill a/b/c", "skill m/n", "skill z"]);
}

#[test]
fn a_root_may_itself_be_a_skill() {
    let world = World::with_skills(["root", "root/below"]);
    check(&world, &["skill "]);
}

#[test]
fn a_missing_root_is_reported() {
    let world = World::new();
    check(&world, &["no-such-root "]);
    world.write("root", "a file");
    check(&world, &["unreadable "]);
    world.remove("root");
    world.link("root", "root");
    check(&world, &["unreadable "]);
    world.remove("root");
    world.folder("root");
    fs::set_permissions(world.path("root"), fs::Permissions::from_mode(0o000)).unwrap();
    let (discovery, _) = without_privileges(|| {
        discover(
            &world.path("root"),
            &DiscoveryOptions::default(),
            &Known::new(),
            SystemTime::now(),
        )
    });
    assert_eq!(discovery.ignored[0].problem.to_string(), "cannot be read: permission denied");
}

#[test]
fn the_name_of_the_manifest_is_exact() {
    let world = World::with_skills(["root/a"]);
    world.write("root/b/skill.md", "---\nname: b\ndescription: b\n---\n");
    world.write("root/c/Skill.MD", "");
    world.link("root/d/skill.md", "../a/SKILL.md");
    world.write("root/e/SKILL.md.bak", "");
    world.write("root/f/skill.md", "");
    world.skill("root/f");
    let wrong = ["wrong-case b/skill.md", "wrong-case c/Skill.MD", "wrong-case d/skill.md"];
    check(&world, &[&["skill a", "skill f"], &wrong[..]].concat());
}

#[test]
fn hidden_folders_and_dependencies_are_skipped() {
    let world = World::with_skills(["root/.git/a", "root/.hidden/b", "root/node_modules/c"]);
    world.skill("root/group/node_modules/d");
    world.skill("elsewhere/e");
    check(&world, &[]);
}

#[test]
fn a_skill_in_a_folder_that_is_skipped_is_not_lost_without_a_word() {
    let world = World::with_skills(["root/.hidden", "elsewhere/e", "root/.hidden/below"]);
    world.link("root/.linked", "../elsewhere/e");
    world.link("root/.broken", "../nowhere");
    check(&world, &["skipped-folder .hidden", "skipped-folder .linked"]);
}

#[test]
fn grouping_folders_nest_to_a_bound() {
    let world = World::with_skills(["root/1/2/3/4/5/6/a"]);
    check(&world, &["skill 1/2/3/4/5/6/a"]);
    world.skill("root/1/2/3/4/5/6/7/b");
    check(&world, &["skill 1/2/3/4/5/6/a", "nested-too-deep "]);
    let options = DiscoveryOptions { depth: 7, ..DiscoveryOptions::default() };
    let both = ["skill 1/2/3/4/5/6/7/b", "skill 1/2/3/4/5/6/a"];
    assert_eq!(outcome(&world, &options), both);
    let options = DiscoveryOptions { depth: usize::MAX, ..DiscoveryOptions::default() };
    assert_eq!(outcome(&world, &options), both);
}

#[test]
fn a_walk_ends_at_its_bound_at_the_same_place_whatever_the_threads() {
    let world = World::new();
    for at in 0..300 {
        world.skill(&format!("root/g{:02}/s{at:03}", at % 20));
    }
    // The root, twenty groups, and as many skills as are left, group by group.
    for folders in [1, 10, 21, 22, 100, 300, 320, 321, 322] {
        let options =
            |threads| DiscoveryOptions { folders, threads, ..DiscoveryOptions::default() };
        let one = outcome(&world, &options(1));
        let skills = one.iter().filter(|line| line.starts_with("skill ")).count();
        assert_eq!(skills, folders.saturating_sub(21).min(300));
        let cut: Vec<_> = one.iter().filter(|line| !line.starts_with("skill ")).collect();
        let expected: &[&str] = if folders < 321 { &["too-many-folders "] } else { &[] };
        assert_eq!(cut, expected, "{folders} folders");
        for threads in [2, 8] {
            assert_eq!(outcome(&world, &options(threads)), one, "{folders} folders");
        }
    }
}

#[test]
fn an_unreadable_folder_or_manifest_hides_no_other_skill() {
    let world = World::with_skills(["root/a", "root/group/b", "root/locked/c", "root/secret"]);
    let chmod = |path: &str, mode| {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    world.folder("root/unlisted");
    chmod("root/locked", 0);
    chmod("root/unlisted", 0o111);
    chmod("root/secret/SKILL.md", 0);
    let lines = without_privileges(|| {
        outcome(&world, &DiscoveryOptions { threads: 1, ..DiscoveryOptions::default() })
    });
    chmod("root/locked", 0o755);
    let unreadable =
        ["unreadable locked/SKILL.md", "unreadable secret/SKILL.md", "unreadable unlisted"];
    assert_eq!(lines, [&["skill a", "skill group/b"], &unreadable[..]].concat());
}

#[test]
fn a_manifest_that_is_no_file_is_left_out_without_waiting() {
    let world = World::with_skills(["root/a", "root/folder/SKILL.md/below"]);
    world.pipe("root/pipe/SKILL.md");
    world.link("root/device/SKILL.md", "/dev/zero");
    world.link("root/linked-pipe/SKILL.md", "../pipe/SKILL.md");
    world.folder("root/socket");
    let _socket = std::os::unix::net::UnixListener::bind(world.path("root/socket/SKILL.md"));
    let left_out = ["device", "folder", "linked-pipe", "pipe", "socket"];
    let left_out = left_out.map(|folder| format!("not-a-file {folder}/SKILL.md"));
    let mut expected = vec!["skill a"];
    expected.extend(left_out.iter().map(String::as_str));
    check(&world, &expected);
}

#[test]
fn links_are_followed_and_those_that_leave_the_root_are_recorded() {
    let world = World::with_skills(["elsewhere/a", "elsewhere/group/b", "root/c", "root/.store/d"]);
    world.link("root/a", "../elsewhere/a");
    world.link("root/group", world.path("elsewhere/group"));
    world.link("root/d", ".store/d");
    world.link("root/e/SKILL.md", "../../elsewhere/a/SKILL.md");
    world.link("root/twice", "../elsewhere/again");
    world.link("elsewhere/again", "group");
    let links = links(&world);
    let all: Vec<(&str, Vec<(&str, &str)>)> = links
        .iter()
        .map(|(skill, links)| {
            (skill.as_str(), links.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect())
        })
        .collect();
    let expected = [
        ("a", vec![("/root/a", "/elsewhere/a")]),
        ("c", vec![]),
        ("d", vec![]),
        ("e", vec![("/root/e/SKILL.md", "/elsewhere/a/SKILL.md")]),
        ("group/b", vec![("/root/group", "/elsewhere/group")]),
        ("twice/b", vec![("/root/twice", "/elsewhere/group")]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn links_are_not_followed_where_that_is_switched_off() {
    let world = World::with_skills(["elsewhere/a", "root/b"]);
    world.link("root/a", "../elsewhere/a");
    world.link("root/c/SKILL.md", "../../elsewhere/a/SKILL.md");
    world.link("root/note.txt", "../elsewhere/a/SKILL.md");
    let options = DiscoveryOptions { follow_symlinks: false, ..DiscoveryOptions::default() };
    let expected = ["skill b", "link-not-followed a", "link-not-followed c/SKILL.md"];
    assert_eq!(outcome(&world, &options), expected);
}

#[test]
fn a_link_that_leads_back_is_left_out() {
    let world = World::with_skills(["root/group/a", "elsewhere/b"]);
    world.link("root/group/itself", ".");
    world.link("root/group/up", "..");
    world.link("root/group/above", world.path(""));
    world.link("root/loop", "loop");
    world.link("root/out", "../elsewhere");
    world.link("elsewhere/back", "../root");
    world.link("elsewhere/itself", ".");
    let cycles = ["group/above", "group/itself", "group/up", "loop", "out/back", "out/itself"];
    let cycles = cycles.map(|path| format!("link-cycle {path}"));
    let mut expected = vec!["skill group/a", "skill out/b"];
    expected.extend(cycles.iter().map(String::as_str));
    check(&world, &expected);
}

#[test]
fn folders_that_link_to_each_other_are_each_searched_once_a_way() {
    let world = World::with_skills(["root/one/a", "root/two/b"]);
    world.link("root/one/other", "../two");
    world.link("root/two/other", "../one");
    check(
        &world,
        &[
            "skill one/a",
            "skill one/other/b",
            "skill two/b",
            "skill two/other/a",
            "link-cycle one/other/other",
            "link-cycle two/other/other",
        ],
    );
}

#[test]
fn a_link_that_leads_nowhere_is_reported() {
    let world = World::with_skills(["root/a"]);
    world.link("root/gone", "nowhere");
    world.link("root/beyond", "a/SKILL.md/x");
    world.link("root/b/SKILL.md", "nowhere");
    let broken = ["broken-link b/SKILL.md", "broken-link beyond", "broken-link gone"];
    check(&world, &[&["skill a"], &broken[..]].concat());
}

#[test]
fn one_broken_skill_hides_no_other() {
    let world = World::with_skills(["root/a"]);
    world.write("root/b/SKILL.md", "no frontmatter");
    world.write("root/c/SKILL.md", b"---\nname: c\ndescription: \xFF\n---\n");
    world.write("root/d/SKILL.md", "---\nname: d\n---\n");
    world.write("root/e/SKILL.md", "");
    let expected = [
        "skill a",
        "no-frontmatter b/SKILL.md",
        "not-utf8 c/SKILL.md",
        "missing-description d/SKILL.md",
        "no-frontmatter e/SKILL.md",
    ];
    check(&world, &expected);
}

#[test]
fn every_problem_has_a_code_and_a_hint_of_its_own() {
    let problems = [
        Problem::Frontmatter(FrontmatterError::NoName),
        Problem::Unreadable { reason: "x".to_owned() },
        Problem::NotAFile,
        Problem::SkippedFolder,
        Problem::WrongCase { found: "skill.md".to_owned() },
        Problem::LinkCycle,
        Problem::BrokenLink,
        Problem::LinkNotFollowed,
        Problem::NoRoot,
        Problem::TooManyFolders { limit: 1 },
        Problem::TooDeep { limit: 1 },
    ];
    let codes: BTreeSet<_> = problems.iter().map(Problem::code).collect();
    assert_eq!(codes.len(), problems.len());
    let hints: BTreeSet<_> = problems.iter().map(Problem::hint).collect();
    assert_eq!(hints.len(), problems.len());
}

#[test]
fn names_of_folders_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    world.folder("root");
    let odd = std::ffi::OsStr::from_bytes(b"odd-\xFF");
    fs::create_dir(world.path("root").join(odd)).unwrap();
    let manifest = world.path("root").join(odd).join("SKILL.md");
    fs::write(manifest, "---\nname: odd\ndescription: b\n---\n").unwrap();
    check(&world, &["skill odd-\u{FFFD}"]);
}
