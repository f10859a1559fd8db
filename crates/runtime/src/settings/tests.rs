use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::layers::{Layers, closest, expand, known_keys, leaves};
use super::project::{SETTINGS, Say};
use super::{Config, ConfigError, ModelSettings, Origin};

/// What the project, the user and the environment say; `None` where there is no file.
#[derive(Default)]
struct Said<'a> {
    project: Option<&'a str>,
    user: Option<&'a str>,
    environment: &'a [(&'a str, &'a str)],
}

/// The layers, with `PROJECT` and `HOME` for the folders in which they were.
fn read(said: &Said<'_>) -> (Result<Layers, ConfigError>, TempDir) {
    let folder = TempDir::new().unwrap();
    for (name, text) in [("project", said.project), ("home", said.user)] {
        fs::create_dir_all(folder.path().join(name).join(".agent")).unwrap();
        if let Some(text) = text {
            fs::write(folder.path().join(name).join(".agent/config.json"), text).unwrap();
        }
    }
    let environment: Vec<(OsString, OsString)> =
        said.environment.iter().map(|(name, value)| (name.into(), value.into())).collect();
    let home = folder.path().join("home");
    (Layers::read(&folder.path().join("project"), None, Some(&home), &environment), folder)
}

/// Every setting that was given, as `key=value < where it is from`.
fn given(said: &Said<'_>) -> Vec<String> {
    let layers = read(said).0.unwrap();
    let settings = serde_json::to_value(&layers.config).unwrap();
    let value = |key: &str| settings.pointer(&format!("/{}", key.replace('.', "/"))).unwrap();
    let show = |(key, from): (&String, &Origin)| format!("{key}={} < {}", value(key), place(from));
    layers.origins.iter().map(show).collect()
}

fn place(origin: &Origin) -> String {
    match origin {
        Origin::Project(_) => "project".to_owned(),
        Origin::User(_) => "user".to_owned(),
        Origin::Environment(name) => name.clone(),
        Origin::Both(one, other) => format!("{}+{}", place(one), place(other)),
    }
}

fn error(said: &Said<'_>) -> (String, String) {
    let (read, folder) = read(said);
    let error = read.unwrap_err();
    let folder = format!("{}/", folder.path().display());
    (error.to_string().replace(&folder, ""), basics::failure::Explain::hint(&error).into_owned())
}

#[test]
fn nothing_said_is_the_defaults() {
    let layers = read(&Said::default()).0.unwrap();
    assert_eq!(layers.config, Config::default());
    assert!(layers.origins.is_empty() && layers.warnings.is_empty());
}

