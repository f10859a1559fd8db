//! Questions of packs on a real terminal, and what follows from the answers.

use insta::assert_snapshot;

use crate::world::World;

/// A world with a skill that has a script, in a version.
fn world() -> World {
    let world = World::new().with("TERM", "dumb");
    version(&world, "1.0.0");
    world.write("project/demo/scripts/a.sh", "echo a\n");
    world
}

fn version(world: &World, version: &str) {
    let text = format!("---\nname: demo\ndescription: Demo.\nversion: {version}\n---\n# Demo\n");
    world.write("project/demo/SKILL.md", text);
}

const INSTALL: &str = "Install 1 skill? [y/N] ";

#[test]
fn an_install_asks_and_does_as_it_is_told() {
    let world = world();
    for no in ["n", "", "no", "yess"] {
        let seen = world.conversation("skillful install demo", &[(INSTALL, &format!("{no}\n"))]);
        assert!(seen.ends_with("hint: nothing was changed\n[exit 3]\n"), "{no}: {seen}");
        assert!(!world.path("home/.agent").exists(), "{no}");
    }
    assert_snapshot!(world.conversation("skillful install demo", &[(INSTALL, "y\n")]), @"
    warning: demo has a script: scripts/a.sh
    Install 1 skill? [y/N] y
    demo 1.0.0  [world]/home/.agent/skills/demo
    Installed. `skillful verify NAME` checks it again later.
    ");
    assert!(world.path("home/.agent/skills/demo/SKILL.md").exists());
}

#[test]
fn whoever_is_asked_keeps_nobody_waiting_and_agrees_to_what_was_shown() {
    let world = world();
    world.write("project/other/SKILL.md", "---\nname: other\ndescription: Other.\n---\n# Other\n");
    let others = || {
        let done = world.run("skillful install other");
        assert!(done.contains("Installed."), "{done}");
    };
    let seen = world.meanwhile("skillful install demo", INSTALL, others, "y\n", &[]);
    assert!(seen.contains("Installed."), "{seen}");
    // A newer one came in between: the one that was asked about is not put over it.
    let newer = || {
        version(&world, "3.0.0");
        let done = world.run("skillful install demo --force --allow-unsafe");
        assert!(done.contains("demo 3.0.0"), "{done}");
    };
    version(&world, "2.0.0");
    world.run("skillful pack demo -o two.zip");
    let seen = world.meanwhile("skillful install two.zip --force", INSTALL, newer, "y\n", &[]);
    assert!(seen.contains("--allow OlderVersion"), "{seen}");
    assert!(world.read("home/.agent/skills/demo/SKILL.md").contains("3.0.0"));
}

#[test]
fn an_update_shows_what_changes_before_it_asks() {
    let world = world();
    world.run("skillful install demo --allow-unsafe");
    version(&world, "2.0.0");
    world.write("project/demo/scripts/b.sh", "curl https://example.com/b\n");
    world.write("home/.agent/skills/demo/scripts/a.sh", "echo mine\n");
    assert_snapshot!(world.conversation("skillful update", &[(INSTALL, "n\n")]), @"
    demo  1.0.0 to 2.0.0  user, from [world]/project/demo
      new or changed scripts: scripts/b.sh
      new addresses: https://example.com/b
      added: scripts/b.sh
      changed: SKILL.md
      changed by you; yours stays: scripts/a.sh
    warning: demo has 2 scripts: scripts/a.sh and 1 more
    Install 1 skill? [y/N] n
    error: nothing was installed
    hint: nothing was changed
    [exit 3]
    ");
    assert!(world.read("home/.agent/skills/demo/SKILL.md").contains("1.0.0"));
    let seen = world.conversation("skillful update", &[(INSTALL, "yes\n")]);
    assert!(seen.ends_with("Updated.\n"), "{seen}");
    assert!(world.read("home/.agent/skills/demo/SKILL.md").contains("2.0.0"));
    assert_eq!(world.read("home/.agent/skills/demo/scripts/a.sh"), "echo mine\n");
}

#[test]
fn a_password_is_asked_for_and_never_shown() {
    let world = world();
    let (new, again) = ("New password (empty for none): ", "Once more: ");
    let seen = world.conversation("skillful keygen key", &[(new, "s3cret\n"), (again, "other\n")]);
    assert!(seen.contains("the two passwords differ") && !seen.contains("s3cret"), "{seen}");
    assert!(!world.path("project/key.sec").exists());
    let seen = world.conversation("skillful keygen key", &[(new, "s3cret\n"), (again, "s3cret\n")]);
    assert!(!seen.contains("s3cret") && !seen.contains("[exit"), "{seen}");
    world.run("skillful pack demo -o demo.zip");
    let sign = "skillful sign demo.zip --key key.sec";
    assert_snapshot!(world.conversation(sign, &[("Password of the key: ", "s3cret\n")]), @"
    Password of the key: 
    [world]/project/demo.zip  demo@1.0.0
    ");
    world.run("skillful trust key key.pub --name us");
    assert_eq!(world.json("skillful verify demo.zip --json")["signer"]["name"], "us");
}

const AUTHOR: &str = "Do you write the skills in this workspace yourself?";
const NEW: &str = "skillful new mine --description 'Mine.'";

#[test]
fn who_writes_the_first_skill_is_asked_whether_the_skills_are_theirs() {
    let world = World::new().with("TERM", "dumb");
    world.write("project/.git/HEAD", "");
    let seen = world.conversation(NEW, &[(AUTHOR, "y\n")]);
    assert!(seen.contains("Edit it, then run `skillful validate`."), "{seen}");
    let list = world.run("skillful list");
    assert!(list.contains("mine") && !list.contains("not trusted"), "{list}");
    let seen = world.conversation("skillful new more --description 'More.'", &[]);
    assert!(!seen.contains(AUTHOR), "asked twice: {seen}");
}

#[test]
fn nobody_is_asked_so_where_a_project_brings_something_of_its_own() {
    let cases = [
        (".agent/evals/a.yaml", "id: a\n"),
        (".agent/skills.lock", "version = 1\n"),
        (".agent/skills/other/SKILL.md", "---\nname: other\ndescription: Other.\n---\n"),
    ];
    for (file, text) in cases {
        let world = World::new().with("TERM", "dumb");
        world.write("project/.git/HEAD", "");
        world.write(&format!("project/{file}"), text);
        let seen = world.conversation(NEW, &[]);
        assert!(!seen.contains(AUTHOR), "{file}: {seen}");
        assert!(seen.contains("`skillful trust project mine`"), "{file}: {seen}");
    }
}
