//! `skillful config`: what is set where, and what a project may set.

mod world;

use eval::report::TRIGGER_THRESHOLD;
use insta::assert_snapshot;
use pack::material::Limits;
use runtime::settings::Config;

use world::World;

/// The settings that are not at their defaults.
fn given(world: &World) -> String {
    world.run("skillful config show --origin | grep -v ' default$'")
}

#[test]
fn without_files_every_setting_has_its_default() {
    assert_snapshot!(World::new().run("skillful config show"), @r#"
    audit.redact: []
    audit.store_prompts: false
    budget.max_context_chars: 200000
    budget.max_cost_usd: null
    budget.max_output_tokens: null
    budget.max_script_runs: 6
    budget.max_tool_calls: 30
    budget.max_turns: 12
    budget.max_wall_seconds: 600
    catalog.format: "lines"
    catalog.max_chars: 8000
    disclosure: "metadata"
    eval.trigger_threshold: 0.5
    execution.max_argument_bytes: 4096
    execution.max_arguments: 64
    execution.network_hosts: []
    execution.private_hosts: []
    execution.require_approval_for: []
    execution.sandbox: "required"
    execution.timeout_seconds: 30
    install.max_bytes: 104857600
    install.max_entries: 10000
    install.max_ratio: 100
    install.require_signature: "never"
    install.timeout_seconds: 300
    install.verify_on_load: "warn"
    model.api_key_command: null
    model.api_key_env: null
    model.base_url: null
    model.ca_file: null
    model.connect_timeout_seconds: 10
    model.idle_timeout_seconds: 120
    model.max_retries: 4
    model.max_tokens: null
    model.name: null
    model.protocol: "auto"
    model.provider: null
    model.stream: true
    model.timeout_seconds: 600
    patience.corrections: 2
    patience.same_failures: 3
    patience.skills_per_turn: 2
    registry.compat: true
    registry.follow_symlinks: true
    registry.max_depth: 6
    registry.max_directories: 20000
    registry.mode: "strict"
    registry.precedence: ["explicit","project","user","builtin"]
    search.bodies: false
    security.block_angle_brackets_in_frontmatter: true
    security.max_frontmatter_depth: 8
    security.max_frontmatter_line_chars: 2000
    security.max_frontmatter_lines: 200
    security.max_resource_excerpt_chars: 12000
    security.max_resource_file_bytes: 2000000
    security.max_skill_body_chars: 40000
    security.max_skill_body_lines: 500
    security.oversize_skill_body: "trim"
    security.visible_files: []
    skill_roots: []
    trust.projects: "ask"
    "#);
    assert_snapshot!(given(&World::new()), @"[exit 1]");
}

#[test]
fn json_is_a_file_that_could_be_used() {
    let world = World::new();
    let shown = world.json("skillful config show --json");
    world.write("project/.agent/config.json", shown.to_string());
    assert_eq!(world.json("skillful config show --json"), shown);
    let origins = world.json("skillful config show --origin --json");
    assert_snapshot!(format!("{:#}", origins["catalog.max_chars"]), @r#"
    {
      "origin": "[world]/project/.agent/config.json",
      "value": 8000
    }
    "#);
}

#[test]
fn the_user_comes_after_the_project_and_the_environment_after_the_user() {
    let world = World::new();
    world.write(
        "project/.agent/config.json",
        r#"{"catalog": {"max_chars": 1, "format": "xml"}, "registry": {"max_depth": 1}}"#,
    );
    assert_snapshot!(given(&world), @r#"
    catalog.format: "xml"                                         [world]/project/.agent/config.json
    catalog.max_chars: 1                                          [world]/project/.agent/config.json
    registry.max_depth: 1                                         [world]/project/.agent/config.json
    "#);
    world.write(
        "home/.agent/config.json",
        r#"{"catalog": {"max_chars": 2}, "registry": {"max_depth": 2}}"#,
    );
    assert_snapshot!(given(&world), @r#"
    catalog.format: "xml"                                         [world]/project/.agent/config.json
    catalog.max_chars: 2                                          [world]/home/.agent/config.json
    registry.max_depth: 2                                         [world]/home/.agent/config.json
    "#);
    let world = world.with("SKILLFUL_CATALOG_MAX_CHARS", "3");
    assert_snapshot!(given(&world), @r#"
    catalog.format: "xml"                                         [world]/project/.agent/config.json
    catalog.max_chars: 3                                          $SKILLFUL_CATALOG_MAX_CHARS
    registry.max_depth: 2                                         [world]/home/.agent/config.json
    "#);
}

#[test]
fn comments_and_trailing_commas_are_fine() {
    let world = World::new();
    world.write(
        "home/.agent/config.json",
        "// mine\n{\n  \"catalog\": { /* small */ \"max_chars\": 500, },\n}\n",
    );
    assert_snapshot!(given(&world), @"catalog.max_chars: 500                                        [world]/home/.agent/config.json");
    world.write("home/.agent/config.json", "// nothing yet\n");
    assert_snapshot!(given(&world), @"[exit 1]");
}

#[test]
fn a_project_may_only_tighten_what_protects_the_user() {
    let world = World::new();
    let loose = r#"{"trust": {"projects": "all"}, "security": {"block_angle_brackets_in_frontmatter": false}}"#;
    let tight = r#"{"trust": {"projects": "ask"}, "security": {"block_angle_brackets_in_frontmatter": true}}"#;
    world.write("project/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    [stderr]
    warning: `security.block_angle_brackets_in_frontmatter: false` in the project's file is ignored: a project may only tighten it
    warning: `trust.projects: "all"` in the project's file is ignored: a project may only tighten it
    [exit 1]
    "#);
    world.write("home/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    security.block_angle_brackets_in_frontmatter: false           [world]/home/.agent/config.json
    trust.projects: "all"                                         [world]/home/.agent/config.json
    [stderr]
    warning: `security.block_angle_brackets_in_frontmatter: false` in the project's file is ignored: a project may only tighten it
    warning: `trust.projects: "all"` in the project's file is ignored: a project may only tighten it
    "#);
    world.write("project/.agent/config.json", tight);
    assert_snapshot!(given(&world), @r#"
    security.block_angle_brackets_in_frontmatter: false           [world]/home/.agent/config.json
    trust.projects: "all"                                         [world]/home/.agent/config.json
    "#);
}

#[test]
fn a_project_reaches_no_further_host_interpreter_or_limit() {
    let world = World::new();
    world.write(
        "project/.agent/config.json",
        r#"{
            "execution": {"network_hosts": ["evil.example"], "interpreters": {"sh": ["evil"]}, "timeout_seconds": 3600},
            "audit": {"store_prompts": true}, "registry": {"mode": "lenient"},
            "security": {"max_resource_file_bytes": 4000000000}, "budget": {"max_turns": 1000, "max_tool_calls": 3}
        }"#,
    );
    assert_snapshot!(given(&world), @r#"
    budget.max_tool_calls: 3                                      [world]/project/.agent/config.json
    [stderr]
    warning: `audit.store_prompts: true` in the project's file is ignored: a project may only tighten it
    warning: `budget.max_turns: 1000` in the project's file is ignored: a project may only lower it, from 12
    warning: `execution.network_hosts` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_EXECUTION_NETWORK_HOSTS`
    warning: `execution.timeout_seconds: 3600` in the project's file is ignored: a project may only lower it, from 30
    warning: `registry.mode: "lenient"` in the project's file is ignored: a project may only tighten it
    warning: `security.max_resource_file_bytes: 4000000000` in the project's file is ignored: a project may only lower it, from 2000000
    warning: `execution.interpreters` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_EXECUTION_INTERPRETERS`
    "#);
    world.write(
        "home/.agent/config.json",
        r#"{"budget": {"max_turns": 20}, "execution": {"network_hosts": ["good.example"]}}"#,
    );
    assert_snapshot!(world.run("skillful -q config show --origin | grep -v ' default$'"), @r#"
    budget.max_tool_calls: 3                                      [world]/project/.agent/config.json
    budget.max_turns: 20                                          [world]/home/.agent/config.json
    execution.network_hosts: ["good.example"]                     [world]/home/.agent/config.json
    "#);
}

#[test]
fn what_is_shown_about_the_model_is_what_counts() {
    let world = World::new();
    world.write("project/.agent/config.json", r#"{"model": "scripted:turns.json"}"#);
    world.write(
        "home/.agent/config.json",
        r#"{"model": {"provider": "openai", "name": "mine", "params": {"seed": 1}}}"#,
    );
    assert_snapshot!(given(&world), @r#"
    model.name: "mine"                                            [world]/home/.agent/config.json
    model.params.seed: 1                                          [world]/home/.agent/config.json
    model.provider: "openai"                                      [world]/home/.agent/config.json
    [stderr]
    warning: `model.name` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_MODEL_NAME`
    warning: `model.provider` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_MODEL_PROVIDER`
    "#);
    // What belongs to one server does not go on to count for another, and nobody says that it does.
    let world = world.with("SKILLFUL_MODEL", "anthropic:other");
    assert_snapshot!(world.run("skillful -q config show --origin | grep -v ' default$'"), @r#"
    model.name: "other"                                           $SKILLFUL_MODEL
    model.provider: "anthropic"                                   $SKILLFUL_MODEL
    "#);
}

#[test]
fn the_rules_that_count_are_shown_and_no_others() {
    let world = World::new();
    let user = r#"{"permissions": {"run_script": {"*": "ask", "pdf-*": "allow"}, "write_file": "deny", "skill": {"internal-*": "deny", "*": "allow"}},
        "profiles": {"quick": {"run_script": "allow"}}}"#;
    let project = r#"{"permissions": {"run_script": {"pdf-x*": "deny"}, "write_file": "ask", "delete_file": "allow", "grep": {"*": "deny", "src/*": "allow"}},
        "profiles": {"quick": {"run_script": "ask"}, "loose": {"write_file": "allow"}}}"#;
    world.write("home/.agent/config.json", user);
    world.write("project/.agent/config.json", project);
    assert_snapshot!(given(&world), @r#"
    permissions.grep.*: "deny"                                    [world]/project/.agent/config.json
    permissions.grep.src/*: "allow"                               [world]/project/.agent/config.json
    permissions.run_script.*: "ask"                               [world]/home/.agent/config.json
    permissions.run_script.pdf-*: "allow"                         [world]/home/.agent/config.json
    permissions.run_script.pdf-x*: "deny"                         [world]/project/.agent/config.json
    permissions.skill.*: "allow"                                  [world]/home/.agent/config.json
    permissions.write_file.*: "deny"                              [world]/home/.agent/config.json
    profiles.quick.run_script.*: "ask"                            [world]/project/.agent/config.json
    [stderr]
    warning: `permissions.write_file: {"*": "ask"}` in the project's file is ignored: a project may only tighten it
    warning: `permissions.delete_file: {"*": "allow"}` in the project's file is ignored: a project may only tighten it
    warning: `profiles.loose.write_file: {"*": "allow"}` in the project's file is ignored: a project may only tighten it
    "#);
    let rules = world.json("skillful config show --json");
    assert_snapshot!(format!("{:#}", rules["permissions"]), @r#"
    {
      "grep": {
        "*": "deny",
        "src/*": "allow"
      },
      "run_script": {
        "*": "ask",
        "pdf-*": "allow",
        "pdf-x*": "deny"
      },
      "skill": {
        "*": "allow"
      },
      "write_file": {
        "*": "deny"
      }
    }
    "#);
    let tighter = r#"{"permissions": {"run_script": "deny"}}"#;
    world.write("project/.agent/config.json", tighter);
    let world = world.with("SKILLFUL_PERMISSIONS", r#"{"write_file": "ask", "network": "deny"}"#);
    assert_snapshot!(given(&world), @r#"
    permissions.network.*: "deny"                                 $SKILLFUL_PERMISSIONS
    permissions.run_script.*: "deny"                              [world]/project/.agent/config.json
    permissions.skill.*: "allow"                                  [world]/home/.agent/config.json
    permissions.write_file.*: "ask"                               $SKILLFUL_PERMISSIONS
    profiles.quick.run_script.*: "allow"                          [world]/home/.agent/config.json
    "#);
}

#[test]
fn rules_of_the_environment_can_be_wrong() {
    let check = |name: &str, value: &str| World::new().with(name, value).run("skillful list");
    assert_snapshot!(check("SKILLFUL_PERMISSIONS", "deny"), @r#"
    [stderr]
    error: `permissions` in $SKILLFUL_PERMISSIONS: invalid type: string "deny", expected an object from permissions to `allow`, `ask`, `deny` or an object of patterns
    hint: `skillful schema config` describes every setting
    [exit 2]
    "#);
    assert_snapshot!(check("SKILLFUL_PERMISSIONS", r#"{"run_scirpt": "deny"}"#), @"
    [stderr]
    error: `permissions.run_scirpt` in $SKILLFUL_PERMISSIONS: unknown permission `run_scirpt`; did you mean `run_script`?
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("SKILLFUL_PROFILES", r#"{"readonly": {"run_script": "dney"}}"#), @"
    [stderr]
    error: `profiles.readonly.run_script` in $SKILLFUL_PROFILES: unknown variant `dney`, expected one of `allow`, `ask`, `deny`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
}

#[test]
fn roots_in_a_file_start_at_its_folder_and_are_of_its_owner() {
    let world = World::new();
    world.skill("project/tools/theirs", "The project's.");
    world.skill("home/tools/mine", "The user's.");
    world.skill("home/more/further", "The user's, too.");
    world.write("project/.agent/config.json", r#"{"skill_roots": ["tools"]}"#);
    world.write("home/.agent/config.json", r#"{"skill_roots": ["tools", "~/more"]}"#);
    assert_snapshot!(world.run("skillful list | grep -v builtin"), @"
    further            explicit  The user's, too.
    mine               explicit  The user's.
    theirs             project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
    assert_snapshot!(world.run("skillful -C .agent list --source project"), @"
    theirs  project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
}

#[test]
fn wherever_a_folder_that_a_project_names_leads_it_waits_for_trust() {
    for (root, link) in [
        ("../elsewhere", None),
        ("~/elsewhere", None),
        ("tools", Some(("project/tools", "../elsewhere"))),
        ("tools/deep", Some(("project/tools/deep", "../../elsewhere"))),
        ("tools", Some(("project/tools/outside", "../../elsewhere/outside"))),
        (".agent/more", Some(("project/.agent/more", "../../home/elsewhere"))),
    ] {
        let world = World::new();
        for folder in ["elsewhere", "home/elsewhere"] {
            world.skill(&format!("{folder}/outside"), "Not the project's.");
        }
        if let Some((path, target)) = link {
            world.link(path, target);
        }
        let settings = format!(r#"{{"skill_roots": ["{root}"]}}"#);
        world.write("project/.agent/config.json", settings);
        let listed = world.json("skillful list --json");
        let outside = listed["skills"].as_array().unwrap();
        let outside: Vec<_> = outside.iter().filter(|skill| skill["name"] == "outside").collect();
        assert_eq!(outside.len(), 1, "{root}");
        assert_eq!(
            (&outside[0]["source"], &outside[0]["trusted"]),
            (&"project".into(), &false.into())
        );
        let seen = world.run("skillful run --skill outside x");
        assert!(seen.contains("not trusted") && seen.ends_with("[exit 4]\n"), "{root}: {seen}");
    }
}

#[test]
fn a_project_cannot_pass_its_skills_off_as_the_users() {
    let world = World::new();
    world.skill("project/.agent/skills/theirs", "The project's.");
    world.write("project/.agent/config.json", r#"{"skill_roots": [".agent/skills"]}"#);
    assert_snapshot!(world.run("skillful list | grep theirs"), @"
    theirs             project   untrusted The project's.
    [stderr]
    Hidden from the model: 1 untrusted skill of this project. Look first, then run `skillful trust project NAME`.
    ");
}

#[test]
fn an_unknown_setting_is_an_error_with_a_suggestion() {
    let world = World::new();
    world.write("home/.agent/config.json", r#"{"catalog": {"max_char": 1}}"#);
    assert_snapshot!(world.run("skillful list"), @"
    [stderr]
    error: unknown setting `catalog.max_char` in [world]/home/.agent/config.json:1:14
    hint: did you mean `catalog.max_chars`?
    [exit 2]
    ");
    assert_snapshot!(world.run_json("skillful list --json"), @r#"
    {
      "error": {
        "code": "InvalidConfiguration",
        "details": null,
        "hint": "did you mean `catalog.max_chars`?",
        "message": "unknown setting `catalog.max_char` in [world]/home/.agent/config.json:1:14"
      }
    }
    [exit 2]
    "#);
    world.write("home/.agent/config.json", r#"{"colour": "red"}"#);
    assert_snapshot!(world.run("skillful config show"), @"
    [stderr]
    error: unknown setting `colour` in [world]/home/.agent/config.json:1:2
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    world.write("home/.agent/config.json", r#"{"trust": "all"}"#);
    assert_snapshot!(world.run("skillful config show"), @"
    [stderr]
    error: unknown setting `trust` in [world]/home/.agent/config.json:1:2
    hint: did you mean `trust.projects`?
    [exit 2]
    ");
    world.write("home/.agent/config.json", r#"{"nothing": {}}"#);
    assert_snapshot!(world.run("skillful config show"), @"
    [stderr]
    error: unknown setting `nothing` in [world]/home/.agent/config.json:1:2
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
}

#[test]
fn a_value_that_cannot_be_is_an_error_with_its_place() {
    let world = World::new();
    let check = |text: &str| {
        world.write("project/.agent/config.json", text);
        world.run("skillful list")
    };
    assert_snapshot!(check(r#"{"catalog": {"max_chars": "many"}}"#), @r#"
    [stderr]
    error: `catalog.max_chars` in [world]/project/.agent/config.json:1:14: invalid type: string "many", expected a whole number, 0 or more
    hint: `skillful schema config` describes every setting
    [exit 2]
    "#);
    assert_snapshot!(check(r#"{"registry": {"precedence": ["user", "root"]}}"#), @"
    [stderr]
    error: `registry.precedence[1]` in [world]/project/.agent/config.json:1:38: unknown variant `root`, expected one of `explicit`, `project`, `user`, `builtin`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("{\n  \"catalog\": }\n"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` is not valid JSON: Unexpected close brace on line 2 column 14
    hint: fix the file; comments are allowed
    [exit 2]
    ");
    assert_snapshot!(check("[]"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` is not valid JSON: settings must be an object, as in `{}`
    hint: fix the file; comments are allowed
    [exit 2]
    ");
    assert_snapshot!(check("// ä\n{\n  \"catalgo\": {},\n}\n"), @"
    [stderr]
    error: unknown setting `catalgo` in [world]/project/.agent/config.json:3:3
    hint: did you mean `catalog`?
    [exit 2]
    ");
    assert_snapshot!(check("{\n  \"permissions\": {\n    /* ä */ \"run_script\": \"dney\"\n  }\n}\n"), @"
    [stderr]
    error: `permissions.run_script` in [world]/project/.agent/config.json:3:13: unknown variant `dney`, expected one of `allow`, `ask`, `deny`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("{\"permissions\": {\n  \"skill\": {\"a.b\": \"dney\"}}}"), @"
    [stderr]
    error: `permissions.skill.a.b` in [world]/project/.agent/config.json:2:13: unknown variant `dney`, expected one of `allow`, `ask`, `deny`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("{\"permissions\": {\n  \"run_scirpt\": \"deny\"}}"), @"
    [stderr]
    error: `permissions.run_scirpt` in [world]/project/.agent/config.json:2:3: unknown permission `run_scirpt`; did you mean `run_script`?
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("{\"registry\": {\"precedence\": [\n  \"user\",\n  \"root\"\n]}}"), @"
    [stderr]
    error: `registry.precedence[1]` in [world]/project/.agent/config.json:3:3: unknown variant `root`, expected one of `explicit`, `project`, `user`, `builtin`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    assert_snapshot!(check("{\n  \"model\": \"opneai:x\"\n}"), @"
    [stderr]
    error: `model.provider` in [world]/project/.agent/config.json:2:12: unknown variant `opneai`, expected one of `offline`, `scripted`, `mock`, `openai`, `anthropic`
    hint: `skillful schema config` describes every setting
    [exit 2]
    ");
    world.write("project/.agent/config.json", b"{\n// \xff\n}");
    assert_snapshot!(world.run("skillful list"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` is not UTF-8 in line 2
    hint: save it as UTF-8
    [exit 2]
    ");
    assert_snapshot!(check(&"[".repeat(100_000)), @"
    [stderr]
    error: `[world]/project/.agent/config.json` is not valid JSON: Maximum nesting depth exceeded on line 1 column 513
    hint: fix the file; comments are allowed
    [exit 2]
    ");
    let world = World::new().with("SKILLFUL_CATALOG_MAX_CHARS", "many");
    assert_snapshot!(world.run("skillful list"), @r#"
    [stderr]
    error: `catalog.max_chars` in $SKILLFUL_CATALOG_MAX_CHARS: invalid type: string "many", expected a whole number, 0 or more
    hint: `skillful schema config` describes every setting
    [exit 2]
    "#);
    let world = World::new().with("SKILLFUL_CATALOG_MAX_CHARS", "");
    assert_snapshot!(given(&world), @"[exit 1]");
}

#[test]
fn something_else_in_the_place_of_a_file_is_an_error() {
    let world = World::new();
    let refused = |make: &str, why: &str| {
        world.run(make);
        let seen = world.run("skillful list");
        assert!(seen.contains(why) && seen.ends_with("[exit 4]\n"), "{make}: {seen}");
        let seen = world.json("skillful list --json");
        assert_eq!(seen["error"]["code"], "StateUnsafe", "{make}");
    };
    refused("mkdir .agent && mkfifo .agent/config.json", "config.json`: it is not a plain file");
    refused(
        "rm .agent/config.json && mkdir .agent/config.json",
        "config.json`: it is not a plain file",
    );
    refused(
        "rmdir .agent/config.json && truncate -s 1000001 .agent/config.json",
        "config.json`: it has more than 1000000 bytes",
    );
    world.run("rm .agent/config.json");
    world.link("project/.agent/config.json", "config.json");
    assert_snapshot!(world.run("skillful list"), @"
    [stderr]
    error: cannot read `[world]/project/.agent/config.json`: it is a link, and links are not followed here
    hint: Skillful never makes a link there: check where it leads, then remove it
    [exit 4]
    ");
}

#[test]
fn init_writes_a_file_that_changes_nothing_until_it_is_edited() {
    let world = World::new();
    let before = world.run("skillful config show");
    assert_snapshot!(world.run("skillful config init --dry-run"), @"
    [world]/project/.agent/config.json
    [stderr]
    Nothing was written.
    ");
    assert_snapshot!(world.run("skillful config init"), @"[world]/project/.agent/config.json");
    assert_snapshot!(world.read("project/.agent/config.json"), @r#"
    // Settings of skillful. To set one, remove the first `//` of its line.
    {
      "audit": {
        // "redact": [],  // More patterns (regular expressions) of secrets to keep out of the record.
        // "store_prompts": false,  // Record the full prompts and replies, not only their hash and size.
      },
      "budget": {
        // "max_context_chars": 200000,  // How many characters the context may have.
        // "max_cost_usd": null,  // How many US dollars the model may cost; no limit by default.
        // "max_output_tokens": null,  // How many tokens the model may write; no limit by default.
        // "max_script_runs": 6,  // How many script runs are allowed.
        // "max_tool_calls": 30,  // How many tool calls and script runs are allowed.
        // "max_turns": 12,  // How many decisions the model may make.
        // "max_wall_seconds": 600,  // How many seconds the run may take.
      },
      "catalog": {
        // "format": "lines",  // The format of the list: `lines`, `xml` or `json`.
        // "max_chars": 8000,  // How many characters the list may have.
      },
      // "disclosure": "metadata",  // When a model sees the text of skills: after it chose one (`metadata`), or from the start (`core`).
      "eval": {
        // "trigger_threshold": 0.5,  // How often a query must choose the skill to count as triggered: more than 0, at most 1.
      },
      "execution": {
        // "max_argument_bytes": 4096,  // How many bytes one argument may have.
        // "max_arguments": 64,  // How many arguments a script may get.
        // "network_hosts": [],  // Hosts that the tool `network_request` may reach.
        // "private_hosts": [],  // Allowed hosts that may have private, loopback or link-local addresses.
        // "require_approval_for": [],  // Tools that always ask, even if a rule allows them; your list and the project's add up.
        // "sandbox": "required",  // What to do if the kernel cannot sandbox a script.
        // "timeout_seconds": 30,  // How many seconds a script may run.
      },
      "install": {
        // "max_bytes": 104857600,  // How many bytes all files of a pack may have.
        // "max_entries": 10000,  // How many files a pack may have.
        // "max_ratio": 100,  // How many times larger a file may be than its compressed form.
        // "require_signature": "never",  // Which packs a trusted key must sign: none (`never`), those from the network (`remote`) or all (`always`).
        // "timeout_seconds": 300,  // How many seconds a download may take.
        // "verify_on_load": "warn",  // What to do if a file of an installed skill changed: warn (`warn`), refuse it (`require`) or not check (`off`).
      },
      "model": {
        // "api_key_command": null,  // A command that prints the API key, as a list of words.
        // "api_key_env": null,  // The environment variable with the API key. Not set: the provider's usual one.
        // "base_url": null,  // The server's address, with the path before `/chat/completions` or `/messages`.
        // "ca_file": null,  // A PEM file with more certificate authorities.
        // "connect_timeout_seconds": 10,  // How many seconds a connection may take.
        // "idle_timeout_seconds": 120,  // How many seconds may pass without a new part of the reply.
        // "max_retries": 4,  // How often to retry a failed call.
        // "max_tokens": null,  // How many tokens one reply may have.
        // "name": null,  // The model's name; for `scripted`, its file.
        // "protocol": "auto",  // How the model replies: by tool calls (`tools`), in JSON (`json`), or as the server can (`auto`).
        // "provider": null,  // `anthropic`, `openai` (and every compatible server), `offline`, `scripted`, or `mock` (replies from the file `name` or from `params`, else offline). Not set: Skillful looks for a key or a local server.
        // "stream": true,  // Get replies piece by piece.
        // "timeout_seconds": 600,  // How many seconds a whole reply may take.
      },
      "patience": {
        // "corrections": 2,  // How often to ask again in a turn if the reply is not a decision.
        // "same_failures": 3,  // How often the same action may fail in a row before the run ends.
        // "skills_per_turn": 2,  // How many skills one action may load.
      },
      "permissions": {
      },
      "profiles": {
      },
      "registry": {
        // "compat": true,  // Also search the skill folders of other agents, such as `.claude` and `.codex`.
        // "follow_symlinks": true,  // Follow symbolic links.
        // "max_depth": 6,  // How many levels of folders may be between a root and a skill.
        // "max_directories": 20000,  // How many folders to search in one root.
        // "mode": "strict",  // `strict`, or `lenient` to also accept skills with mistakes in the frontmatter.
        // "precedence": ["explicit","project","user","builtin"],  // The order of sources; the first one wins.
      },
      "search": {
        // "bodies": false,  // Also search the text of skills; `refresh`, `install` and `update` read it.
      },
      "security": {
        // "block_angle_brackets_in_frontmatter": true,  // Refuse a skill with `<` or `>` in its name, description or `when_to_use`.
        // "max_frontmatter_depth": 8,  // How many levels deep values in the frontmatter may be.
        // "max_frontmatter_line_chars": 2000,  // How many characters a line of the frontmatter may have.
        // "max_frontmatter_lines": 200,  // How many lines a frontmatter may have.
        // "max_resource_excerpt_chars": 12000,  // How many characters of a file a model gets at once.
        // "max_resource_file_bytes": 2000000,  // How many bytes a file of a skill may have.
        // "max_skill_body_chars": 40000,  // How many characters the text of a skill may have.
        // "max_skill_body_lines": 500,  // How many lines the text of a skill may have.
        // "oversize_skill_body": "trim",  // What to do with a longer text: cut it (`trim`) or refuse the skill (`reject`).
        // "visible_files": [],  // Files that tools may see although they look like secrets.
      },
      // "skill_roots": [],  // More folders with skills; the first one wins.
      "trust": {
        // "projects": "ask",  // `ask` hides a project's skills until you run `skillful trust project`; `all` trusts every project, for CI.
      },
    }
    "#);
    assert_eq!(world.run("skillful config show"), before);
    assert_snapshot!(world.run("skillful config init"), @"
    [stderr]
    error: `[world]/project/.agent/config.json` already exists
    hint: edit it; `skillful config show --origin` shows every value and where it comes from
    [exit 1]
    ");
    assert_snapshot!(world.run_json("skillful config init --user --json"), @r#"
    {
      "path": "[world]/home/.agent/config.json",
      "written": true
    }
    "#);
}

#[test]
fn every_line_of_the_file_can_be_taken_into_use_alone() {
    let world = World::new();
    world.run("skillful config init");
    let template = world.read("project/.agent/config.json");
    let settings = template.lines().filter(|line| line.trim_start().starts_with("// \""));
    let mut count = 0;
    for line in settings {
        count += 1;
        let edited = template.replace(line, &line.replacen("// ", "", 1));
        world.write("project/.agent/config.json", edited);
        let shown = given(&world);
        assert!(shown.ends_with("[world]/project/.agent/config.json\n"), "{line}\n{shown}");
        assert_eq!(shown.lines().count(), 1, "{line}\n{shown}");
    }
    let known = world.json("skillful config show --origin --json").as_object().unwrap().len();
    assert_eq!(count, known);
}

#[test]
fn settings_reach_the_commands() {
    let world = World::new();
    world.skill("home/.claude/skills/other-host", "Of another host.");
    world.skill("home/.agent/skills/a/b/deep", "Deep.");
    world.skill("home/.agent/skills/flat", "Flat.");
    world.skill("elsewhere/linked", "Linked.");
    world.link("home/.agent/skills/linked", "../../../elsewhere/linked");
    world.write(
        "home/.agent/skills/tagged/SKILL.md",
        "---\nname: tagged\ndescription: a <b> c\n---\n",
    );
    let with = |name: &str, value: &str| {
        world.run(&format!("{name}='{value}' skillful -q list --source user"))
    };
    assert_snapshot!(with("ANY", ""), @"
    deep        user      Deep.
    flat        user      Flat.
    linked      user      Linked.
    other-host  user      Of another host.
    ");
    assert_snapshot!(with("SKILLFUL_REGISTRY_COMPAT", "false"), @"
    deep    user      Deep.
    flat    user      Flat.
    linked  user      Linked.
    ");
    assert_snapshot!(with("SKILLFUL_REGISTRY_MAX_DEPTH", "1"), @"
    flat        user      Flat.
    linked      user      Linked.
    other-host  user      Of another host.
    ");
    assert_snapshot!(with("SKILLFUL_REGISTRY_FOLLOW_SYMLINKS", "false"), @"
    deep        user      Deep.
    flat        user      Flat.
    other-host  user      Of another host.
    ");
    assert_snapshot!(with("SKILLFUL_REGISTRY_MODE", "lenient"), @"
    deep        user      Deep.
    flat        user      Flat.
    linked      user      Linked.
    other-host  user      Of another host.
    tagged      user      a &lt;b&gt; c
    ");
    assert_snapshot!(with("SKILLFUL_REGISTRY_PRECEDENCE", "[\"builtin\"]"), @"");
    assert_snapshot!(with("SKILLFUL_SECURITY_BLOCK_ANGLE_BRACKETS_IN_FRONTMATTER", "false"), @"
    deep        user      Deep.
    flat        user      Flat.
    linked      user      Linked.
    other-host  user      Of another host.
    tagged      user      a <b> c
    ");
}

#[test]
fn a_project_does_not_decide_how_much_of_the_users_skills_is_sent() {
    let world = World::new();
    world.write(
        "home/.agent/skills/own/SKILL.md",
        "---\nname: own\ndescription: Mine.\n---\nPRIVATE\n",
    );
    let loose = r#"{"disclosure": "core", "catalog": {"max_chars": 100000000}}"#;
    world.write("project/.agent/config.json", loose);
    assert_snapshot!(given(&world), @r#"
    [stderr]
    warning: `catalog.max_chars: 100000000` in the project's file is ignored: a project may only lower it, from 8000
    warning: `disclosure: "core"` in the project's file is ignored: a project may only tighten it
    [exit 1]
    "#);
    world.write(
        "turns.json",
        r#"{"turns": [{"action": {"type": "final_answer", "payload": {"content": "x"}}}]}"#,
    );
    world.run("SKILLFUL_AUDIT_STORE_PROMPTS=true skillful run --model scripted:../turns.json x");
    assert!(!world.run("cat .agent/runs/*/events.jsonl").contains("PRIVATE"));
}

/// The settings are read where neither packs nor evals are known.
#[test]
fn defaults_are_those_of_the_parts_that_they_set() {
    let config = Config::default();
    let limits = Limits::default();
    let install = &config.install;
    assert_eq!(install.max_entries, limits.entries);
    assert_eq!(install.max_bytes, limits.bytes);
    assert_eq!(install.max_ratio, limits.ratio);
    assert_eq!(config.eval.trigger_threshold, TRIGGER_THRESHOLD);
}
