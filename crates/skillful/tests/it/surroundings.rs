//! Machines that are not as they should be: closed pipes, full disks, no home.

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let world = World::new();
    for number in 0..2_000 {
        world.skill(&format!("home/.agent/skills/skill-{number}"), "One of many.");
    }
    for line in ["list", "list --json", "search many --limit 2000", "validate", "completions zsh"] {
        let piped = format!("(skillful -q {line}; echo exit $? >&2) | head -c 1 >/dev/null");
        assert_eq!(world.run(&piped), "[stderr]\nexit 0\n", "{line}");
    }
}

#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let world = World::new();
    assert_snapshot!(world.run("skillful list > /dev/full"), @"
    [stderr]
    error: No space left on device (os error 28)
    hint: check that the output still exists and has space
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful list --json > /dev/full"), @"
    [stderr]
    error: No space left on device (os error 28)
    hint: check that the output still exists and has space
    [exit 1]
    ");
}

#[test]
fn without_a_home_only_what_needs_one_fails() {
    let world = World::new().with("HOME", "");
    world.skill("project/.agent/skills/deploy", "Deploy.");
    assert_snapshot!(world.run("skillful list --source project"), @"
    deploy  project   untrusted Deploy.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
    assert_snapshot!(world.run("skillful trust project"), @"
    [stderr]
    error: you have no home directory, so trust cannot be stored
    hint: set HOME
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful untrust"), @"
    [stderr]
    error: you have no home directory, so trust cannot be stored
    hint: set HOME
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful new mine --scope user"), @"
    [stderr]
    error: you have no home directory
    hint: set HOME, or use --path
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful config init --user"), @"
    [stderr]
    error: you have no home directory
    hint: set HOME
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful doctor | grep -A 1 cache"), @"
    warning  cache: you have no home directory, so nothing is cached between starts
             set HOME or XDG_CACHE_HOME
    ");
    assert_eq!(world.output("skillful search deploy; skillful refresh").status.code(), Some(0));
}

#[test]
fn a_home_that_is_no_folder_is_no_home() {
    let world = World::new();
    world.write("file", "");
    let file = world.path("file");
    let world = world.with("HOME", file);
    assert_snapshot!(world.run("skillful list | cut -d ' ' -f 1"), @"
    csv-report
    data-cleanup
    file-organizer
    git-release-notes
    skill-author
    text-stats
    ");
    assert_snapshot!(world.run("skillful config init --user"), @"
    [stderr]
    error: you have no home directory
    hint: set HOME
    [exit 2]
    ");
}

#[test]
fn a_home_that_does_not_exist_yet_is_made() {
    let world = World::new();
    let home = world.path("later");
    let world = world.with("HOME", home);
    assert_snapshot!(world.run("skillful new mine --scope user && skillful list --source user"), @"
    [world]/later/.agent/skills/mine/SKILL.md
    mine  user      Say what this skill does and when to use it, in the words of a user.
    [stderr]
    Edit it, then run `skillful validate`.
    ");
}

#[test]
fn a_home_that_cannot_be_read_is_an_error_with_a_hint() {
    let world = World::new();
    // A link to itself cannot be read by anybody, not even by root.
    world.link("home/.agent", ".agent");
    assert_snapshot!(world.run("skillful list"), @"
    [stderr]
    error: cannot read `[world]/home/.agent/config.json`: Too many levels of symbolic links (os error 40)
    hint: check the file's permissions
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful list --json"), @r#"
    {
      "error": {
        "code": "InvalidConfiguration",
        "details": null,
        "hint": "check the file's permissions",
        "message": "cannot read `[world]/home/.agent/config.json`: Too many levels of symbolic links (os error 40)"
      }
    }
    [exit 2]
    "#);
}

#[test]
fn a_relative_home_is_no_home() {
    let world = World::new().with("HOME", "relative");
    assert_snapshot!(world.run("skillful new mine --scope user"), @"
    [stderr]
    error: you have no home directory
    hint: set HOME, or use --path
    [exit 2]
    ");
}

#[test]
fn the_cache_can_be_put_elsewhere() {
    let world = World::new();
    world.skill("home/.agent/skills/mine", "Mine.");
    let elsewhere = world.path("cache");
    let world = world.with("XDG_CACHE_HOME", elsewhere);
    world.run("skillful list");
    assert!(world.path("cache/skillful").is_dir());
    assert!(!world.path("home/.cache").exists());
}

#[test]
fn a_working_directory_that_is_gone_is_said() {
    let world = World::new();
    assert_snapshot!(world.run("mkdir ../gone; cd ../gone; rmdir ../gone; skillful list"), @"
    [stderr]
    error: cannot work in `.`: No such file or directory (os error 2)
    hint: give a folder that exists with -C
    [exit 2]
    ");
}
