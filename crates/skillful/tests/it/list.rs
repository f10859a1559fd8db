//! `skillful list` and `skillful refresh`

use insta::assert_snapshot;

use crate::world::World;

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
    data-cleanup
    file-organizer
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
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
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
            "allowed_commands": null,
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
    No skills found. `skillful new NAME` creates one.
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
    world.write("project/.agent/skills/silent/SKILL.md", "---\nname: silent\n---\n");
    world.write("project/.agent/skills/lower/skill.md", "---\nname: lower\n---\n");
    world.link("project/.agent/skills/gone", "nowhere");
    world.link("project/.agent/skills/around", ".");
    assert_snapshot!(world.run("skillful list --source project"), @"
    [stderr]
    No skills found. `skillful new NAME` creates one.
    Left out: 4. `skillful doctor` shows why, and how to fix it.
    ");
    let ignored = &world.json("skillful list --source project --json")["report"]["ignored"];
    assert_snapshot!(format!("{ignored:#}"), @r#"
    [
      {
        "code": "link-cycle",
        "hint": "remove the link",
        "message": "the link leads to a folder above itself",
        "path": "[world]/project/.agent/skills/around"
      },
      {
        "code": "broken-link",
        "hint": "remove the link, or restore its target",
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
        "code": "missing-description",
        "hint": "add `description:` that says what the skill does and when to use it",
        "message": "no `description`",
        "path": "[world]/project/.agent/skills/silent/SKILL.md"
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
    warning: [world]/nowhere: no such folder; check the path given with --root, SKILLFUL_ROOTS or `skill_roots`
    No skills found. `skillful new NAME` creates one.
    ");
}

#[test]
fn a_root_that_cannot_be_read_is_reported_with_the_reason() {
    let world = World::new();
    world.write("project/file", "");
    assert_snapshot!(world.run("skillful list --root file --source explicit"), @"
    [stderr]
    warning: [world]/project/file: cannot be read: not a directory; check the permissions of the file and its folders
    No skills found. `skillful new NAME` creates one.
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
    hint: give a folder that exists with -C
    [exit 2]
    ");
    assert_snapshot!(world.run("skillful -C ../home/.agent/skills/letters/SKILL.md list"), @"
    [stderr]
    error: cannot work in `[world]/home/.agent/skills/letters/SKILL.md`: not a directory
    hint: give a folder that exists with -C
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

    Usage: skillful list

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

#[test]
fn without_a_repository_folders_are_searched_up_to_the_home() {
    let world = World::new();
    world.skill(".agent/skills/far", "Above the home.");
    world.skill("home/.agent/skills/mine", "At home.");
    world.skill("home/work/.agent/skills/both", "Above.");
    world.skill("home/work/.agent/skills/above", "Above.");
    world.skill("home/work/app/.claude/skills/both", "Nearer.");
    world.write("home/work/app/part/notes.md", "");
    assert_snapshot!(world.run("skillful -q -C ../home/work/app/part list --source project"), @"
    above  project   untrusted Above.
    both   project   untrusted Nearer.
    ");
    assert_snapshot!(world.run("skillful -q -C ../home list --source project"), @"");
    assert_snapshot!(world.run("skillful -C ../home/work/app/part run --skill above x"), @"
    [stderr]
    error: the skill `above` comes from a project: you have not trusted it yet
    hint: look at it (`skillful inspect above`), then run `skillful trust project above`
    [exit 4]
    ");
}

#[test]
fn outside_of_the_home_a_folder_that_everybody_can_write_ends_the_search() {
    let world = World::new();
    world.skill(".agent/skills/far", "Above the shared folder.");
    world.skill("shared/.agent/skills/planted", "Put there by anybody.");
    world.skill("shared/own/.agent/skills/above", "Above.");
    world.write("shared/own/app/notes.md", "");
    world.run("chmod 1777 ../shared");
    assert_snapshot!(world.run("skillful -q -C ../shared/own/app list --source project"), @"above  project   untrusted Above.");
    assert_snapshot!(world.run("skillful -q -C ../shared list --source project"), @"planted  project   untrusted Put there by anybody.");
}

#[test]
fn folders_of_other_clients_are_searched() {
    let world = World::new();
    for (place, host) in
        [".claude", ".codex", ".gemini", ".opencode", ".cursor", ".github"].iter().enumerate()
    {
        world.skill(&format!("project/{host}/skills/same"), host);
        world
            .skill(&format!("project/{host}/skill/of-{}", &host[1..]), &format!("Number {place}."));
        world.skill(&format!("home/{host}/skills/my-{}", &host[1..]), "At home.");
    }
    assert_snapshot!(world.run("skillful -q list --source project"), @"
    of-claude    project   untrusted Number 0.
    of-codex     project   untrusted Number 1.
    of-cursor    project   untrusted Number 4.
    of-gemini    project   untrusted Number 2.
    of-github    project   untrusted Number 5.
    of-opencode  project   untrusted Number 3.
    same         project   untrusted .claude
    ");
    assert_snapshot!(world.run("skillful -q list --source user"), @"
    my-claude    user      At home.
    my-codex     user      At home.
    my-cursor    user      At home.
    my-gemini    user      At home.
    my-github    user      At home.
    my-opencode  user      At home.
    ");
    assert_snapshot!(world.run("SKILLFUL_REGISTRY_COMPAT=false skillful -q list --source user"), @"");
}

#[test]
fn a_skill_that_is_not_for_users_is_marked() {
    let world = World::new();
    let skill = |name: &str, fields: &str| {
        let text = format!("---\nname: {name}\ndescription: D.\n{fields}---\n");
        world.write(&format!("home/.agent/skills/{name}/SKILL.md"), text);
    };
    skill("background", "user-invocable: false\n");
    skill("nobody", "user-invokable: false\ndisable-model-invocation: true\n");
    skill("plain", "");
    assert_snapshot!(world.run("skillful -q list --source user"), @"
    background  user      model-only D.
    nobody      user      unusable D.
    plain       user      D.
    ");
    let listed = world.json("skillful list --source user --json");
    assert_eq!(listed["skills"][0]["controls"]["user_invocable"], false);
}

/// Two skills of one name in one root, the second later by as much.
fn twins(later: &str) -> World {
    let world = World::new();
    world.skill("home/.agent/skills/a/same", "First.");
    world.skill("home/.agent/skills/b/same", "Second.");
    world.run(&format!(
        "cd ../home/.agent/skills && touch -d '2026-01-01 00:00:00' a/same/SKILL.md && touch -d '{later}' b/same/SKILL.md"
    ));
    world
}

#[test]
fn times_that_nearly_agree_are_pointed_out() {
    for later in ["2026-01-01 00:00:00", "2026-01-01 00:00:30"] {
        let world = twins(later);
        let seen = world.run("skillful list --source user");
        assert!(seen.contains("warning: one skill has copies in its root with nearly the same time, so another checkout can change which copy is used: same."), "{seen}");
        let conflict = &world.json("skillful list --source user --json")["report"]["conflicts"][0];
        assert_eq!(conflict["by_chance"], true, "{conflict}");
    }
    let world = twins("2026-01-01 00:00:30");
    assert_snapshot!(world.run("skillful why same"), @"
    same is [world]/home/.agent/skills/b/same
      not [world]/home/.agent/skills/a/same
        the other one in the same folder is newer, by a minute at most
      costs 48 characters of the catalog (about 12 tokens)
    ");
    let seen = world.run("skillful doctor --source user");
    assert!(seen.contains("registry.pin"), "{seen}");
    let world = twins("2026-01-01 00:02:00");
    assert_snapshot!(world.run("skillful list --source user"), @"same  user      Second.");
    let conflict = &world.json("skillful list --source user --json")["report"]["conflicts"][0];
    assert_eq!(conflict.get("by_chance"), None, "{conflict}");
}

#[test]
fn a_user_pins_one_of_several_skills() {
    let world = twins("2026-01-01 00:00:30");
    let pin = |path: &str| {
        let settings = serde_json::json!({"registry": {"pin": {"same": path}}});
        world.write("home/.agent/config.json", settings.to_string());
    };
    for path in ["~/.agent/skills/a/same", ".agent/skills/a/same/"] {
        pin(path);
        assert_eq!(world.run("skillful list --source user"), "same  user      First.\n", "{path}");
    }
    assert_snapshot!(world.run("skillful why same"), @"
    same is [world]/home/.agent/skills/a/same
      not [world]/home/.agent/skills/b/same
        you pinned the other one (`registry.pin`)
      costs 47 characters of the catalog (about 12 tokens)
    ");
    world.skill("project/.agent/skills/same", "A project's.");
    world.run("skillful trust project same");
    let listed = world.run("skillful list");
    assert!(listed.contains("First.") && !listed.contains("A project's."), "{listed}");
    pin("~/.agent/skills/c/same");
    let listed = world.json("skillful list --source user --json");
    assert_snapshot!(format!("{:#}", listed["report"]["ignored"]), @r#"
    [
      {
        "code": "pin-not-found",
        "hint": "fix the path in `registry.pin`, or remove the entry",
        "message": "`registry.pin` has no skill `same` here",
        "path": "[world]/home/.agent/skills/c/same"
      }
    ]
    "#);
}

#[test]
fn a_project_cannot_pin() {
    let world = twins("2026-01-01 00:00:30");
    let path = world.path("home/.agent/skills/a/same");
    let settings = serde_json::json!({"registry": {"pin": {"same": path}}});
    world.write("project/.agent/config.json", settings.to_string());
    assert_snapshot!(world.run("skillful list --source user"), @"
    same  user      Second.
    [stderr]
    warning: `registry.pin` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_REGISTRY_PIN`
    warning: one skill has copies in its root with nearly the same time, so another checkout can change which copy is used: same. `skillful why NAME` shows them; `registry.pin` chooses one.
    ");
    let pin = serde_json::json!({"same": path}).to_string();
    let world = world.with("SKILLFUL_REGISTRY_PIN", pin);
    assert!(world.run("skillful list --source user").contains("First."));
}
