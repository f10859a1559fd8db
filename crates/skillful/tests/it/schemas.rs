//! The JSON Schemas: `schemas/` has those of the program, and what it prints is as they say.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::world::{World, repository};

/// The schemas of the program, by the names of their files.
fn schemas(world: &World) -> BTreeMap<String, String> {
    let names = world.run("skillful schema");
    let print =
        |name: &str| (format!("{name}.json"), world.run(&format!("skillful schema {name}")));
    names.lines().map(print).collect()
}

#[test]
fn the_files_are_those_of_the_program() {
    let Some(repository) = repository() else { return };
    let folder = repository.join("schemas");
    let expected = schemas(&World::new());
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        expected.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    }
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let found: BTreeMap<String, String> = files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    let differ = |name: &&String| found.get(*name) != expected.get(*name);
    let stale: Vec<&String> = expected.keys().chain(found.keys()).filter(differ).collect();
    assert!(
        stale.is_empty(),
        "{stale:?} of schemas/ are out of date; to write them anew, run\n\
         UPDATE_SCHEMAS=1 cargo test -p skillful --test it schemas"
    );
}

/// A world with something in every part of every document.
fn world() -> World {
    let world = World::new();
    world.skill("project/.agent/skills/deploy", "Deploy.");
    world.skill("home/.agent/skills/deploy", "Deploy otherwise.");
    world.skill("elsewhere/linked", "Linked.");
    world.link("home/.agent/skills/linked", "../../../elsewhere/linked");
    world.write("home/.agent/skills/broken/SKILL.md", "---\nname: broken\n---\n");
    world.write("project/notes.txt", "some words\n");
    let grant =
        r#"{"project": "/p", "permission": "run_script", "pattern": "a/b", "skill_hash": null}"#;
    world.write("home/.agent/grants.json", format!(r#"{{"version": 1, "grants": [{grant}]}}"#));
    world.write(
        "home/.agent/skills/Odd/SKILL.md",
        "---\nname: Odd\ndescription: Odd.\nversion: 1\nallowed-tools: Read\nmetadata: {a: [1, b]}\n---\n<chunk id=\"a\" description=\"b\">\nc\n</chunk>\n",
    );
    world
}

#[test]
fn what_is_printed_is_as_its_schema_says() {
    let world = world();
    let schemas = schemas(&world);
    let check = |name: &str, line: &str| {
        let schema: Value = serde_json::from_str(&schemas[&format!("{name}.json")]).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let document = world.json(&format!("skillful --json {line}"));
        let errors: Vec<String> =
            schema.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}\n{document:#}");
        // A schema that allows everything proves nothing.
        assert!(!schema.is_valid(&Value::from(1)), "{name}");
    };
    check("list", "list");
    check("list", "refresh");
    check("search", "search deploy");
    check("inspect", "inspect deploy");
    check("inspect", "inspect Odd --show-body");
    check("inspect", "inspect linked");
    check("entry", "inspect linked");
    check("why", "why deploy");
    check("why", "why broken");
    check("validate", "validate");
    check("validate", "validate --standard");
    check("scan", "scan .agent/skills ../home/.agent/skills");
    check("new", "new fresh --dry-run");
    check("doctor", "doctor");
    check("pack", "pack ../home/.agent/skills/Odd -o odd.zip");
    check("verify", "verify odd.zip");
    check("install", "install odd.zip --scope project --dry-run");
    check("install", "install odd.zip --scope project");
    check("verify", "verify Odd --scope project");
    check("list", "list");
    check("inspect", "inspect Odd");
    check("why", "why Odd");
    check("export", "export Odd --scope project -o out.zip");
    check("outdated", "outdated");
    check("update", "update");
    check("uninstall", "uninstall Odd --scope project");
    check("restore", "restore Odd --scope project");
    check("keygen", "keygen key --no-password");
    check("trust-key", "trust key key.pub --name us");
    check("sign", "sign odd.zip --key key.sec");
    check("verify", "verify odd.zip");
    check("eval-new", "eval new csv-report --dry-run");
    check("eval-new", "eval new csv-report");
    check("eval-plan", "eval run --dry-run");
    check("eval-report", "eval run");
    check("eval-triggers", "eval triggers csv-report");
    check("error", "install nothing.zip");
    check("trust", "trust project");
    check("untrust", "untrust");
    check("config", "config show");
    check("config-origin", "config show --origin");
    check("config-init", "config init --dry-run");
    check("completions", "completions bash");
    check("mcp-config", "mcp --print-config codex");
    check("permissions", "permissions list");
    check("permissions", "permissions revoke --all --dry-run");
    check("run", "run --yes 'Count the words of notes.txt'");
    check("runs-list", "runs list");
    check("runs-show", "runs show last");
    check("runs-verify", "runs verify last");
    check("runs-replay", "runs replay last");
    check("runs-undo", "runs undo last --dry-run");
    check("runs-prune", "runs prune --older-than 1 --dry-run");
    check("error", "inspect nothing");
    check("error", "nothing");
}
