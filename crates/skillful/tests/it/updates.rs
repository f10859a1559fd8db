//! What the lockfile says, brought back; what the sources have now, brought in.

use insta::assert_snapshot;
use serde_json::Value;
use skill::lock::{LockedSkill, Lockfile};

use crate::world::World;
use crate::world::packs::{key, packed, refusal, skill, works};

#[test]
fn the_lockfile_is_reproduced_exactly_or_not_at_all() {
    let world = packed();
    works(&world, "install demo.zip --scope project");
    let lockfile = world.read("project/.agent/skills.lock");
    assert!(lockfile.contains("\"source\": \"demo.zip\""), "{lockfile}");
    world.run("rm -r .agent/skills");
    works(&world, "install --locked --scope project");
    assert_eq!(world.read("project/.agent/skills.lock"), lockfile);
    works(&world, "verify demo --scope project");
    assert_eq!(
        works(&world, "install --locked --scope project")["installed"],
        Value::Array(Vec::new())
    );
    skill(&world, "project/demo", "demo", "1.0.0", "# Other");
    world.run("skillful pack demo -o demo.zip --force && rm -r .agent/skills");
    assert_eq!(refusal(&world, "install --locked --scope project"), ("NotAsLocked".to_owned(), 4));
    assert_eq!(
        refusal(&world, "install demo.zip --locked --scope project"),
        ("NotAsLocked".to_owned(), 4)
    );
    assert!(!world.path("project/.agent/skills/demo").exists());
}

#[test]
fn a_signature_is_reproduced_too() {
    let world = packed();
    key(&world, "k");
    works(&world, "trust key k.pub --name us");
    world.run("cp demo.zip unsigned.zip");
    works(&world, "sign demo.zip --key k.sec");
    works(&world, "install demo.zip --scope project");
    let lockfile = world.read("project/.agent/skills.lock");
    // Without what was kept of the pack it cannot be verified any more.
    world.run("rm -r .agent/skills/.packs");
    works(&world, "install --locked --scope project --force");
    works(&world, "verify demo --scope project");
    world.run("rm -r .agent/skills && cp demo.zip signed.zip && cp unsigned.zip demo.zip");
    for line in ["install --locked", "install --locked --dry-run", "install demo.zip --locked"] {
        let line = format!("{line} --scope project");
        assert_eq!(refusal(&world, &line), ("NotAsLocked".to_owned(), 4), "{line}");
    }
    // The same files in another pack have another manifest.
    skill(&world, "project/other", "other", "1.0.0", "# Other");
    world.run("skillful pack demo other -o demo.zip --sign k.sec --force");
    assert_eq!(refusal(&world, "install --locked --scope project"), ("NotAsLocked".to_owned(), 4));
    assert!(!world.path("project/.agent/skills/demo").exists());
    assert_eq!(world.read("project/.agent/skills.lock"), lockfile);
    world.run("cp signed.zip demo.zip");
    works(&world, "install --locked --scope project");
    assert_eq!(world.read("project/.agent/skills.lock"), lockfile);
}

