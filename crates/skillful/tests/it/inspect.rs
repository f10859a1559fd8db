//! `skillful inspect` and `skillful why`

use insta::assert_snapshot;

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write(
        "home/.agent/skills/analyst/SKILL.md",
        "---
name: analyst
description: Analyse data.
allowed-tools: Read, Bash(git:*)
license: MIT
metadata:
  version: \"1.2\"
  tags: [a, b]
argument-hint: FILE
run-mode: inline
model: \"small\u{1b}[31m\"
---

# Analyst

Begin here.

<chunk id=\"examples\" description=\"Worked examples\">
One example.
</chunk>
",
    );
    world.write("home/.agent/skills/analyst/references/terms.md", "# Terms\n");
    world
}

#[test]
fn text_shows_what_a_skill_says_and_holds() {
    assert_snapshot!(world().run("skillful inspect analyst"), @r#"
    analyst  user/analyst@1.2
    Analyse data.

                    path  [world]/home/.agent/skills/analyst
                 trusted  yes
                   tools  read_file, run_command, run_script
     model may choose it  yes
      user may invoke it  yes
                 version  1.2
                 license  MIT
           argument-hint  FILE
                metadata  {"tags":["a","b"],"version":"1.2"}
                   model  small\u{1b}[31m
                run-mode  inline

    Chunks
      examples  Worked examples

    Files  with their size in bytes
            293  SKILL.md
              8  references/terms.md
    "#);
}

#[test]
fn json_is_the_entry_with_files_chunks_and_frontmatter() {
    assert_snapshot!(world().run_json("skillful inspect analyst --json"), @r#"
    {
      "chunks": [
        {
          "description": "Worked examples",
          "id": "examples"
        }
      ],
      "controls": {
        "allowed_commands": [
          "git *"
        ],
        "allowed_tools": [
          "read_file",
          "run_command",
          "run_script"
        ],
        "disable_model_invocation": false,
        "run_mode": "inline",
        "user_invocable": true
      },
      "denied_by": null,
      "description": "Analyse data.",
      "diagnostics": [],
      "files": [
        {
          "path": "SKILL.md",
          "size": 293
        },
        {
          "path": "references/terms.md",
          "size": 8
        }
      ],
      "frontmatter": {
        "allowed-tools": "Read, Bash(git:*)",
        "argument-hint": "FILE",
        "description": "Analyse data.",
        "license": "MIT",
        "metadata": {
          "tags": [
            "a",
            "b"
          ],
          "version": "1.2"
        },
        "model": "small\u001b[31m",
        "name": "analyst",
        "run-mode": "inline"
      },
      "id": "user/analyst@1.2",
      "installed": null,
      "meta": {
        "author": null,
        "compatibility": null,
        "license": "MIT",
        "version": "1.2"
      },
      "name": "analyst",
      "path": "[world]/home/.agent/skills/analyst",
      "source": "user",
      "trusted": true
    }
    "#);
}

#[test]
fn the_body_is_shown_as_a_model_sees_it() {
    let world = world();
    let text = world.run("skillful inspect analyst --show-body");
    assert_snapshot!(text.split_once("Body").unwrap().1, @"

    # Analyst

    Begin here.

    [Available Chunks for analyst]
    (You can load these using load_skill_chunk tool)
    - id: examples | description: Worked examples
    ");
    let document = world.json("skillful inspect analyst --show-body --json");
    assert!(document["body"].as_str().unwrap().starts_with("# Analyst"));
}

#[test]
fn a_built_in_skill_has_files_too() {
    let world = World::new();
    let document = world.json("skillful inspect csv-report --json");
    assert_eq!(document["path"], "builtin:/csv-report");
    assert_eq!(document["files"][0]["path"], "SKILL.md");
    assert_eq!(document["frontmatter"]["name"], "csv-report");
}

#[test]
fn a_name_that_is_nearly_right_is_guessed() {
    let world = world();
    assert_snapshot!(world.run("skillful inspect analist"), @"
    [stderr]
    error: Skill 'analist' not found.
    hint: did you mean `analyst`?
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful inspect analist --json"), @r#"
    {
      "error": {
        "code": "SkillNotFound",
        "details": null,
        "hint": "did you mean `analyst`?",
        "message": "Skill 'analist' not found."
      }
    }
    [exit 1]
    "#);
    assert_snapshot!(world.run("skillful why analist"), @"
    [stderr]
    error: Skill 'analist' not found.
    hint: did you mean `analyst`?
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful inspect zzz"), @"
    [stderr]
    error: Skill 'zzz' not found.
    hint: `skillful list` shows every skill, `skillful search` finds one
    [exit 1]
    ");
}

#[test]
fn a_skill_that_was_left_out_is_not_just_missing() {
    let world = world();
    world.write("home/.agent/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    assert_snapshot!(world.run("skillful inspect broken"), @"
    [stderr]
    error: Skill 'broken' not found.
    hint: [world]/home/.agent/skills/broken/SKILL.md is left out: no `description`; add `description:` that says what the skill does and when to use it
    [exit 1]
    ");
    assert_snapshot!(world.run("skillful why broken"), @"
    broken is not among your skills
      left out [world]/home/.agent/skills/broken/SKILL.md
        no `description`
        add `description:` that says what the skill does and when to use it
    ");
    assert_snapshot!(world.run_json("skillful why broken --json"), @r#"
    {
      "catalog_chars": null,
      "hidden_by": [],
      "ignored": [
        {
          "code": "missing-description",
          "hint": "add `description:` that says what the skill does and when to use it",
          "message": "no `description`",
          "path": "[world]/home/.agent/skills/broken/SKILL.md"
        }
      ],
      "installed": null,
      "losers": [],
      "name": "broken",
      "offered": null,
      "winner": null
    }
    "#);
    // A folder on the way to it is no skill.
    assert_snapshot!(world.run("skillful why skills"), @"
    [stderr]
    error: Skill 'skills' not found.
    hint: did you mean `skill-author`?
    [exit 1]
    ");
}

#[test]
fn a_source_can_be_named_to_reach_a_shadowed_skill() {
    let world = world();
    world.skill("mine/analyst", "Another one.");
    let path = |line: &str| world.json(line)["path"].as_str().unwrap().to_owned();
    assert_eq!(path("skillful inspect analyst --json --root ../mine"), "[world]/mine/analyst");
    assert_eq!(
        path("skillful inspect analyst --json --root ../mine --source user"),
        "[world]/home/.agent/skills/analyst"
    );
}

#[test]
fn a_body_that_is_refused_is_an_error_with_advice() {
    let world = world().with("SKILLFUL_SECURITY_OVERSIZE_SKILL_BODY", "reject");
    let world = world.with("SKILLFUL_SECURITY_MAX_SKILL_BODY_LINES", "1");
    assert_snapshot!(world.run("skillful inspect analyst"), @"
    [stderr]
    error: the body of `analyst` has 4 lines and 24 characters, the limits are 1 and 40000
    hint: move details to files under references/ and name them in the body
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful inspect analyst --json"), @r#"
    {
      "error": {
        "code": "BodyTooLarge",
        "details": null,
        "hint": "move details to files under references/ and name them in the body",
        "message": "the body of `analyst` has 4 lines and 24 characters, the limits are 1 and 40000"
      }
    }
    [exit 1]
    "#);
}

#[test]
fn why_names_the_copy_that_counts_and_the_others() {
    let world = world();
    world.skill("mine/analyst", "Another one.");
    assert_snapshot!(world.run("skillful why analyst --root ../mine"), @"
    analyst is [world]/mine/analyst
      not [world]/home/.agent/skills/analyst
        the other one's source wins: explicit before user
      costs 60 characters of the catalog (about 15 tokens)
    ");
    assert_snapshot!(world.run_json("skillful why analyst --root ../mine --json"), @r#"
    {
      "catalog_chars": 60,
      "hidden_by": [],
      "ignored": [],
      "installed": null,
      "losers": [
        {
          "path": "[world]/home/.agent/skills/analyst",
          "reason": "the other one's source wins: explicit before user",
          "source": "user",
          "version": "1.2"
        }
      ],
      "name": "analyst",
      "offered": "[world]/mine/analyst",
      "winner": {
        "controls": {
          "allowed_commands": null,
          "allowed_tools": null,
          "disable_model_invocation": false,
          "run_mode": "inline",
          "user_invocable": true
        },
        "description": "Another one.",
        "diagnostics": [],
        "id": "explicit/analyst",
        "meta": {
          "author": null,
          "compatibility": null,
          "license": null,
          "version": null
        },
        "name": "analyst",
        "path": "[world]/mine/analyst",
        "source": "explicit",
        "trusted": true
      }
    }
    "#);
}

#[test]
fn why_says_what_hides_a_skill() {
    let world = World::new();
    world.write(
        "home/.agent/skills/secret/SKILL.md",
        "---\nname: secret\ndescription: Mine.\ndisable-model-invocation: true\n---\n",
    );
    world.skill("project/.agent/skills/deploy", "Deploy.");
    assert_snapshot!(world.run("skillful why secret"), @"
    secret is [world]/home/.agent/skills/secret
      hidden from the model: it says `disable-model-invocation`
        you can still use it yourself with /secret
      would cost 48 characters of the catalog (about 12 tokens)
    ");
    assert_snapshot!(world.run("skillful why deploy"), @"
    deploy is [world]/project/.agent/skills/deploy
      hidden from the model: you have not trusted it yet
        look first, then run `skillful trust project deploy`
      would cost 53 characters of the catalog (about 14 tokens)
    ");
}

#[test]
fn a_rule_that_hides_a_skill_is_named_with_its_file() {
    let world = World::new();
    world.write("home/.agent/config.json", r#"{"permissions": {"skill": {"text-*": "deny"}}}"#);
    let why = world.json("skillful why text-stats --json");
    assert_snapshot!(format!("{:#}\n{}", why["hidden_by"], why["offered"]), @r#"
    [
      {
        "hint": "change the rule; `skillful config show --origin` shows all",
        "reason": "the rule `skill: text-* = deny` of [world]/home/.agent/config.json"
      }
    ]
    null
    "#);
    assert_snapshot!(world.run("skillful why text-stats"), @"
    text-stats is builtin:/text-stats
      hidden from the model: the rule `skill: text-* = deny` of [world]/home/.agent/config.json
        change the rule; `skillful config show --origin` shows all
      would cost 526 characters of the catalog (about 132 tokens)
    ");
    assert_snapshot!(world.run("skillful inspect text-stats | grep 'model may'"), @" model may choose it  no; the rule `skill: text-* = deny` of [world]/home/.agent/config.json");
    world.write("home/.agent/config.json", "{}");
    world.write("project/.agent/config.json", r#"{"permissions": {"skill": "deny"}}"#);
    assert_snapshot!(world.run("skillful inspect text-stats | grep 'model may'"), @" model may choose it  no; the rule `skill: * = deny` of [world]/project/.agent/config.json");
    let world = World::new().with("SKILLFUL_PERMISSIONS", r#"{"*": "deny"}"#);
    assert_snapshot!(world.run("skillful inspect text-stats | grep 'model may'"), @" model may choose it  no; the rule `*: * = deny` of $SKILLFUL_PERMISSIONS");
}

#[test]
fn a_long_opening_does_not_take_the_place_of_the_steps() {
    let world = World::new();
    let opening: String = (0..900).map(|n| format!("Background {n}.\n")).collect();
    world.write(
        "home/.agent/skills/wordy/SKILL.md",
        format!(
            "---\nname: wordy\ndescription: W.\n---\n# Wordy\n\n{opening}\n## Steps\n\n1. Do it.\n\n## Checks\n\nIt is done.\n"
        ),
    );
    let document = world.json("skillful inspect wordy --show-body --json");
    let body = document["body"].as_str().unwrap();
    assert!(body.starts_with("# Wordy\n\nBackground 0.\n"), "{body}");
    assert!(body.contains("\n## Steps\n\n1. Do it.\n\n## Checks\n\nIt is done.\n"), "{body}");
    assert!(!body.contains("Background 899."), "{body}");
    let cut =
        "[The opening is cut. Read more of it with load_resource and relative_path SKILL.md.]";
    assert!(body.trim_end().ends_with(cut), "{body}");
}
