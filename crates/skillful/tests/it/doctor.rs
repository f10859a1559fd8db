//! `skillful doctor`

use insta::assert_snapshot;

use crate::world::World;

/// Without times and what this machine's kernel can do, which differ.
fn examined(world: &World) -> String {
    world.run(
        "skillful doctor | sed 's/, [0-9.]* ms)/)/; /sandbox: /d; /layer: /d; /^ *runs work in a private copy/d; /^ *commands cannot reach each other/d; /^ *scripts are contained/d; /^ *run scripts with/d'",
    )
}

#[test]
fn a_fresh_machine_is_well() {
    assert_snapshot!(examined(&World::new()), @"
    ok       version: 0.1.0
    ok       configuration: every setting has its default
    ok       model: offline (no API key in the environment and no Ollama on this machine)
    ok       cache: [world]/home/.cache/skillful
    ok       root: 6 skills in builtin: (builtin)
    ");
}

#[test]
fn every_finding_has_a_remedy() {
    let world = World::new().with("SKILLFUL_CATALOG_MAXCHARS", "1");
    world.skill("project/.agent/skills/deploy", "Deploy.");
    world.skill("home/.agent/skills/deploy", "Deploy otherwise.");
    world.skill("home/.agent/skills/build", "Build.");
    world.skill("home/.claude/skills/build", "Build otherwise.");
    world.write("home/.agent/skills/broken/SKILL.md", "no frontmatter\n");
    world.write("home/.agent/skills/Odd/SKILL.md", "---\nname: Odd\ndescription: Odd.\n---\n");
    world.write("home/.agent/config.json", r#"{"catalog": {"max_chars": 100}}"#);
    assert_snapshot!(examined(&world), @"
    ok       version: 0.1.0
    ok       configuration: you set 1 setting; the others have their defaults
    warning  environment: SKILLFUL_CATALOG_MAXCHARS is not a setting
             `skillful config show` lists the settings; SKILLFUL_SECTION_KEY sets one
    ok       model: offline (no API key in the environment and no Ollama on this machine)
    ok       cache: [world]/home/.cache/skillful
    ok       root: 1 skill in [world]/project/.agent/skills (project)
    ok       root: 3 skills in [world]/home/.agent/skills (user)
    ok       root: 1 skill in [world]/home/.claude/skills (user)
    ok       root: 6 skills in builtin: (builtin)
    warning  trust: 1 untrusted skill of this project, hidden from the model
             look at it (`skillful inspect NAME`), then run `skillful trust project NAME`
    warning  left out: [world]/home/.agent/skills/broken/SKILL.md: no frontmatter: the file does not begin with a `---` line (no-frontmatter)
             begin SKILL.md with a `---` line, `name:` and `description:`, and another `---` line
    warning  same name: [world]/home/.agent/skills/build hides [world]/home/.claude/skills/build: the other one's folder comes first
             rename one of them, or choose a source with --source
    warning  skill: Odd: the name must have only lowercase letters, digits and hyphens (name-characters)
             `skillful validate [world]/home/.agent/skills/Odd`
    ");
}

#[test]
fn json_has_the_same_findings() {
    let world = World::new();
    world.skill("project/.agent/skills/deploy", "Deploy.");
    let diagnosis = world.json("skillful doctor --json");
    assert_eq!(diagnosis["ok"], true);
    let checks = diagnosis["checks"].as_array().unwrap();
    let trust = checks.iter().find(|check| check["name"] == "trust").unwrap();
    assert_snapshot!(format!("{trust:#}"), @r#"
    {
      "hint": "look at it (`skillful inspect NAME`), then run `skillful trust project NAME`",
      "message": "1 untrusted skill of this project, hidden from the model",
      "name": "trust",
      "status": "warning"
    }
    "#);
}

#[test]
fn settings_that_cannot_be_used_are_a_finding_too() {
    let world = World::new();
    world.write("home/.agent/config.json", "{");
    assert_snapshot!(world.run("skillful doctor"), @"
    error    configuration: `[world]/home/.agent/config.json` is not valid JSON: Unterminated object on line 1 column 2
             fix the file; comments are allowed
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful doctor --json"), @r#"
    {
      "checks": [
        {
          "hint": "fix the file; comments are allowed",
          "message": "`[world]/home/.agent/config.json` is not valid JSON: Unterminated object on line 1 column 2",
          "name": "configuration",
          "status": "error"
        }
      ],
      "ok": false
    }
    [exit 1]
    "#);
}

#[test]
fn a_cache_that_cannot_be_written_is_a_warning() {
    let world = World::new();
    world.write("home/.cache", "a file in its place");
    assert_snapshot!(examined(&world), @"
    ok       version: 0.1.0
    ok       configuration: every setting has its default
    ok       model: offline (no API key in the environment and no Ollama on this machine)
    warning  cache: [world]/home/.cache/skillful: Not a directory (os error 20)
             make the folder writable; until then, every start reads all skills again
    ok       root: 6 skills in builtin: (builtin)
    ");
    assert_eq!(world.output("skillful list").status.code(), Some(0));
}