#[test]
fn all_sources_are_compared_with_the_lockfile_before_the_first_change() {
    let world = World::new();
    for name in ["one", "two"] {
        skill(&world, &format!("project/{name}"), name, "1.0.0", "# One");
        works(&world, &format!("install {name} --scope project"));
    }
    world.run("rm -r .agent/skills");
    assert_snapshot!(world.run("skillful install --locked --scope project --dry-run"), @"
    one 1.0.0  [world]/project/.agent/skills/one
    two 1.0.0  [world]/project/.agent/skills/two
    [stderr]
    Nothing was written.
    ");
    assert_snapshot!(world.run("skillful install --locked --scope project --skill three"), @"
    [stderr]
    error: the lockfile has no skill `three`
    hint: it has one, two
    [exit 1]
    ");
    skill(&world, "project/two", "two", "1.0.0", "# Two");
    assert_snapshot!(world.run("skillful install --locked --scope project"), @"
    [stderr]
    error: `two`: the content differs from the lockfile: its files differ
    hint: install without --locked to accept the new content
    [exit 4]
    ");
    assert!(!world.path("project/.agent/skills").exists());
    works(&world, "install --locked --scope project --skill one");
    assert!(world.path("project/.agent/skills/one").exists());
}

#[test]
fn an_update_shows_what_changes_and_keeps_what_was_edited() {
    let world = packed();
    works(&world, "install demo.zip");
    assert_snapshot!(world.run("skillful outdated"), @"
    [stderr]
    Everything is up to date.
    ");
    skill(&world, "project/demo", "demo", "1.1.0", "# Demo\nSee https://example.com/new.");
    world
        .write("project/demo/scripts/run.sh", "echo new")
        .write("project/demo/references/a.md", "theirs");
    world.run("skillful pack demo -o demo.zip --force");
    world
        .write("home/.agent/skills/demo/references/a.md", "mine")
        .write("home/.agent/skills/demo/notes.md", "mine too");
    assert_snapshot!(world.run("skillful outdated"), @"
    demo  1.0.0 to 1.1.0  user, from [world]/project/demo.zip
      new or changed scripts: scripts/run.sh
      new addresses: https://example.com/new
      changed by you and by the update: references/a.md
      added: scripts/run.sh
      changed: SKILL.md, references/a.md
      changed by you; yours stays: references/a.md, notes.md
    ");
    assert_snapshot!(world.run("skillful update"), @"
    [stderr]
    warning: you and the update both changed demo/references/a.md; yours stays (use --force to take theirs)
    demo  1.0.0 to 1.1.0  user, from [world]/project/demo.zip
      new or changed scripts: scripts/run.sh
      new addresses: https://example.com/new
      changed by you and by the update: references/a.md
      added: scripts/run.sh
      changed: SKILL.md, references/a.md
      changed by you; yours stays: references/a.md, notes.md
    warning: demo has a script: scripts/run.sh
    error: `demo`: it needs your approval: it has a script: scripts/run.sh
    hint: look at it first, then add --allow-unsafe
    [exit 4]
    ");
    assert_snapshot!(world.run("skillful update --allow-unsafe"), @"
    demo  1.0.0 to 1.1.0  user, from [world]/project/demo.zip
      new or changed scripts: scripts/run.sh
      new addresses: https://example.com/new
      changed by you and by the update: references/a.md
      added: scripts/run.sh
      changed: SKILL.md, references/a.md
      changed by you; yours stays: references/a.md, notes.md
    [stderr]
    warning: you and the update both changed demo/references/a.md; yours stays (use --force to take theirs)
    warning: demo has a script: scripts/run.sh
    Updated.
    ");
    assert_eq!(world.read("home/.agent/skills/demo/references/a.md"), "mine");
    assert_eq!(world.read("home/.agent/skills/demo/notes.md"), "mine too");
    assert_eq!(world.read("home/.agent/skills/demo/scripts/run.sh"), "echo new");
    assert_eq!(refusal(&world, "verify demo --scope user"), ("WrongSize".to_owned(), 4));
    works(&world, "install demo.zip --force --allow-unsafe");
    works(&world, "verify demo --scope user");
}

#[test]
fn what_is_wrong_with_one_skill_does_not_stop_the_others() {
    let world = World::new();
    for name in ["gone", "good", "moved", "unsafe"] {
        skill(&world, &format!("project/{name}"), name, "1.0.0", "# One");
        works(&world, &format!("install {name}"));
        skill(&world, &format!("project/{name}"), name, "2.0.0", "# Two");
    }
    world.write("project/unsafe/scripts/a.sh", "echo a");
    world.run("mv moved elsewhere && rm -r ../home/.agent/skills/gone");
    assert_snapshot!(world.run("skillful outdated"), @"
    good  1.0.0 to 2.0.0  user, from [world]/project/good
      changed: SKILL.md
    unsafe  1.0.0 to 2.0.0  user, from [world]/project/unsafe
      new or changed scripts: scripts/a.sh
      added: scripts/a.sh
      changed: SKILL.md
    moved  failed: `[world]/project/moved` does not exist
      use a zip file, a folder, a git repository (`REPOSITORY#REF//FOLDER`) or an https address
    gone  failed: cannot read `[world]/home/.agent/skills/gone`: No such file or directory (os error 2)
      `skillful install --locked` brings it back; `skillful uninstall` removes it from the lockfile
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful update"), @"
    good  1.0.0 to 2.0.0  user, from [world]/project/good
      changed: SKILL.md
    moved  failed: `[world]/project/moved` does not exist
      use a zip file, a folder, a git repository (`REPOSITORY#REF//FOLDER`) or an https address
    gone  failed: cannot read `[world]/home/.agent/skills/gone`: No such file or directory (os error 2)
      `skillful install --locked` brings it back; `skillful uninstall` removes it from the lockfile
    unsafe  failed: `unsafe`: it needs your approval: it has a script: scripts/a.sh
      look at it first, then add --allow-unsafe
    [stderr]
    unsafe  1.0.0 to 2.0.0  user, from [world]/project/unsafe
      new or changed scripts: scripts/a.sh
      added: scripts/a.sh
      changed: SKILL.md
    warning: unsafe has a script: scripts/a.sh
    Updated.
    [exit 4]
    ");
    assert!(world.read("home/.agent/skills/good/SKILL.md").contains("# Two"));
    assert!(world.read("home/.agent/skills/unsafe/SKILL.md").contains("# One"));
    let again = world.json("skillful update --json");
    let codes: Vec<_> =
        again["failed"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["SourceNotFound", "NotAsInstalled", "Unsafe"], "{again}");
    // A folder that is gone can be forgotten, or brought back.
    assert_snapshot!(world.run("skillful uninstall gone"), @"
    gone  [world]/home/.agent/skills/gone
    [stderr]
    Its folder was already gone; the lockfile no longer lists it.
    ");
    assert_eq!(refusal(&world, "update gone"), ("NotInstalled".to_owned(), 1));
}

#[test]
fn several_skills_of_a_source_are_looked_at_one_by_one() {
    let world = World::new();
    for name in ["one", "two", "three"] {
        skill(&world, &format!("project/all/{name}"), name, "1.0.0", "# One");
    }
    works(&world, "install all");
    skill(&world, "project/all/one", "one", "2.0.0", "# Two");
    world.run("rm -r all/two ../home/.agent/skills/three");
    assert_snapshot!(world.run("skillful update"), @"
    one  1.0.0 to 2.0.0  user, from [world]/project/all
      changed: SKILL.md
    three  failed: cannot read `[world]/home/.agent/skills/three`: No such file or directory (os error 2)
      `skillful install --locked` brings it back; `skillful uninstall` removes it from the lockfile
    two  failed: `two` is no longer in `[world]/project/all`
      uninstall it, or install it from another source
    [stderr]
    Updated.
    [exit 1]
    ");
    assert!(world.read("home/.agent/skills/one/SKILL.md").contains("# Two"));
}

#[test]
fn what_is_no_file_keeps_no_update_waiting() {
    let world = packed();
    works(&world, "install demo.zip");
    skill(&world, "project/demo", "demo", "2.0.0", "# Two");
    world.run("skillful pack demo -o demo.zip --force");
    world.write("secret", "mine");
    for odd in ["mkfifo odd", "ln -s ../../../../secret odd", "rm SKILL.md; mkfifo SKILL.md"] {
        world.run(&format!("cd ../home/.agent/skills/demo && rm -f odd && {odd}"));
        assert_eq!(works(&world, "outdated")["outdated"][0]["name"], "demo");
        assert_eq!(refusal(&world, "update"), ("NotAFile".to_owned(), 1), "{odd}");
    }
    works(&world, "update --force");
    assert!(!world.path("home/.agent/skills/demo/odd").exists());
    works(&world, "verify demo --scope user");
}

#[test]
fn a_conflict_that_was_kept_is_not_forgotten() {
    let world = packed();
    works(&world, "install demo.zip");
    world.write("home/.agent/skills/demo/references/a.md", "mine");
    world.write("project/demo/references/a.md", "theirs");
    skill(&world, "project/demo", "demo", "2.0.0", "# Two");
    world.run("skillful pack demo -o demo.zip --force");
    works(&world, "update");
    assert_snapshot!(world.run("skillful outdated"), @"
    demo  2.0.0 to 2.0.0  user, from [world]/project/demo.zip
      changed by you; yours stays: references/a.md
    ");
    assert_snapshot!(world.run("skillful update"), @"
    demo  2.0.0 to 2.0.0  user, from [world]/project/demo.zip
      changed by you; yours stays: references/a.md
    [stderr]
    Nothing is new. Your changes stay; --force replaces them.
    ");
    assert_eq!(world.read("home/.agent/skills/demo/references/a.md"), "mine");
    works(&world, "update --force");
    assert_eq!(world.read("home/.agent/skills/demo/references/a.md"), "theirs");
    assert_eq!(works(&world, "outdated")["outdated"], Value::Array(Vec::new()));
}

#[test]
fn a_source_that_only_the_project_knows_is_neither_asked_nor_read() {
    let world = packed();
    works(&world, "install demo.zip --scope project");
    assert_eq!(works(&world, "outdated")["failed"], Value::Array(Vec::new()));
    // A clone has the same lockfile, and a folder of mine can be named in it.
    world.run("mkdir -p ../clone && cp -r .agent demo.zip ../clone");
    skill(&world, "home/private/demo", "demo", "2.0.0", "# Mine");
    world.write("home/private/demo/.env", "KEY=1");
    let there = |line: &str| world.json(&format!("cd ../clone && skillful --json {line}"));
    for line in ["outdated", "update", "update demo"] {
        let failed = &there(line)["failed"][0];
        assert_eq!(failed["code"], "SourceUntrusted", "{line}: {failed}");
    }
    // Nor is it where the skill itself is missing.
    world.run(
        "mkdir -p ../bare/.agent && cp .agent/skills.lock ../bare/.agent && cp demo.zip ../bare",
    );
    let bare = |line: &str| world.json(&format!("cd ../bare && skillful --json {line}"));
    for line in ["install --locked --scope project", "install --locked --scope project --dry-run"] {
        assert_eq!(bare(line)["error"]["code"], "SourceUntrusted", "{line}");
    }
    assert_snapshot!(world.run("cd ../bare && skillful trust project demo"), @"
      demo  not installed, from demo.zip
    [stderr]
    Trusted as they are now. If a file changes or a skill is new, Skillful asks again.
    ");
    assert_eq!(bare("install --locked --scope project")["installed"][0]["name"], "demo");
    assert_snapshot!(world.run("cd ../clone && skillful trust project"), @"
    [world]/clone/.agent/skills
      demo  new, from demo.zip
    [stderr]
    Trusted as they are now. If a file changes or a skill is new, Skillful asks again.
    ");
    assert_eq!(there("outdated")["failed"], Value::Array(Vec::new()));
    // Another source is another question, even where the files are the same.
    let mut lockfile = Lockfile::parse(world.read("clone/.agent/skills.lock").as_bytes()).unwrap();
    let known = lockfile.get("demo").unwrap().clone();
    lockfile.insert(LockedSkill { source: "../home/private".to_owned(), ..known });
    let moved = String::from_utf8(lockfile.to_bytes()).unwrap();
    world.write("clone/.agent/skills.lock", moved);
    assert_eq!(there("update")["failed"][0]["code"], "SourceUntrusted");
    assert!(!world.path("clone/.agent/skills/demo/.env").exists());
    // Whoever writes the workspace stands behind its lockfile, too.
    world.run("cd ../clone && skillful trust project --author");
    assert_eq!(there("outdated")["outdated"][0]["available"], "2.0.0");
}
