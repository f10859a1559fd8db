//! `skillful config`: what is set where, and what a project may set.

mod init;
mod mistakes;
mod project;

use eval::report::TRIGGER_THRESHOLD;
use insta::assert_snapshot;
use pack::material::Limits;
use runtime::settings::Config;

use crate::world::World;

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
    budget.max_script_runs: 40
    budget.max_tool_calls: 100
    budget.max_turns: 40
    budget.max_wall_seconds: 1800
    catalog.format: "lines"
    catalog.max_chars: 8000
    changes.apply: "ask"
    disclosure: "metadata"
    eval.trigger_threshold: 0.5
    execution.copy_bytes: 536870912
    execution.layer_bytes: 2147483648
    execution.layer_files: 100000
    execution.max_argument_bytes: 4096
    execution.max_arguments: 64
    execution.network_hosts: []
    execution.private_hosts: []
    execution.require_approval_for: []
    execution.sandbox: "required"
    execution.timeout_seconds: 120
    install.max_bytes: 104857600
    install.max_entries: 10000
    install.max_ratio: 100
    install.require_signature: "never"
    install.timeout_seconds: 300
    install.verify_on_load: "warn"
    mode: "ask"
    model.api_key_command: null
    model.api_key_env: null
    model.base_url: null
    model.ca_file: null
    model.connect_timeout_seconds: 10
    model.idle_timeout_seconds: 120
    model.images: null
    model.max_retries: 4
    model.max_tokens: null
    model.name: null
    model.protocol: "auto"
    model.provider: null
    model.stream: true
    model.timeout_seconds: 600
    patience.corrections: 2
    patience.questions: 5
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
    let project = r#"{"permissions": {"run_script": {"pdf-x*": "deny"}, "write_file": "ask", "network_request": "allow", "grep": {"*": "deny", "src/*": "allow"}},
        "profiles": {"quick": {"run_script": "ask"}, "loose": {"network_request": "allow"}}}"#;
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
    warning: `permissions.network_request: {"*": "allow"}` in the project's file is ignored: a project may only tighten it
    warning: `profiles.loose.network_request: {"*": "allow"}` in the project's file is ignored: a project may only tighten it
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
