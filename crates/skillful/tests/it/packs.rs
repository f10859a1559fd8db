//! Packs through the real program: made, signed, installed, updated, verified.

mod integrity;
mod signing;
mod warnings;

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::world::World;
use crate::world::packs::{key, packed, refusal, skill, works};

#[test]
fn a_pack_goes_in_and_out() {
    let world = packed();
    assert_snapshot!(world.run("skillful verify demo.zip"), @"
    4d4ae9d387fd220e494feea0b6a0bf588d8608ec55e421cb1e05b240855b4a28  demo/SKILL.md
    559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd  demo/references/a.md
    intact  demo.zip  2 files
    [stderr]
    It is not signed: the hashes show that it is complete, not who made it.
    ");
    assert_snapshot!(world.run("skillful install demo.zip --dry-run"), @"
    demo 1.0.0  [world]/home/.agent/skills/demo
    [stderr]
    Nothing was written.
    ");
    assert!(!world.path("home/.agent").exists());
    assert_snapshot!(world.run("skillful install demo.zip"), @"
    demo 1.0.0  [world]/home/.agent/skills/demo
    [stderr]
    Installed. `skillful verify NAME` checks it again later.
    ");
    assert_snapshot!(world.run("skillful install demo.zip"), @"
    [stderr]
    error: `demo` already exists: `[world]/home/.agent/skills/demo`
    hint: use --backup to keep the old one, or --force to replace it
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful verify demo --scope user"), @"
    4d4ae9d387fd220e494feea0b6a0bf588d8608ec55e421cb1e05b240855b4a28  SKILL.md
    559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd  references/a.md
    intact  demo  2 files
    [stderr]
    It is not signed: the hashes show that it is complete, not who made it.
    ");
    assert_snapshot!(world.run("skillful uninstall demo | grep -v kept"), @"
    demo  [world]/home/.agent/skills/demo
    [stderr]
    Uninstalled. `skillful restore` brings it back.
    ");
    assert_snapshot!(world.run("skillful restore demo"), @"
    demo  [world]/home/.agent/skills/demo
    [stderr]
    Restored.
    ");
    assert_snapshot!(world.run("skillful uninstall demo --purge --yes"), @"
    demo  [world]/home/.agent/skills/demo
    [stderr]
    Deleted.
    ");
    assert_snapshot!(world.run("cd ../home/.agent && find . | sort"), @"
    .
    ./skills
    ./skills.lock
    ");
    assert_snapshot!(world.run("skillful restore demo"), @"
    [stderr]
    error: `[world]/home/.agent/skills` has no old copy of `demo`
    hint: you can restore only skills that were uninstalled or backed up
    [exit 1]
    ");
}

#[test]
fn the_same_skills_give_the_same_bytes() {
    let world = packed();
    skill(&world, "project/other", "other", "2.0.0", "# Other");
    world.run("skillful pack demo other -o one.zip");
    // Copied in another order, at another time, with other modes, and under another name.
    world.run("mkdir copy && cp -r other copy/a && mkdir -p copy/z/references && cp demo/references/a.md copy/z/references && cp demo/SKILL.md copy/z && chmod 600 copy/z/SKILL.md && touch -d 2001-01-01 copy/z/SKILL.md");
    world.run("skillful pack copy -o two.zip && skillful pack other demo -o three.zip");
    let one = fs::read(world.path("project/one.zip")).unwrap();
    assert_eq!(one, fs::read(world.path("project/two.zip")).unwrap());
    assert_eq!(one, fs::read(world.path("project/three.zip")).unwrap());
}

#[test]
fn versions_go_forward() {
    let world = packed();
    works(&world, "install demo.zip");
    skill(&world, "project/demo", "demo", "1.0.0", "# Other");
    world.run("skillful pack demo -o same.zip");
    assert_eq!(refusal(&world, "install same.zip --force"), ("ChangedVersion".to_owned(), 4));
    skill(&world, "project/demo", "demo", "0.9.0", "# Old");
    world.run("skillful pack demo -o old.zip");
    assert_eq!(refusal(&world, "install old.zip --force"), ("OlderVersion".to_owned(), 4));
    works(&world, "install old.zip --force --allow OlderVersion");
    works(&world, "install demo.zip --backup");
    assert_eq!(works(&world, "restore demo --backup")["name"], "demo");
    assert_eq!(works(&world, "inspect demo --source user")["meta"]["version"], "0.9.0");
}

#[test]
fn no_pack_has_a_skill_that_rules_would_take_for_a_projects() {
    let world = World::new();
    skill(&world, "project/one", "project:deploy", "1.0.0", "# One");
    assert_eq!(refusal(&world, "install one").0, "BadSkillName");
    skill(&world, "project/two", "ce:plan", "1.0.0", "# Two");
    works(&world, "install two");
}

#[test]
fn a_namespace_is_a_folder() {
    let world = World::new();
    skill(&world, "project/one", "acme/one", "1.0.0", "# One");
    skill(&world, "project/acme", "acme", "1.0.0", "# Acme");
    works(&world, "install one");
    assert!(world.path("home/.agent/skills/acme/one/SKILL.md").exists());
    assert_eq!(refusal(&world, "install acme --force"), ("InTheWay".to_owned(), 1));
    works(&world, "verify acme/one");
    works(&world, "uninstall acme/one --purge --yes");
    assert!(!world.path("home/.agent/skills/acme").exists());
    works(&world, "install acme");
    assert_eq!(refusal(&world, "install one"), ("InTheWay".to_owned(), 1));
}

#[test]
fn what_is_installed_into_a_trusted_project_is_trusted() {
    let world = packed();
    world.skill("project/.agent/skills/own", "Own.");
    works(&world, "trust project");
    works(&world, "install demo.zip --scope project");
    let trusted = |name: &str| works(&world, &format!("inspect {name}"))["trusted"].clone();
    assert_eq!((trusted("own"), trusted("demo")), (Value::Bool(true), Value::Bool(true)));
    world.run("skillful untrust");
    works(&world, "uninstall demo");
    assert_eq!(trusted("own"), Value::Bool(false));
}

#[test]
fn origin_signer_and_state_are_shown() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    works(&world, "sign demo.zip --key k.sec");
    works(&world, "install demo.zip");
    let listed = works(&world, "list");
    assert_eq!(listed["installed"][0]["signer"]["name"], "us", "{listed}");
    assert_eq!(works(&world, "inspect demo")["installed"]["unchanged"], true);
    assert_eq!(works(&world, "why demo")["installed"]["unchanged"], true);
    world.write("home/.agent/skills/demo/references/a.md", "changed");
    assert_eq!(works(&world, "inspect demo")["installed"]["unchanged"], false);
    assert_snapshot!(world.run("skillful why demo | sed 's/([0-9A-F]*)/(KEY)/'"), @"
    demo is [world]/home/.agent/skills/demo
      from [world]/project/demo.zip, signed by us (KEY)
      differs `references/a.md`: the file's size differs from the listed one
      costs 56 characters of the catalog (about 14 tokens)
    ");
}

#[test]
fn a_path_is_no_name_of_a_skill() {
    let world = packed();
    works(&world, "install demo.zip");
    world.skill("precious", "Not installed.");
    world.run("mkdir -p ../home/.agent/skills/.trash && cp -r ../precious ../home/.agent/skills/.trash/20200101T000000Z");
    let absolute = world.path("precious").to_string_lossy().into_owned();
    let names = ["../../../precious", absolute.as_str(), "demo/../demo", "./demo", "..", ".", "''"];
    let all = "cd ..; find . -path ./home/.cache -prune -o -print | sort";
    let before = world.run(all);
    for name in names.into_iter().chain([".trash", ".packs", "demo/", "a/b/c", "'demo\\x'"]) {
        for line in ["uninstall", "uninstall --purge", "restore", "export -o x.zip", "verify"] {
            for scope in ["user", "project"] {
                let line = format!("{line} {name} --scope {scope}");
                // A folder that is there can be verified as a source.
                if !(line.starts_with("verify")
                    && world.path("project").join(name.trim_matches('\'')).exists())
                {
                    assert_eq!(refusal(&world, &line), ("NotInstalled".to_owned(), 1), "{line}");
                }
            }
        }
    }
    assert_eq!(world.run(all), before);
}

#[test]
fn a_path_is_no_name_in_a_lockfile() {
    let world = packed();
    works(&world, "install demo.zip --scope project");
    let text = world.read("project/.agent/skills.lock");
    let mut lockfile: Value = serde_json::from_str(&text).unwrap();
    lockfile["skills"][0]["name"] = "../../../precious".into();
    let mut skills: Vec<skill::lock::LockedSkill> =
        serde_json::from_value(lockfile["skills"].clone()).unwrap();
    let mut hostile = skill::lock::Lockfile::default();
    hostile.insert(skills.remove(0));
    world.write("project/.agent/skills.lock", hostile.to_bytes());
    for line in ["outdated", "update", "install --locked --scope project", "verify demo"] {
        assert_eq!(refusal(&world, line), ("LockfileDamaged".to_owned(), 4), "{line}");
    }
}

/// Everything in the world but the cache, with its content.
fn everything(world: &World) -> String {
    let all = "find . -path ./home/.cache -prune -o";
    world.run(&format!("cd ..; {all} -print | sort; {all} -type f -print -exec sha1sum {{}} +"))
}

#[test]
fn a_dry_run_writes_nothing_and_says_so() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    works(&world, "install demo.zip");
    skill(&world, "project/other", "other", "1.0.0", "# Other");
    works(&world, "install other");
    works(&world, "uninstall other");
    skill(&world, "project/demo", "demo", "2.0.0", "# Two");
    works(&world, "pack demo -o demo.zip --force");
    let before = everything(&world);
    for line in [
        "pack demo -o new.zip",
        "pack demo -o -",
        "pack demo -o new.zip --sign k.sec",
        "export demo -o new.zip",
        "export demo -o -",
        "sign demo.zip --key k.sec",
        "sign demo.zip --key k.sec --detached",
        "keygen new --no-password",
        "uninstall demo",
        "uninstall demo --purge",
        "restore other",
        "update",
        "update --force",
        "install other --force",
    ] {
        assert_eq!(works(&world, &format!("{line} --dry-run"))["written"], false, "{line}");
        let said = world.run(&format!("skillful {line} --dry-run"));
        assert!(said.ends_with("[stderr]\nNothing was written.\n"), "{line}: {said}");
        assert_eq!(everything(&world), before, "{line}");
    }
}

#[test]
fn a_pack_and_json_do_not_both_go_to_stdout() {
    let world = packed();
    works(&world, "install demo.zip");
    for line in ["pack demo -o - --json", "export demo -o - --json"] {
        let said = world.run(&format!("skillful {line}"));
        assert!(
            said.contains("cannot both go to stdout") && said.ends_with("[exit 2]\n"),
            "{said}"
        );
        assert!(!said.contains("PK"), "{said}");
    }
}

#[test]
fn a_root_that_is_named_is_where_a_skill_goes() {
    let world = packed();
    assert_snapshot!(world.run("skillful install demo.zip --root ../shelf"), @"
    demo 1.0.0  [world]/shelf/demo
    [stderr]
    Installed. `skillful verify NAME` checks it again later.
    ");
    assert!(world.path("shelf/demo/SKILL.md").exists());
    assert!(!world.path("home/.agent/skills").exists());
    assert_snapshot!(world.run("skillful list --root ../shelf --source explicit"), @"demo  explicit  What demo does.");
    assert_eq!(works(&world, "verify demo --root ../shelf")["ok"], true);
    assert_snapshot!(world.run("skillful uninstall demo --root ../shelf | grep -v kept"), @"
    demo  [world]/shelf/demo
    [stderr]
    Uninstalled. `skillful restore` brings it back.
    ");
    assert!(!world.path("shelf/demo").exists());
    assert_snapshot!(world.run("skillful restore demo --root ../shelf"), @"
    demo  [world]/shelf/demo
    [stderr]
    Restored.
    ");
    assert_snapshot!(world.run("skillful install demo.zip --root ../shelf --scope project"), @"
    [stderr]
    error: --scope and --root both set the place of the skill
    hint: use only one of them
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful install demo.zip --root ../a --root ../b"), @"
    [stderr]
    error: you can install a skill in one place only
    hint: give one folder with --root
    [exit 2]
    ");
}

#[test]
fn purging_asks_first() {
    let world = packed();
    world.run("skillful install demo.zip");
    assert_snapshot!(world.run("skillful uninstall demo --purge"), @"
    [stderr]
    error: deleting `demo` for good needs your approval
    hint: add --yes, or leave out --purge to keep it in .trash
    [exit 3]
    ");
    assert_eq!(refusal(&world, "uninstall demo --purge"), ("ApprovalRequired".to_owned(), 3));
    let seen = world.dialogue("skillful uninstall demo --purge", "[y/N]", "n\n");
    assert!(seen.contains("nothing was deleted") && seen.contains("[exit 3]"), "{seen}");
    assert!(world.path("home/.agent/skills/demo/SKILL.md").exists());
    assert_snapshot!(world.run("skillful uninstall demo --purge --dry-run"), @"
    demo  [world]/home/.agent/skills/demo
    [stderr]
    Nothing was written.
    ");
    let seen = world.dialogue("skillful uninstall demo --purge", "[y/N]", "y\n");
    assert!(seen.contains("Deleted."), "{seen}");
    assert!(!world.path("home/.agent/skills/demo").exists());
    world.run("skillful install demo.zip");
    works(&world, "uninstall demo --purge --yes");
    assert!(!world.path("home/.agent/skills/demo").exists());
}
