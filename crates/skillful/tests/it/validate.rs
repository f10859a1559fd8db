//! `skillful validate`

use insta::assert_snapshot;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.skill("project/.agent/skills/good", "Good.");
    world.write("project/.agent/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    world.write(
        "project/.agent/skills/Odd/SKILL.md",
        "---\nname: Odd_Name\ndescription: Odd.\nmodel: fast\n---\n",
    );
    world
}

#[test]
fn the_skills_of_the_project_and_the_user_are_checked() {
    let world = world();
    world.skill("home/.agent/skills/mine", "Mine.");
    assert_snapshot!(world.run("skillful validate"), @"
    valid    [world]/home/.agent/skills/mine/SKILL.md
    valid    [world]/project/.agent/skills/Odd/SKILL.md
      warning  the name must have only lowercase letters, digits and hyphens
      warning  the name `Odd_Name` differs from the folder's name `Odd`
    invalid  [world]/project/.agent/skills/broken/SKILL.md
      error    no `description` (missing-description): add `description:` that says what the skill does and when to use it
    valid    [world]/project/.agent/skills/good/SKILL.md
    [stderr]
    4 skills checked, 1 invalid.
    [exit 1]
    ");
}

#[test]
fn json_has_exactly_the_promised_fields() {
    assert_snapshot!(world().run_json("skillful validate --json"), @r#"
    {
      "skills": [
        {
          "errors": [],
          "path": "[world]/project/.agent/skills/Odd/SKILL.md",
          "warnings": [
            "the name must have only lowercase letters, digits and hyphens",
            "the name `Odd_Name` differs from the folder's name `Odd`"
          ]
        },
        {
          "errors": [
            "no `description` (missing-description): add `description:` that says what the skill does and when to use it"
          ],
          "path": "[world]/project/.agent/skills/broken/SKILL.md",
          "warnings": []
        },
        {
          "errors": [],
          "path": "[world]/project/.agent/skills/good/SKILL.md",
          "warnings": []
        }
      ],
      "valid": false
    }
    [stderr]
    3 skills checked, 1 invalid.
    [exit 1]
    "#);
}

#[test]
fn the_standard_has_its_own_rules() {
    let world = world();
    assert_snapshot!(world.run("skillful validate --standard"), @"
    invalid  [world]/project/.agent/skills/Odd/SKILL.md
      error    unexpected fields: model; the standard has only allowed-tools, compatibility, description, license, metadata, name
      error    the name `Odd_Name` must be lowercase
      error    the name `Odd_Name` must have only letters, digits and hyphens
      error    the folder must have the skill's name: `Odd` is not `Odd_Name`
    invalid  [world]/project/.agent/skills/broken/SKILL.md
      error    missing field: description
    valid    [world]/project/.agent/skills/good/SKILL.md
    [stderr]
    3 skills checked, 2 invalid.
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful validate --standard --json .agent/skills/good"), @r#"
    {
      "skills": [
        {
          "errors": [],
          "path": "[world]/project/.agent/skills/good/SKILL.md",
          "warnings": []
        }
      ],
      "valid": true
    }
    "#);
}

#[test]
fn a_departure_of_the_reference_is_a_warning() {
    let world = World::new();
    world.write(
        "project/flow/SKILL.md",
        "---\nname: flow\ndescription: A --- inside.\nmetadata: {a: b}\n---\n",
    );
    assert_snapshot!(world.run("skillful validate --standard flow"), @"
    valid    [world]/project/flow/SKILL.md
      warning  the reference validator refuses flow style (`[…]`, `{…}`), but YAML allows it
      warning  the reference validator ends the frontmatter at the `---` inside a value
    ");
}

#[test]
fn a_skill_can_be_named_by_its_folder_or_its_file() {
    let world = world();
    for path in ["good", "good/SKILL.md", "good/"] {
        let shown = world.run(&format!("skillful validate .agent/skills/{path}"));
        assert_eq!(shown, "valid    [world]/project/.agent/skills/good/SKILL.md\n");
    }
}

#[test]
fn several_folders_can_be_checked_at_once() {
    let world = world();
    world.skill("elsewhere/other/nested", "Nested.");
    assert_snapshot!(world.run("skillful validate .agent/skills/good ../elsewhere"), @"
    valid    [world]/elsewhere/other/nested/SKILL.md
    valid    [world]/project/.agent/skills/good/SKILL.md
    [stderr]
    2 skills checked, 0 invalid.
    ");
}

#[test]
fn copies_of_one_name_are_all_checked() {
    let world = World::new();
    world.skill("one/same", "First.");
    world.write("two/same/SKILL.md", "---\nname: same\ndescription: a <b> c\n---\n");
    world.skill("three/same", "Third.");
    assert_snapshot!(world.run("skillful validate ../one ../two ../three"), @"
    valid    [world]/one/same/SKILL.md
    valid    [world]/three/same/SKILL.md
    invalid  [world]/two/same/SKILL.md
      error    the value of `description` contains `<` or `>` (angle-brackets): write the text without angle brackets, or set `security.block_angle_brackets_in_frontmatter` to false
    [stderr]
    3 skills checked, 1 invalid.
    [exit 1]
    ");
}

#[test]
fn where_there_is_nothing_that_is_said() {
    let world = World::new();
    world.write("project/empty/readme", "");
    assert_snapshot!(world.run("skillful validate"), @"
    [stderr]
    error: there is no skill here
    hint: give a folder that contains a SKILL.md, or create a skill with `skillful new NAME`
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful validate empty"), @"
    [stderr]
    error: there is no skill there
    hint: give a folder that contains a SKILL.md, or create a skill with `skillful new NAME`
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful validate nowhere"), @"
    [stderr]
    error: there is no `[world]/project/nowhere`
    hint: check the path
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful validate empty/readme"), @"
    [stderr]
    error: `[world]/project/empty/readme` is not a skill
    hint: give a folder or a SKILL.md
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful validate nowhere --json"), @r#"
    {
      "error": {
        "code": "SkillNotFound",
        "details": null,
        "hint": "check the path",
        "message": "there is no `[world]/project/nowhere`"
      }
    }
    [exit 1]
    "#);
}

#[test]
fn a_body_over_the_limit_is_a_warning_or_an_error() {
    let world = World::new();
    let long = "---\nname: long\ndescription: Long.\n---\n".to_owned() + &"line\n".repeat(600);
    world.write("project/long/SKILL.md", long);
    assert_snapshot!(world.run("skillful validate long"), @"
    valid    [world]/project/long/SKILL.md
      warning  the body is too long, so a model sees only parts of it; move details to references/
    ");
    let world = world.with("SKILLFUL_SECURITY_OVERSIZE_SKILL_BODY", "reject");
    assert_snapshot!(world.run("skillful validate long"), @"
    invalid  [world]/project/long/SKILL.md
      error    the body of `long` has 600 lines and 3000 characters, the limits are 500 and 40000: move details to files under references/ and name them in the body
    [exit 1]
    ");
    // The standard does not limit bodies.
    assert_snapshot!(world.run("skillful validate --standard long"), @"valid    [world]/project/long/SKILL.md");
}

#[test]
fn links_in_circles_and_pipes_are_passed_by() {
    let world = World::new();
    world.skill("project/skills/good", "Good.");
    world.link("project/skills/one/around", "..");
    world.link("project/skills/two/around", "../..");
    world.run("mkdir skills/pipe && mkfifo skills/pipe/SKILL.md");
    assert_snapshot!(world.run("skillful validate --standard skills"), @"
    valid    [world]/project/skills/good/SKILL.md
    invalid  [world]/project/skills/one/around
      error    the link leads to a folder above itself (link-cycle): remove the link
    invalid  [world]/project/skills/pipe/SKILL.md
      error    SKILL.md is not a regular file (not-a-file): replace it with a regular file
    invalid  [world]/project/skills/two/around
      error    the link leads to a folder above itself (link-cycle): remove the link
    [stderr]
    4 skills checked, 3 invalid.
    [exit 1]
    ");
}

#[test]
fn the_built_in_skills_keep_every_rule() {
    let world = World::new();
    let builtin = world.json("skillful list --source builtin --json");
    for skill in builtin["skills"].as_array().unwrap() {
        let name = skill["name"].as_str().unwrap();
        for file in skill::builtin::files(name).unwrap() {
            world.write(&format!("project/skills/{name}/{}", file.path), file.bytes);
        }
    }
    for rules in ["", "--standard"] {
        let validation = world.json(&format!("skillful validate --json {rules} skills"));
        assert_eq!(validation["valid"], true, "{validation:#}");
        for skill in validation["skills"].as_array().unwrap() {
            assert_eq!(skill["warnings"], serde_json::json!([]), "{skill:#}");
        }
    }
}

#[test]
fn a_manifest_in_lowercase_is_refused_and_the_references_verdict_is_told() {
    let world = World::new();
    world.write("project/skills/a/skill.md", "---\nname: a\ndescription: b\n---\n");
    assert_snapshot!(world.run("skillful validate skills"), @"
    invalid  [world]/project/skills/a/skill.md
      error    the file is called `skill.md`, not `SKILL.md` (wrong-case): rename the file to SKILL.md
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful validate --standard skills"), @"
    invalid  [world]/project/skills/a/skill.md
      error    the file is called `skill.md`, not `SKILL.md` (wrong-case): rename the file to SKILL.md
      warning  the reference validator accepts `skill.md`
    [exit 1]
    ");
}

#[test]
fn angle_brackets_are_refused_only_where_a_model_sees_them() {
    let world = World::new();
    let skill = |name: &str, fields: &str| {
        let text = format!("---\nname: {name}\n{fields}\n---\n");
        world.write(&format!("project/skills/{name}/SKILL.md"), text);
    };
    skill("about", "description: Reads <b>.");
    skill("hint", "description: Reads.\nargument-hint: <file>\nauthor: Ann <ann@example.org>");
    skill("nested", "description: Reads.\nmetadata:\n  requires:\n    - torch>=2.0");
    skill("when", "description: Reads.\nwhen_to_use: for <system> files");
    assert_snapshot!(world.run("skillful validate skills"), @"
    invalid  [world]/project/skills/about/SKILL.md
      error    the value of `description` contains `<` or `>` (angle-brackets): write the text without angle brackets, or set `security.block_angle_brackets_in_frontmatter` to false
    valid    [world]/project/skills/hint/SKILL.md
      warning  `<` or `>` in `argument-hint` is kept: a model does not see this field
      warning  `<` or `>` in `author` is kept: a model does not see this field
    valid    [world]/project/skills/nested/SKILL.md
      warning  `<` or `>` in `metadata` is kept: a model does not see this field
    invalid  [world]/project/skills/when/SKILL.md
      error    the value of `when_to_use` contains `<` or `>` (angle-brackets): write the text without angle brackets, or set `security.block_angle_brackets_in_frontmatter` to false
    [stderr]
    4 skills checked, 2 invalid.
    [exit 1]
    ");
    let listed = world.json("skillful list --root skills --source explicit --json");
    let names: Vec<_> = listed["skills"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["hint", "nested"]);
    assert_eq!(listed["skills"][0]["meta"]["author"], "Ann <ann@example.org>");
}

#[test]
fn a_skill_without_a_name_has_its_folders() {
    let world = World::new();
    world
        .write("home/.agent/skills/tidy-up/SKILL.md", "---\ndescription: Tidies up.\n---\nTidy.\n");
    world.write("home/.agent/skills/a<b>/SKILL.md", "---\ndescription: Odd.\n---\n");
    assert_snapshot!(world.run("skillful validate"), @"
    invalid  [world]/home/.agent/skills/a<b>/SKILL.md
      error    the value of `name` contains `<` or `>` (angle-brackets): write the text without angle brackets, or set `security.block_angle_brackets_in_frontmatter` to false
    valid    [world]/home/.agent/skills/tidy-up/SKILL.md
      warning  no `name`, so the folder's name is used
    [stderr]
    2 skills checked, 1 invalid.
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful list --source user"), @"
    tidy-up  user      Tidies up.
    [stderr]
    Left out: 1. `skillful doctor` shows why, and how to fix it.
    ");
    assert!(world.run("skillful inspect tidy-up --show-body").contains("Tidy."));
    assert_snapshot!(world.run("skillful validate --standard ../home/.agent/skills/tidy-up"), @"
    invalid  [world]/home/.agent/skills/tidy-up/SKILL.md
      error    missing field: name
    [exit 1]
    ");
}
