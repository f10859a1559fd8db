//! Archives that other programs made: what they add is left out and listed, what they wrap is found.

use insta::assert_snapshot;

use crate::world::World;
use crate::world::packs::{key, packed, refusal, works};
use crate::zip::{Item, item, zip};

fn skill(path: &str) -> Item {
    let name = path.rsplit('/').next().unwrap();
    let text = format!("---\nname: {name}\ndescription: What {name} does.\n---\n# {name}\n");
    item(format!("{path}/SKILL.md"), text)
}

fn folder(path: &str) -> Item {
    item(path, "").with(|item| item.mode = 0o040_755)
}

/// The entries of a pack that this program made, below `prefix`.
fn items(world: &World, pack: &str, prefix: &str) -> Vec<Item> {
    let bytes = std::fs::read(world.path("project").join(pack)).unwrap();
    let number = |at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte))
    };
    let (mut at, mut found) = (0, Vec::new());
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let name = at + 30;
        let data = name + number(at + 26, 2) + number(at + 28, 2);
        let end = data + number(at + 18, 4);
        let path = String::from_utf8_lossy(&bytes[name..name + number(at + 26, 2)]);
        found.push(item(format!("{prefix}{path}"), &bytes[data..end]).with(|item| {
            item.method = number(at + 8, 2) as u16;
            item.size = number(at + 22, 4) as u32;
            item.crc = number(at + 14, 4) as u32;
        }));
        at = end;
    }
    found
}

fn archive(items: &[Item]) -> World {
    let world = World::new();
    world.write("project/a.zip", zip(items));
    world
}

