//! `skillful list` and `skillful refresh`

mod world;

use insta::assert_snapshot;
use world::World;

/// A project's skill, a user's skill, and one of the user's that the model may not choose.
fn world() -> World {
    let world = World::new();
    world.skill("project/.agent/skills/deploy", "Deploy the service. Use when asked to release.");
    world.skill("home/.agent/skills/letters", "Write letters.");
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: For my eyes only.\ndisable-model-invocation: true\n---\n",
    );
    world
}

#[test]
fn an_empty_home_has_the_built_in_skills() {
    assert_snapshot!(World::new().run("skillful list | cut -d ' ' -f 1"), @"
    csv-report
    git-release-notes
    skill-author
    text-stats
    ");
}

#[test]
fn text_has_a_line_for_each_skill_by_name() {
    assert_snapshot!(world().run("for source in project user; do skillful list --source $source; done"), @"
    deploy  project   untrusted Deploy the service. Use when asked to release.
    letters  user      Write letters.
    secret   user      hidden For my eyes only.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then `skillful trust project NAME`.
    ");
}

#[test]
fn json_is_the_entries_and_the_report() {
    assert_snapshot!(world().run_json("skillful list --json --source project"), @r#"
    {
      "report": {
        "bytes_read": 91,
        "conflicts": [],
        "found": 1,
        "ignored": [],
        "index_hash": "sha256:[hash]",
        "roots": [
          {
            "cache": "cold",
            "milliseconds": 0,
            "path": "[world]/project/.agent/skills",
            "priority": 0,
            "source": "project",
            "valid": 1
          }
        ],
        "valid": 1
      },
      "skills": [
        {
          "controls": {
            "allowed_tools": null,
            "disable_model_invocation": false,
            "run_mode": "inline",
            "user_invocable": true
          },
          "description": "Deploy the service. Use when asked to release.",
          "diagnostics": [],
          "id": "project/deploy",
          "meta": {
            "author": null,
            "compatibility": null,
            "license": null,
            "version": null
          },
          "name": "deploy",
          "path": "[world]/project/.agent/skills/deploy",
          "source": "project",
          "trusted": false
        }
      ]
    }
    "#);
}

#[test]
fn no_skills_is_not_an_error() {
    let world = World::new();
    assert_snapshot!(world.run("skillful list --source project"), @"
    [stderr]
    No skills found. `skillful new NAME` makes one.
    ");
    assert_snapshot!(world.run_json("skillful list --source project --json"), @r#"
    {
      "report": {
        "bytes_read": 0,
        "conflicts": [],
        "found": 0,
        "ignored": [],
        "index_hash": "sha256:[hash]",
        "roots": [],
        "valid": 0
      },
      "skills": []
    }
    "#);
}

#[test]
fn what_is_left_out_has_a_reason_and_a_remedy() {
    let world = World::new();
    world.write("project/.agent/skills/nameless/SKILL.md", "---\ndescription: No name.\n---\n");
    world.write("project/.agent/skills/lower/skill.md", "---\nname: lower\n---\n");
    world.link("project/.agent/skills/gone", "nowhere");
    world.link("project/.agent/skills/around", ".");
    assert_snapshot!(world.run("skillful list --source project"), @"
    [stderr]
    No skills found. `skillful new NAME` makes one.
    Left out: 4. `skillful doctor` says why and how to mend it.
    ");
    let ignored = &world.json("skillful list --source project --json")["report"]["ignored"];
    assert_snapshot!(format!("{ignored:#}"), @r#"
    [
      {
        "code": "link-cycle",
        "hint": "remove the link",
        "message": "the link leads back to a folder above it",
        "path": "[world]/project/.agent/skills/around"
      },
      {
        "code": "broken-link",
        "hint": "remove the link or restore what it pointed to",
        "message": "the link leads nowhere",
        "path": "[world]/project/.agent/skills/gone"
      },
      {
        "code": "wrong-case",
        "hint": "rename the file to SKILL.md",
        "message": "the file is called `skill.md`, not `SKILL.md`",
        "path": "[world]/project/.agent/skills/lower/skill.md"
      },
      {
        "code": "missing-name",
        "hint": "add `name:` with the name of the skill's folder",
        "message": "no `name`",
        "path": "[world]/project/.agent/skills/nameless/SKILL.md"
      }
    ]
    "#);
}

#[test]
fn a_linked_skill_says_where_it_leads() {
    let world = World::new();
    world.skill("elsewhere/shared", "Shared by link.");
    world.link("home/.agent/skills/shared", "../../../elsewhere/shared");
    let skill = &world.json("skillful list --source user --json")["skills"][0];
    assert_snapshot!(format!("{:#}", skill["links"]), @r#"
    [
      {
        "path": "[world]/home/.agent/skills/shared",
        "target": "[world]/elsewhere/shared"
      }
    ]
    "#);
}

#[test]
fn folders_are_searched_from_the_nearest_to_the_repository() {
    let world = World::new();
    world.skill("project/.agent/skills/both", "At the top.");
    world.skill("project/.claude/skills/claude", "Of another host.");
    world.skill("project/part/.agents/skills/both", "Nearer.");
    world.skill("project/part/.agent/skill/single", "In a folder called skill.");
    world.skill(".agent/skills/outside", "Above the repository.");
    assert_snapshot!(world.run("skillful -q -C part list --source project"), @"
    both    project   untrusted Nearer.
    claude  project   untrusted Of another host.
    single  project   untrusted In a folder called skill.
    ");
    assert_snapshot!(world.run("skillful -q list --source project"), @"
    both    project   untrusted At the top.
    claude  project   untrusted Of another host.
    ");
}

#[test]
fn roots_come_from_options_and_the_environment_in_that_order() {
    let world = World::new().with("SKILLFUL_ROOTS", "../second:~/third");
    world.skill("first/same", "From --root.");
    world.skill("second/same", "From SKILLFUL_ROOTS.");
    world.skill("home/third/third", "From SKILLFUL_ROOTS, at home.");
    assert_snapshot!(world.run("skillful list --source explicit --root ../first"), @"
    same   explicit  From --root.
    third  explicit  From SKILLFUL_ROOTS, at home.
    ");
    assert_snapshot!(world.run("skillful list --source explicit"), @"
    same   explicit  From SKILLFUL_ROOTS.
    third  explicit  From SKILLFUL_ROOTS, at home.
    ");
}

#[test]
fn a_root_that_is_not_there_is_reported() {
    let world = World::new();
    assert_snapshot!(world.run("skillful list --root ../nowhere --source explicit"), @"
    [stderr]
    warning: [world]/project/../nowhere: no such folder; check the path given with --root, SKILLFUL_ROOTS or `skill_roots`
    No skills found. `skillful new NAME` makes one.
    ");
}

#[test]
fn a_root_that_cannot_be_read_is_reported_with_the_reason() {
    let world = World::new();
    world.write("project/file", "");
    assert_snapshot!(world.run("skillful list --root file --source explicit"), @"
    [stderr]
    warning: [world]/project/file: cannot be read: not a directory; check the permissions of the file and its folders
    No skills found. `skillful new NAME` makes one.
    ");
}

#[test]
fn a_folder_that_is_itself_a_skill_can_be_a_root() {
    let world = World::new();
    world.skill("one", "Alone.");
    assert_snapshot!(world.run("skillful list --root ../one --source explicit"), @"one  explicit  Alone.");
}

#[test]
fn another_folder_can_be_worked_in() {
    let world = world();
    world.skill("other/.agent/skills/abroad", "In another project.");
    assert_snapshot!(world.run("skillful -q -C ../other list --source project"), @"abroad  project   untrusted In another project.");
    assert_snapshot!(world.run("skillful -C ../nowhere list"), @"
    [stderr]
    error: cannot work in `[world]/project/../nowhere`: No such file or directory (os error 2)
    hint: name a folder that exists with -C
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful -C ../home/.agent/skills/letters/SKILL.md list"), @"
    [stderr]
    error: cannot work in `[world]/home/.agent/skills/letters/SKILL.md`: not a directory
    hint: name a folder that exists with -C
    [exit 2]
    ");
}

#[test]
fn quiet_and_verbose_change_only_what_is_said_beside_the_result() {
    let world = world();
    let plain = world.output("skillful list --source project");
    let quiet = world.output("skillful list --source project --quiet");
    let verbose = world.run("skillful list --source project -v 2>&1 >/dev/null");
    assert_eq!(quiet.stdout, plain.stdout);
    assert!(quiet.stderr.is_empty());
    let timed = verbose.split(", ").next().unwrap_or_default();
    assert_snapshot!(timed, @"1 skill in [world]/project/.agent/skills (project");
    assert_snapshot!(world.run("skillful list -q -v"), @"
    [stderr]
    error: the argument '--quiet' cannot be used with '--verbose'

    Usage: skillful list --quiet

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn refresh_reads_everything_anew() {
    let world = world();
    let first = world.json("skillful list --json --source user");
    let again = world.json("skillful refresh --json --source user");
    assert_eq!(again["skills"], first["skills"]);
    assert_eq!(again["report"]["roots"][0]["cache"], "cold");
    assert_eq!(again["report"]["bytes_read"], first["report"]["bytes_read"]);
    let hash = |line: &str| {
        let document: serde_json::Value =
            serde_json::from_slice(&world.output(line).stdout).unwrap();
        document["report"]["index_hash"].as_str().unwrap().to_owned()
    };
    let before = hash("skillful list --json --source user");
    assert_eq!(hash("skillful refresh --json --source user"), before);
    world.skill("home/.agent/skills/letters", "Changed.");
    assert_ne!(hash("skillful list --json --source user"), before);
    assert_snapshot!(world.run("skillful refresh --source user"), @"2 skills, 0 left out, sha256:[hash]");
}

#[test]
fn a_damaged_cache_is_as_good_as_none() {
    let world = world();
    let first = world.json("skillful list --json --source user");
    for file in std::fs::read_dir(world.path("home/.cache/skillful")).unwrap() {
        std::fs::write(file.unwrap().path(), "not a cache").unwrap();
    }
    assert_eq!(world.json("skillful list --json --source user"), first);
}