#[test]
fn each_key_is_taken_from_the_last_that_sets_it() {
    let said = Said {
        project: Some(
            r#"{"catalog": {"max_chars": 1, "format": "xml"}, "registry": {"max_depth": 1}}"#,
        ),
        user: Some(r#"{"catalog": {"max_chars": 2}, "registry": {"max_depth": 2}}"#),
        environment: &[("SKILLFUL_CATALOG_MAX_CHARS", "3")],
    };
    let expected = [
        "catalog.format=\"xml\" < project",
        "catalog.max_chars=3 < SKILLFUL_CATALOG_MAX_CHARS",
        "registry.max_depth=2 < user",
    ];
    assert_eq!(given(&said), expected);
}

#[test]
fn a_list_replaces_a_list() {
    let said = Said {
        project: Some(r#"{"registry": {"precedence": ["user", "project", "builtin"]}}"#),
        user: Some(r#"{"registry": {"precedence": ["builtin"]}}"#),
        ..Default::default()
    };
    assert_eq!(given(&said), ["registry.precedence=[\"builtin\"] < user"]);
}

#[test]
fn whoever_wants_to_be_asked_is_asked() {
    let said = Said {
        project: Some(r#"{"execution": {"require_approval_for": ["grep", "run_script"]}}"#),
        user: Some(r#"{"execution": {"require_approval_for": ["run_script", "read_file"]}}"#),
        ..Default::default()
    };
    let expected =
        r#"execution.require_approval_for=["grep","run_script","read_file"] < project+user"#;
    assert_eq!(given(&said), [expected]);
}

#[test]
fn a_section_without_settings_sets_nothing() {
    let said = Said { project: Some(r#"{"catalog": {}}"#), user: Some(""), ..Default::default() };
    assert_eq!(given(&said), Vec::<String>::new());
}

#[test]
fn a_variable_is_json_or_else_text() {
    let check = |name: &str, value: &str, expected: &str| {
        let said = Said { environment: &[(name, value)], ..Default::default() };
        assert_eq!(given(&said), [format!("{expected} < {name}")]);
    };
    check("SKILLFUL_REGISTRY_COMPAT", "false", "registry.compat=false");
    check("SKILLFUL_CATALOG_FORMAT", "json", "catalog.format=\"json\"");
    check("SKILLFUL_CATALOG_FORMAT", "\"json\"", "catalog.format=\"json\"");
    check("SKILLFUL_REGISTRY_PRECEDENCE", "[\"user\"]", "registry.precedence=[\"user\"]");
}

#[test]
fn a_variable_that_is_empty_or_of_no_setting_sets_nothing() {
    let environment: &[_] = &[
        ("SKILLFUL_CATALOG_MAX_CHARS", ""),
        ("SKILLFUL_CATALOG", "{}"),
        ("SKILLFUL_SKILL_ROOTS", "[\"/a\"]"),
        ("CATALOG_MAX_CHARS", "1"),
    ];
    assert_eq!(given(&Said { environment, ..Default::default() }), Vec::<String>::new());
}

#[test]
fn what_loosens_is_taken_from_the_user_and_not_from_a_project() {
    let loose = r#"{"trust": {"projects": "all"}, "security": {"block_angle_brackets_in_frontmatter": false, "max_skill_body_lines": 9}}"#;
    let project = Said { project: Some(loose), ..Default::default() };
    assert_eq!(given(&project), ["security.max_skill_body_lines=9 < project"]);
    assert_eq!(read(&project).0.unwrap().warnings.len(), 2);
    let user = Said { user: Some(loose), ..Default::default() };
    let expected = [
        "security.block_angle_brackets_in_frontmatter=false < user",
        "security.max_skill_body_lines=9 < user",
        "trust.projects=\"all\" < user",
    ];
    assert_eq!(given(&user), expected);
    assert!(read(&user).0.unwrap().warnings.is_empty());
}

/// What is left of a project's word on one setting, and the warning.
fn of_project(key: &str, value: Value) -> (Vec<String>, Vec<String>) {
    let text = key.rsplit('.').fold(value, |value, part| json!({part: value})).to_string();
    let said = Said { project: Some(&text), ..Default::default() };
    (given(&said), read(&said).0.unwrap().warnings)
}

#[test]
fn a_project_raises_no_limit() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let lowered = SETTINGS.iter().filter(|(_, say)| matches!(say, Say::Lower));
    for (key, _) in lowered {
        let default = &defaults[key.split('.').next().unwrap()][key.split('.').nth(1).unwrap()];
        let limit = default.as_u64();
        let kept = |value: Value| {
            let (given, warnings) = of_project(key, value.clone());
            assert_eq!(given, [format!("{key}={value} < project")]);
            assert!(warnings.is_empty(), "{warnings:?}");
        };
        kept(default.clone());
        let Some(limit) = limit else {
            // Any limit is lower than none.
            kept(if *key == "budget.max_cost_usd" { json!(0.5) } else { json!(5) });
            continue;
        };
        kept(json!(limit - 1));
        let warning = format!(
            "`{key}: {}` in the project's file is ignored: a project may only lower it, from {limit}",
            limit + 1
        );
        assert_eq!(of_project(key, json!(limit + 1)), (vec![], vec![warning]));
    }
}

#[test]
fn what_a_project_may_not_say_is_ignored_with_a_warning() {
    let check = |key: &str, value: Value, warning: &str| {
        let why = match warning {
            warning if warning.contains(':') => "a project may only tighten it".to_owned(),
            _ => format!(
                "only you may set it, in `~/.agent/config.json` or with `SKILLFUL_{}`",
                key.replace('.', "_").to_uppercase()
            ),
        };
        let warning = format!("{warning} in the project's file is ignored: {why}");
        assert_eq!(of_project(key, value), (vec![], vec![warning]));
    };
    check("execution.network_hosts", json!(["evil.example"]), "`execution.network_hosts`");
    check("execution.interpreters", json!({"sh": ["evil"]}), "`execution.interpreters`");
    check("audit.redact", json!([".*"]), "`audit.redact`");
    check("audit.store_prompts", json!(true), "`audit.store_prompts: true`");
    check("registry.mode", json!("lenient"), "`registry.mode: \"lenient\"`");
    check("execution.sandbox", json!("off"), "`execution.sandbox: \"off\"`");
    check("execution.sandbox", json!("best-effort"), "`execution.sandbox: \"best-effort\"`");
    check("install.verify_on_load", json!("off"), "`install.verify_on_load: \"off\"`");
    check("trust.projects", json!("all"), "`trust.projects: \"all\"`");
    let (given, warnings) = of_project("install.verify_on_load", json!("require"));
    assert_eq!(given, ["install.verify_on_load=\"require\" < project"]);
    assert!(warnings.is_empty());
}

#[test]
fn what_a_project_says_wrongly_is_an_error_and_not_ignored() {
    let project = Some(r#"{"execution": {"sandbox": "of"}}"#);
    let (message, _) = error(&Said { project, ..Default::default() });
    assert!(message.contains("unknown variant `of`"), "{message}");
}

#[test]
fn the_documentation_says_what_a_project_may_do_with_each_setting() {
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let Ok(documented) = fs::read_to_string(documented) else {
        return eprintln!("skipped: this needs the whole repository");
    };
    let defaults = serde_json::to_value(Config::default()).unwrap();
    for (key, _) in leaves(&defaults) {
        let say = SETTINGS.iter().find(|(known, _)| *known == key).map(|(_, say)| say);
        let word = match say {
            Some(Say::Any) => "set it",
            Some(Say::Lower) => "lower it",
            Some(Say::Only(_)) => "tighten it",
            None => "not set it",
        };
        let row = documented.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
        let row = row.unwrap_or_else(|| panic!("no row for {key}"));
        assert!(row.ends_with(&format!("| {word} |")), "{row}: {word}");
    }
    let known = known_keys();
    assert!(SETTINGS.iter().all(|(key, _)| known.iter().any(|known| known == key)));
}

#[test]
fn a_project_that_tightens_does_so_until_the_user_says_otherwise() {
    let tight = r#"{"trust": {"projects": "ask"}}"#;
    let project = Said { project: Some(tight), ..Default::default() };
    assert_eq!(given(&project), ["trust.projects=\"ask\" < project"]);
    let environment: &[_] = &[("SKILLFUL_TRUST_PROJECTS", "all")];
    let both = Said { project: Some(tight), environment, ..Default::default() };
    assert_eq!(given(&both), ["trust.projects=\"all\" < SKILLFUL_TRUST_PROJECTS"]);
}

#[test]
fn roots_belong_to_whose_file_names_them() {
    let said = Said {
        project: Some(r#"{"skill_roots": ["tools", "~/theirs"]}"#),
        user: Some(r#"{"skill_roots": ["mine", "/abroad"]}"#),
        ..Default::default()
    };
    let (layers, folder) = read(&said);
    let layers = layers.unwrap();
    let (project, home) = (folder.path().join("project"), folder.path().join("home"));
    assert_eq!(layers.project_roots, [project.join("tools"), home.join("theirs")]);
    assert_eq!(layers.user_roots, [home.join("mine"), "/abroad".into()]);
}

#[test]
fn in_the_home_directory_the_file_is_the_users() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join(".agent")).unwrap();
    let text = r#"{"trust": {"projects": "all"}, "skill_roots": ["mine"]}"#;
    fs::write(folder.path().join(".agent/config.json"), text).unwrap();
    let layers = Layers::read(folder.path(), None, Some(folder.path()), &[]).unwrap();
    assert!(matches!(layers.origins["trust.projects"], Origin::User(_)));
    assert!(layers.project_roots.is_empty() && layers.warnings.is_empty());
}

#[test]
fn a_mistake_is_told_with_its_place() {
    let check = |said: &Said<'_>, message: &str, hint: &str| {
        assert_eq!(error(said), (message.to_owned(), hint.to_owned()));
    };
    check(
        &Said { project: Some(r#"{"registry": {"depth": 1}}"#), ..Default::default() },
        "unknown setting `registry.depth` in project/.agent/config.json:1:15",
        "did you mean `registry.max_depth`?",
    );
    check(
        &Said { user: Some(r#"{"security": {"max_skill_body_lines": -1}}"#), ..Default::default() },
        "`security.max_skill_body_lines` in home/.agent/config.json:1:15: invalid value: integer `-1`, expected a whole number, 0 or more",
        "`skillful schema config` describes every setting",
    );
    check(
        &Said { environment: &[("SKILLFUL_CATALOG_FORMAT", "yaml")], ..Default::default() },
        "`catalog.format` in $SKILLFUL_CATALOG_FORMAT: unknown variant `yaml`, expected one of `lines`, `xml`, `json`",
        "`skillful schema config` describes every setting",
    );
    let misspelt = r#"{"execution": {"require_approval_for": ["wirte_file"]}}"#;
    check(
        &Said { user: Some(misspelt), ..Default::default() },
        "`execution.require_approval_for` in home/.agent/config.json:1:16: unknown permission `wirte_file`; did you mean `write_file`?",
        "`skillful schema config` describes every setting",
    );
    check(
        &Said { user: Some("{"), ..Default::default() },
        "`home/.agent/config.json` is not valid JSON: Unterminated object on line 1 column 2",
        "fix the file; comments are allowed",
    );
}

#[test]
fn every_setting_can_be_given_by_its_key() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(
        known_keys().len(),
        leaves(&defaults).len() + 7,
        "and those whose keys the user chooses"
    );
    for (key, value) in leaves(&defaults) {
        let nested = key.rsplit('.').fold(value.clone(), |value, part| json!({part: value}));
        let text = nested.to_string();
        let said = Said { user: Some(&text), ..Default::default() };
        assert_eq!(given(&said), [format!("{key}={value} < user")]);
    }
}

/// The model's settings that count, from a project's and the user's file and variables.
fn model_of(said: &Said<'_>) -> (Value, Vec<String>) {
    let (layers, _folder) = read(said);
    let layers = layers.unwrap();
    let settings = serde_json::to_value(&layers.config.model).unwrap();
    let defaults = serde_json::to_value(ModelSettings::default()).unwrap();
    let changed =
        settings.as_object().unwrap().iter().filter(|(key, value)| defaults[*key] != **value);
    (changed.map(|(key, value)| (key.clone(), value.clone())).collect(), layers.warnings)
}

#[test]
fn a_model_is_a_string_or_an_object_and_each_adds_to_the_other() {
    let check = |user: &str, environment: &[(&str, &str)], expected: Value| {
        let said = Said { user: Some(user), environment, ..Default::default() };
        assert_eq!(model_of(&said).0, expected, "{user}");
    };
    check(r#"{"model": "openai:a:b"}"#, &[], json!({"provider": "openai", "name": "a:b"}));
    check(r#"{"model": "offline"}"#, &[], json!({"provider": "offline"}));
    check(r#"{"model": "gpt-5"}"#, &[], json!({"provider": "openai", "name": "gpt-5"}));
    check(r#"{"model": "ollama:q:4b"}"#, &[], json!({"provider": "ollama", "name": "q:4b"}));
    check(
        r#"{"model": {"provider": "mock", "name": "f"}}"#,
        &[],
        json!({"provider": "mock", "name": "f"}),
    );
    check(r#"{"model": null}"#, &[], json!({}));
    check(
        r#"{"model": {"provider": "openai", "name": "a", "base_url": "http://x"}}"#,
        &[("SKILLFUL_MODEL", "openai:b"), ("SKILLFUL_MODEL_PROTOCOL", "json")],
        json!({"provider": "openai", "name": "b", "base_url": "http://x", "protocol": "json"}),
    );
}

#[test]
fn what_belongs_to_a_server_does_not_go_to_another() {
    let user = r#"{"model": {"provider": "openai", "base_url": "https://mine", "headers": {"a": "b"}, "max_retries": 7}}"#;
    let environment = &[("SKILLFUL_MODEL", "anthropic:c")];
    let said = Said { user: Some(user), environment, ..Default::default() };
    assert_eq!(model_of(&said).0, json!({"provider": "anthropic", "name": "c", "max_retries": 7}));
    // A key and an address of nobody in particular are not for a server that has its own.
    let user =
        r#"{"model": {"base_url": "https://mine", "api_key_env": "MINE", "protocol": "json"}}"#;
    let environment = &[("SKILLFUL_MODEL", "groq:c")];
    let said = Said { user: Some(user), environment, ..Default::default() };
    assert_eq!(model_of(&said).0, json!({"provider": "groq", "name": "c"}));
    let user = r#"{"model": {"protocol": "json"}}"#;
    let said = Said { user: Some(user), environment, ..Default::default() };
    let kept = json!({"provider": "groq", "name": "c", "protocol": "json"});
    assert_eq!(model_of(&said).0, kept);
}

#[test]
fn a_project_has_no_say_in_who_decides_and_what_is_sent() {
    let project = r#"{"model": {"provider": "scripted", "name": "a", "protocol": "json", "stream": false, "base_url": "https://evil",
        "headers": {"a": "b"}, "params": {"api_base": "https://evil", "n": 128}, "max_tokens": 1, "max_retries": 99,
        "connect_timeout_seconds": 1, "idle_timeout_seconds": 1, "timeout_seconds": 1, "api_key_env": "AWS_SECRET_ACCESS_KEY",
        "api_key_command": ["cat", "/etc/passwd"], "ca_file": "ca.pem", "images": true, "prices": {"a": {"input": 0, "output": 0}}}}"#;
    let user = r#"{"model": "openai:mine"}"#;
    let said = Said { project: Some(project), user: Some(user), ..Default::default() };
    let (settings, warnings) = model_of(&said);
    assert_eq!(settings, json!({"provider": "openai", "name": "mine"}));
    let every = serde_json::to_value(ModelSettings::default()).unwrap();
    assert_eq!(warnings.len(), every.as_object().unwrap().len(), "{warnings:?}");
    for key in every.as_object().unwrap().keys() {
        let expected = format!(
            "`model.{key}` in the project's file is ignored: only you may set it, in `~/.agent/config.json` or with `SKILLFUL_MODEL_{}`",
            key.to_uppercase()
        );
        assert!(warnings.contains(&expected), "{expected}: {warnings:?}");
    }
}

#[test]
fn what_was_left_with_another_server_has_no_origin() {
    let user = r#"{"model": {"provider": "openai", "name": "a", "base_url": "https://mine", "params": {"seed": 1}}}"#;
    let environment: &[_] = &[("SKILLFUL_MODEL", "anthropic:c")];
    let said = Said { user: Some(user), environment, ..Default::default() };
    let expected =
        ["model.name=\"c\" < SKILLFUL_MODEL", "model.provider=\"anthropic\" < SKILLFUL_MODEL"];
    assert_eq!(given(&said), expected);
}

#[test]
fn leaves_are_the_values_that_are_not_objects() {
    let value = json!({"a": {"b": 1, "c": {"d": [2, {"e": 3}]}}, "f": null, "g": {}});
    let found: Vec<(String, Value)> =
        leaves(&value).into_iter().map(|(key, value)| (key, value.clone())).collect();
    let expected = [("a.b", json!(1)), ("a.c.d", json!([2, {"e": 3}])), ("f", Value::Null)];
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
}

#[test]
fn a_tilde_is_the_home_directory_only_where_it_stands_alone() {
    let check = |path: &str, home: Option<&str>, expected: &str| {
        assert_eq!(expand(path, Path::new("/base"), home.map(Path::new)), Path::new(expected));
    };
    check("~", Some("/home"), "/home");
    check("~/a", Some("/home"), "/home/a");
    check("~//a", Some("/home"), "/home/a");
    check("~other/a", Some("/home"), "/base/~other/a");
    check("~/a", None, "/base/~/a");
    check("a/b", Some("/home"), "/base/a/b");
    check("/a", Some("/home"), "/a");
}

#[test]
fn a_guess_is_made_only_where_it_is_likely() {
    let names = || ["catalog.format", "catalog.max_chars", "trust.projects"].into_iter();
    assert_eq!(closest("catalog.max_char", names()).as_deref(), Some("catalog.max_chars"));
    assert_eq!(closest("trust.project", names()).as_deref(), Some("trust.projects"));
    assert_eq!(closest("zzz", names()), None);
}
