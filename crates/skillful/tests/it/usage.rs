//! The command line itself: help, mistakes, `schema`, `completions`.

use insta::assert_snapshot;

use crate::world::World;

const COMMANDS: [&str; 30] = [
    "",
    "usage",
    "list",
    "search",
    "inspect",
    "why",
    "validate",
    "scan",
    "new",
    "refresh",
    "doctor",
    "trust",
    "trust project",
    "pack",
    "export",
    "install",
    "uninstall",
    "restore",
    "verify",
    "outdated",
    "update",
    "keygen",
    "sign",
    "trust key",
    "untrust",
    "config",
    "config show",
    "config init",
    "schema",
    "completions",
];

#[test]
fn help_names_every_command() {
    assert_snapshot!(World::new().run("skillful --help"), @r#"
    Run Agent Skills: find them, use them, contain them, measure them, share them

    Usage: skillful [OPTIONS] [COMMAND]

    Use skills:
      chat         Talk with the agent: one request after the other
      run          Do a task with the skills that fit it
      runs         See, check and undo what agents did here
      usage        Show which skills your runs use, and what comes of it
      mcp          Use your skills in other agents (Claude Code, Codex, Cursor …)

    Find skills:
      list         List your skills
      search       Find skills for a task
      inspect      Show a skill: its fields, files and text
      why          Explain why a skill is visible or hidden, and what it costs

    Write skills:
      new          Create a skill from a template
      validate     Check skills for mistakes
      scan         Look for dangerous content in skills
      eval         Measure skills: are they chosen, do runs behave, do they help?

    Share skills:
      install      Install skills from a pack, a folder, a git repository or a URL
      uninstall    Remove an installed skill
      restore      Bring back a skill that you uninstalled or replaced
      outdated     List installed skills that have a newer version
      update       Update installed skills
      pack         Make a pack from skill folders
      export       Make a pack from an installed skill
      verify       Check a pack, or whether an installed skill changed
      keygen       Create a key pair to sign packs
      sign         Sign a pack

    Decide what is allowed:
      trust        Trust a project's skills, or a key that signs packs
      untrust      Stop trusting a project's skills, or a key
      permissions  Show or revoke what you approved for always

    Set up:
      models       Show which models you can use, and which one decides
      doctor       Find problems and show how to fix them
      config       Show your settings, or create a file for them
      refresh      Read all skills again and rebuild the cache
      schema       Print the JSON Schema of a file or an output
      completions  Print shell completions
      help         Print the help of a command

    Options:
          --json             Print the result as one JSON document
      -C <DIR>               Run as if you started in DIR
          --root <PATH>      Look for skills in PATH first (repeatable)
          --source <SOURCE>  Use only skills from SOURCE: explicit, project, user or builtin
      -q, --quiet            Print less
      -v, --verbose          Print more
          --color <WHEN>     When to use colours [default: auto] [possible values: auto, always, never]
      -h, --help             Print help
      -V, --version          Print version

    Examples:
      skillful run "Summarise sales.csv"       do a task
      skillful new weekly-report               create a skill
      skillful mcp --print-config claude-code  use your skills in another agent
      skillful doctor                          find problems
    "#);
}

#[test]
fn without_a_command_help_is_shown_and_nothing_done() {
    let world = World::new();
    let (help, bare) = (world.output("skillful -h"), world.output("skillful"));
    assert_eq!(bare.status.code(), Some(2));
    assert_eq!(bare.stderr, help.stdout);
    assert_snapshot!(world.run_json("skillful --json"), @r#"
    {
      "error": {
        "code": "Usage",
        "details": null,
        "hint": "see `skillful --help`",
        "message": "'skillful' requires a subcommand but one was not provided [subcommands: chat, run, runs, usage, list, search, inspect, why, validate, scan, new, refresh, models, doctor, pack, export, install, uninstall, restore, verify, outdated, update, keygen, sign, eval, permissions, mcp, trust, untrust, config, schema, completions, help]"
      }
    }
    [exit 2]
    "#);
}

#[test]
fn the_help_of_every_command_has_an_example_that_is_understood() {
    let world = World::new();
    for command in COMMANDS {
        let help = world.run(&format!("skillful {command} --help"));
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{command}"));
        for example in examples.lines() {
            // An explanation or a program to hand the result to may follow.
            let line = example.trim().split("  ").next().unwrap().split(" | ").next().unwrap();
            let line = line.split(" > ").next().unwrap();
            assert!(line.contains("skillful "), "{line}");
            let output =
                world.output(&format!("mkdir -p ../home/work/app my-skill skills; {line}"));
            assert_ne!(output.status.code(), Some(2), "{line}\n{}", world.run(line));
        }
    }
}

#[test]
fn the_version_is_printed() {
    let shown = World::new().run("skillful --version");
    assert_eq!(shown, format!("skillful {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_mistyped_command_is_guessed() {
    let world = World::new();
    assert_snapshot!(world.run("skillful serch csv"), @"
    [stderr]
    error: unrecognized subcommand 'serch'

      tip: some similar subcommands exist: 'schema', 'search'

    Usage: skillful [OPTIONS] [COMMAND]

    For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful serch csv --json"), @r#"
    {
      "error": {
        "code": "Usage",
        "details": null,
        "hint": "some similar subcommands exist: 'schema', 'search'",
        "message": "unrecognized subcommand 'serch'"
      }
    }
    [exit 2]
    "#);
    assert_snapshot!(world.run_json("skillful list --jsn --json"), @r#"
    {
      "error": {
        "code": "Usage",
        "details": null,
        "hint": "a similar argument exists: '--json'",
        "message": "unexpected argument '--jsn' found"
      }
    }
    [exit 2]
    "#);
}

#[test]
fn a_value_that_cannot_be_is_an_error_of_usage() {
    let world = World::new();
    assert_snapshot!(world.run("skillful list --source project,user"), @"
    [stderr]
    error: invalid value 'project,user' for '--source <SOURCE>': use one of explicit, project, user, builtin

    For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful list --source there --json"), @r#"
    {
      "error": {
        "code": "Usage",
        "details": null,
        "hint": "see `skillful --help`",
        "message": "invalid value 'there' for '--source <SOURCE>': use one of explicit, project, user, builtin"
      }
    }
    [exit 2]
    "#);
    assert_snapshot!(world.run("skillful --color sometimes list"), @"
    [stderr]
    error: invalid value 'sometimes' for '--color <WHEN>'
      [possible values: auto, always, never]

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn schemas_are_listed_and_printed() {
    let world = World::new();
    assert_snapshot!(world.run("skillful schema"), @"
    action
    case
    completions
    config
    config-init
    config-origin
    doctor
    entry
    error
    eval-judge
    eval-new
    eval-plan
    eval-report
    eval-triggers
    event
    export
    inspect
    install
    keygen
    list
    mcp-config
    models
    new
    outdated
    pack
    permissions
    restore
    run
    run-summary
    runs-adopt
    runs-apply
    runs-changes
    runs-export
    runs-files
    runs-list
    runs-prune
    runs-replay
    runs-show
    runs-take
    runs-undo
    runs-verify
    scan
    script
    search
    sign
    trust
    trust-key
    uninstall
    untrust
    usage
    validate
    update
    verify
    why
    ");
    assert_snapshot!(world.run("skillful schema search"), @r##"
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Hits",
      "description": "Skills that fit a query, the best first.",
      "type": "object",
      "properties": {
        "hits": {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Hit"
          }
        }
      },
      "required": [
        "hits"
      ],
      "$defs": {
        "Hit": {
          "description": "A skill that fits a query.",
          "type": "object",
          "properties": {
            "name": {
              "description": "The skill's name.",
              "type": "string"
            },
            "score": {
              "description": "How well it fits, compared with other hits of the same query.",
              "type": "number",
              "format": "float"
            },
            "source": {
              "description": "Where it comes from.",
              "$ref": "#/$defs/Source"
            },
            "why": {
              "description": "The words that matched in name and description, or `body` where there is none.",
              "type": "string"
            }
          },
          "required": [
            "name",
            "source",
            "score",
            "why"
          ]
        },
        "Source": {
          "description": "Where a skill comes from.",
          "oneOf": [
            {
              "description": "A folder the user named.",
              "type": "string",
              "const": "explicit"
            },
            {
              "description": "The repository being worked on.",
              "type": "string",
              "const": "project"
            },
            {
              "description": "The user's home directory.",
              "type": "string",
              "const": "user"
            },
            {
              "description": "Inside the program.",
              "type": "string",
              "const": "builtin"
            }
          ]
        }
      }
    }
    "##);
    assert_eq!(
        world.json("skillful schema search --json"),
        serde_json::from_str::<serde_json::Value>(&world.run("skillful schema search")).unwrap()
    );
    assert_snapshot!(world.run("skillful schema serch"), @"
    [stderr]
    error: there is no schema `serch`
    hint: did you mean `search`?
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful schema zzz --json"), @r#"
    {
      "error": {
        "code": "UnknownSchema",
        "details": null,
        "hint": "`skillful schema` lists them",
        "message": "there is no schema `zzz`"
      }
    }
    [exit 2]
    "#);
}

#[test]
fn completions_are_for_many_shells() {
    let world = World::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = world.run(&format!("skillful completions {shell}"));
        assert!(script.contains("skillful") && script.contains("validate"), "{shell}");
        let document = world.json(&format!("skillful completions {shell} --json"));
        assert_eq!(document["shell"], shell);
        assert_eq!(document["script"].as_str(), Some(script.as_str()));
    }
    assert_snapshot!(world.run("skillful completions cmd"), @"
    [stderr]
    error: invalid value 'cmd' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn the_completions_for_bash_are_bash() {
    let world = World::new();
    let line =
        "skillful completions bash > it; bash -n it && bash -c '. ./it; complete -p skillful'";
    assert_snapshot!(world.run(line), @"complete -o bashdefault -o default -o nosort -F _skillful skillful");
}

#[test]
fn options_of_every_command_may_stand_before_or_after_it() {
    let world = World::new();
    let after = world.json("skillful list --source builtin --json");
    assert_eq!(world.json("skillful --json --source builtin list"), after);
}