#[test]
fn what_macos_adds_is_left_out() {
    let world = archive(&[
        folder("demo/"),
        skill("demo"),
        item("demo/.DS_Store", "finder"),
        item("demo/references/._a.md", "fork"),
        item("demo/references/a.md", "A"),
        folder("__MACOSX/"),
        item("__MACOSX/._demo", "fork"),
        item("__MACOSX/demo/._SKILL.md", "fork"),
        item(".DS_Store", "finder"),
    ]);
    assert_snapshot!(world.run("skillful verify a.zip"), @"
    81dd2a0e405666e0ec6461f6256ffa12a99dd9df2e2f164d62c4fe799a762e66  demo/SKILL.md
    559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd  demo/references/a.md
    intact  a.zip  2 files
    [stderr]
    Left out, because they belong to no skill: .DS_Store, __MACOSX/._demo, __MACOSX/demo/._SKILL.md, demo/.DS_Store, demo/references/._a.md.
    It is not signed: the hashes show that it is complete, not who made it.
    ");
    assert_snapshot!(world.run("skillful install a.zip"), @"
    demo  [world]/home/.agent/skills/demo
    [stderr]
    Left out, because they belong to no skill: .DS_Store, __MACOSX/._demo, __MACOSX/demo/._SKILL.md, demo/.DS_Store, demo/references/._a.md.
    Installed. `skillful verify NAME` checks it again later.
    ");
    assert_snapshot!(world.run("cd ../home/.agent/skills/demo && find . -type f | sort"), @"
    ./SKILL.md
    ./references/a.md
    ");
}

#[test]
fn a_readme_and_a_licence_at_the_top_are_left_out() {
    let world = archive(&[
        skill("demo"),
        item("demo/README.md", "of the skill"),
        item("README.md", "x"),
        item("LICENSE", "x"),
        item("licence-mit.txt", "x"),
    ]);
    let installed = works(&world, "install a.zip");
    assert_eq!(installed["left_out"].to_string(), r#"["LICENSE","README.md","licence-mit.txt"]"#);
    assert!(world.path("home/.agent/skills/demo/README.md").exists(), "a skill's own stays");
    world.write("project/b.zip", zip(&[skill("demo"), item("readme-install.sh/x", "x")]));
    assert_eq!(refusal(&world, "verify b.zip"), ("NoSkillFile".to_owned(), 1));
    world.write("project/b.zip", zip(&[skill("demo"), item("install.sh", "x")]));
    assert_eq!(refusal(&world, "verify b.zip"), ("StrayFile".to_owned(), 4));
}

#[test]
fn one_wrapper_folder_is_stepped_into() {
    let world = archive(&[
        folder("repo-main/"),
        item("repo-main/.gitignore", "x"),
        item("repo-main/README.md", "x"),
        item("repo-main/docs/guide.md", "x"),
        skill("repo-main/skills/one"),
        item("repo-main/skills/one/references/x.md", "X"),
        skill("repo-main/skills/group/two"),
        skill("repo-main/node_modules/three"),
    ]);
    assert_snapshot!(world.run("skillful install a.zip --dry-run"), @"
    one  [world]/home/.agent/skills/one
    two  [world]/home/.agent/skills/two
    [stderr]
    Left out, because they belong to no skill: repo-main/.gitignore, repo-main/README.md, repo-main/docs/guide.md, repo-main/node_modules/three/SKILL.md.
    Nothing was written.
    ");
    let installed = works(&world, "install a.zip");
    assert_eq!(installed["installed"][0]["name"], "one");
    assert!(world.path("home/.agent/skills/one/references/x.md").exists());
    assert_eq!(works(&world, "verify one")["ok"], true);
}

#[test]
fn a_folder_that_is_a_skill_is_no_wrapper() {
    let world = archive(&[skill("demo"), skill("demo/examples/inner")]);
    let installed = works(&world, "install a.zip");
    assert_eq!(installed["installed"].as_array().unwrap().len(), 1);
    assert!(world.path("home/.agent/skills/demo/examples/inner/SKILL.md").exists());
    assert_eq!(installed.get("left_out"), None);
}

#[test]
fn wrapped_skills_of_one_folder_name_are_refused() {
    let world = archive(&[skill("repo/a/demo"), skill("repo/b/demo")]);
    assert_snapshot!(world.run("skillful install a.zip"), @"
    [stderr]
    error: `demo`: two skills have this name: `a/demo` and `b/demo`
    hint: nothing changed here; do not use this pack, and tell the author
    [exit 4]
    ");
}

#[test]
fn a_pack_with_a_manifest_is_taken_as_it_is() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    world.run("skillful pack demo -o signed.zip --sign k.sec");
    let files = items(&world, "signed.zip", "");
    let with = |more: &[Item]| {
        world.write("project/again.zip", zip(&[&files, more].concat()));
    };
    with(&[]);
    assert_eq!(works(&world, "verify again.zip")["signer"]["name"], "us");
    for junk in ["demo/.DS_Store", "demo/references/._a.md"] {
        with(&[item(junk, "x")]);
        assert_eq!(refusal(&world, "install again.zip"), ("PresentButUnlisted".to_owned(), 4));
    }
    with(&[item("README.md", "x")]);
    assert_eq!(refusal(&world, "install again.zip"), ("StrayFile".to_owned(), 4));
}

#[test]
fn a_wrapped_pack_is_held_to_its_manifest() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    world.run("skillful pack demo -o signed.zip --sign k.sec");
    let files = items(&world, "signed.zip", "signed-1.0/");
    world.write("project/wrapped.zip", zip(&files));
    assert_eq!(works(&world, "verify wrapped.zip")["signer"]["name"], "us");
    let more = [files.clone(), vec![item("signed-1.0/demo/extra.md", "x")]].concat();
    world.write("project/wrapped.zip", zip(&more));
    assert_eq!(refusal(&world, "install wrapped.zip"), ("PresentButUnlisted".to_owned(), 4));
    let is_other = |it: &&Item| !it.name.ends_with(b"references/a.md");
    let mut changed: Vec<Item> = files.iter().filter(is_other).cloned().collect();
    changed.push(item("signed-1.0/demo/references/a.md", "B"));
    world.write("project/wrapped.zip", zip(&changed));
    assert_eq!(refusal(&world, "install wrapped.zip"), ("WrongHash".to_owned(), 4));
}
