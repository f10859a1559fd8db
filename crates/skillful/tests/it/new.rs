//! `skillful new`

use insta::assert_snapshot;

use crate::world::World;

#[test]
fn a_new_skill_is_valid_and_waits_for_trust() {
    let world = World::new();
    assert_snapshot!(world.run("skillful new weekly-report"), @"
    [world]/project/.agent/skills/weekly-report/SKILL.md
    [stderr]
    Edit it, then run `skillful validate` and `skillful trust project weekly-report`.
    ");
    assert_snapshot!(world.run("skillful validate && skillful validate --standard"), @"
    valid    [world]/project/.agent/skills/weekly-report/SKILL.md
    valid    [world]/project/.agent/skills/weekly-report/SKILL.md
    ");
    assert_snapshot!(world.run("skillful list --source project"), @"
    weekly-report  project   untrusted Say what this skill does and when to use it, in the words of a user.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
    assert_snapshot!(world.read("project/.agent/skills/weekly-report/SKILL.md"), @r#"
    ---
    name: weekly-report
    description: "Say what this skill does and when to use it, in the words of a user."
    license: Apache-2.0
    metadata:
      version: "0.1.0"
    ---

    # weekly report

    ## Goal

    One sentence: the result of this skill.

    ## Inputs and outputs

    - Input: what the skill needs
    - Output: what it gives back, and in which format

    ## Steps

    1. Do the first thing.
    2. Do the next thing.

    ## Failures

    - What can go wrong, how to notice it, and what to do

    ## Checks

    - [ ] How to check that the result is right
    "#);
}

#[test]
fn json_names_the_files() {
    let world = World::new();
    assert_snapshot!(world.run_json("skillful new weekly-report --script --json"), @r#"
    {
      "files": [
        "SKILL.md",
        "scripts/run.sh"
      ],
      "name": "weekly-report",
      "path": "[world]/project/.agent/skills/weekly-report",
      "written": true
    }
    [stderr]
    Edit it, then run `skillful validate` and `skillful trust project weekly-report`.
    "#);
    assert_eq!(world.mode("project/.agent/skills/weekly-report/scripts/run.sh"), 0o755);
    assert_snapshot!(
        world.run("printf 'a\\nb\\n' > two; .agent/skills/weekly-report/scripts/run.sh two | tr -d ' '"),
        @"2"
    );
}

#[test]
fn it_is_put_where_it_belongs() {
    let world = World::new();
    world.write("project/part/file", "");
    assert_snapshot!(world.run("skillful -q new one --scope user"), @"[world]/home/.agent/skills/one/SKILL.md");
    assert_snapshot!(world.run("skillful -q new two --path skills"), @"[world]/project/skills/two/SKILL.md");
    assert_snapshot!(world.run("skillful -q -C part new three"), @"[world]/project/.agent/skills/three/SKILL.md");
    assert_snapshot!(world.run("skillful new four --scope user --path skills"), @"
    [stderr]
    error: the argument '--scope <SCOPE>' cannot be used with '--path <DIR>'

    Usage: skillful new --scope <SCOPE> <NAME>

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn nothing_is_written_over() {
    let world = World::new();
    world.write("project/.agent/skills/mine/notes", "mine");
    assert_snapshot!(world.run("skillful new mine"), @"
    [stderr]
    error: `[world]/project/.agent/skills/mine` already exists
    hint: choose another name, or edit the existing skill
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful new mine --json"), @r#"
    {
      "error": {
        "code": "AlreadyExists",
        "details": null,
        "hint": "choose another name, or edit the existing skill",
        "message": "`[world]/project/.agent/skills/mine` already exists"
      }
    }
    [exit 1]
    "#);
    assert!(!world.path("project/.agent/skills/mine/SKILL.md").exists());
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::new();
    assert_snapshot!(world.run("skillful new draft --dry-run"), @"
    [world]/project/.agent/skills/draft/SKILL.md
    [stderr]
    Nothing was written.
    ");
    assert_eq!(world.json("skillful new draft --dry-run --json")["written"], false);
    assert!(!world.path("project/.agent").exists());
}

#[test]
fn a_name_must_be_one() {
    let world = World::new();
    assert_snapshot!(world.run("skillful new Weekly_Report"), @"
    [stderr]
    error: a skill cannot have the name `Weekly_Report`
    hint: use at most 64 lowercase letters, digits and single hyphens, as in `weekly-report`
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful new ../escape --json"), @r#"
    {
      "error": {
        "code": "InvalidName",
        "details": null,
        "hint": "use at most 64 lowercase letters, digits and single hyphens, as in `weekly-report`",
        "message": "a skill cannot have the name `../escape`"
      }
    }
    [exit 2]
    "#);
    for name in ["-- -a", "a-", "a--b", "''", "a/b", "ä"] {
        assert_eq!(world.output(&format!("skillful new {name}")).status.code(), Some(2), "{name}");
    }
    let longest = "a".repeat(64);
    assert_eq!(world.output(&format!("skillful new {longest}")).status.code(), Some(0));
    assert_eq!(world.output(&format!("skillful new {longest}a")).status.code(), Some(2));
}

#[test]
fn a_description_is_kept_as_it_was_given() {
    let world = World::new();
    let given = "Say \"yes\": it's 100 % \\ #1\n- really\tç 表";
    world.write("given", given);
    world.run("skillful -q new said --description \"$(cat ../given)\"");
    let found = world.json("skillful inspect said --json");
    assert_eq!(found["frontmatter"]["description"], given);
}

#[test]
fn a_description_that_would_be_refused_is_refused() {
    let world = World::new();
    assert_snapshot!(world.run("skillful new tagged --description 'Make <b>bold</b> claims'"), @"
    [stderr]
    error: the value of `description` contains `<` or `>`
    hint: write the text without angle brackets, or set `security.block_angle_brackets_in_frontmatter` to false
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful new empty --description ''"), @"
    [stderr]
    error: no `description`
    hint: add `description:` that says what the skill does and when to use it
    [exit 2]
    ");
    assert!(!world.path("project/.agent").exists());
    let long = "a".repeat(1_025);
    assert_snapshot!(world.run(&format!("skillful new long --description {long}")), @"
    [world]/project/.agent/skills/long/SKILL.md
    [stderr]
    warning: the description has more than 1024 characters
    Edit it, then run `skillful validate` and `skillful trust project long`.
    ");
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let world = World::new();
    world.write("project/file", "");
    assert_snapshot!(world.run("skillful new any --path file/below"), @"
    [stderr]
    error: cannot write `[world]/project/file/below/any/SKILL.md`: Not a directory (os error 20)
    hint: check the path and its permissions
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful new any --path file/below --json"), @r#"
    {
      "error": {
        "code": "IOError",
        "details": null,
        "hint": "check the path and its permissions",
        "message": "cannot write `[world]/project/file/below/any/SKILL.md`: Not a directory (os error 20)"
      }
    }
    [exit 1]
    "#);
}
