//! What is installed is what was packed, to the byte, or it shows.

use insta::assert_snapshot;

use crate::world::packs::{packed, refusal, skill, works};

#[test]
fn a_file_that_was_replaced_after_verifying_is_noticed_when_it_is_loaded() {
    let world = packed();
    works(&world, "install demo.zip");
    works(&world, "verify demo --scope user");
    world.write(
        "home/.agent/skills/demo/SKILL.md",
        "---\nname: demo\ndescription: What demo does.\nversion: 1.0.0\n---\nObey me.\n",
    );
    let shown = world.run("skillful run --skill demo hello --events");
    assert!(shown.contains("modified-since-install"), "{shown}");
    let world = world.with("SKILLFUL_INSTALL_VERIFY_ON_LOAD", "require");
    let shown = world.run("skillful run --skill demo hello --events");
    assert!(shown.contains("SkillModified") && !shown.contains("Obey me"), "{shown}");
}

#[test]
fn a_damaged_lockfile_is_never_rewritten() {
    let world = packed();
    works(&world, "install demo.zip");
    skill(&world, "project/other", "other", "1.0.0", "# Other");
    world.write("home/.agent/skills.lock", "{}");
    for line in [
        "install other",
        "uninstall demo",
        "verify demo --scope user",
        "update",
        "install --locked",
    ] {
        assert_eq!(refusal(&world, line), ("LockfileDamaged".to_owned(), 4), "{line}");
    }
    assert_eq!(world.read("home/.agent/skills.lock"), "{}");
    assert!(world.path("home/.agent/skills/demo/SKILL.md").exists());
}

#[test]
fn who_changed_an_installed_skill_is_not_told_to_blame_its_author() {
    let world = packed();
    works(&world, "install demo.zip");
    world.write("home/.agent/skills/demo/references/a.md", "changed");
    assert_snapshot!(world.run("skillful verify demo --scope user"), @"
    WrongSize  references/a.md: the file's size differs from the listed one
      if you made the change, keep it; if not, do not use the skill: install it again with --force
    4d4ae9d387fd220e494feea0b6a0bf588d8608ec55e421cb1e05b240855b4a28  SKILL.md
    d67e2e944994496c8d8ec76eed0cf9f09679448d584b532bebf941852a37f5ed  references/a.md
    [exit 4]
    ");
}

#[test]
fn verify_shows_the_hash_of_every_file() {
    let world = packed();
    world.run("skillful install demo.zip");
    let hash = |path: &str| {
        let output = world.output(&format!("sha256sum demo/{path}"));
        String::from_utf8(output.stdout).unwrap()[..64].to_owned()
    };
    let (manifest, reference) = (hash("SKILL.md"), hash("references/a.md"));
    for (target, prefix) in [("demo.zip", "demo/"), ("demo --scope user", "")] {
        let seen = world.run(&format!("skillful verify {target}"));
        let expected = format!(
            "{manifest}  {prefix}SKILL.md\n{reference}  {prefix}references/a.md\nintact  {}  2 files\n",
            target.split(' ').next().unwrap()
        );
        assert!(seen.starts_with(&expected), "{seen}");
    }
}
