//! Settings that cannot be: each is an error with its place and what to do.

use insta::assert_snapshot;

use super::given;
use crate::world::World;

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
    error: `model.provider` in [world]/project/.agent/config.json:2:12: unknown variant `opneai`, expected one of `offline`, `scripted`, `mock`, `openai`, `anthropic`, `gemini`, `openrouter`, `groq`, `mistral`, `deepseek`, `together`, `fireworks`, `cerebras`, `xai`, `ollama`, `lmstudio`, `llamacpp`, `vllm`
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
