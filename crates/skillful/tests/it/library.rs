//! The library for people who build agents: its examples run, and its API changes only on purpose.

use std::fs;
use std::path::{Path, PathBuf};

use skillful::Start;

use crate::world::repository;

#[path = "../../examples/agent.rs"]
#[allow(dead_code, reason = "`main` works here, a test elsewhere")]
mod agent;
#[path = "../../examples/catalog.rs"]
mod catalog;
#[path = "../../examples/permissions.rs"]
mod permissions;
#[path = "../../examples/skill_tool.rs"]
mod skill_tool;

#[test]
fn the_examples_run() {
    catalog::main().expect("the catalog is printed");
    skill_tool::main();
    let folder = tempfile::tempdir().expect("a folder");
    let (home, work) = (folder.path().join("home"), folder.path().join("work"));
    fs::create_dir(&work).expect("a folder to work in");
    let environment = vec![("HOME".into(), home.into())];
    let start = Start { directory: Some(work.clone()), environment, ..Start::default() };
    agent::work(start).expect("the agent answers");
    assert!(work.join(".agent/runs").is_dir(), "the run is recorded");
    permissions::main().expect("the rules are understood");
}

/// The README is the first thing that people see of the crate.
#[test]
fn the_readme_shows_the_agent() {
    let (_, example) = include_str!("../../examples/agent.rs")
        .split_once("what it does\")]\n\n")
        .expect("the example begins like the others");
    let shown = example.replace("pub(crate) fn work", "fn work");
    assert!(include_str!("../../README.md").contains(&format!("```rust,no_run\n{shown}```")));
}

#[test]
fn an_agent_takes_few_lines() {
    assert!(include_str!("../../examples/agent.rs").lines().count() < 40);
    assert!(include_str!("../../examples/skill_tool.rs").lines().count() < 60);
}

/// Every public item of the crates that are re-exported, by file. `UPDATE_API=1 cargo test -p skillful --test it
/// library` writes the file anew; what that changes is what callers will notice.
#[test]
fn the_public_api_changes_only_on_purpose() {
    let Some(repository) = repository() else { return };
    let crates = repository.join("crates");
    let mut found = String::new();
    let names = "agent basics eval model pack permission runtime serve skill state tools";
    for name in names.split(' ') {
        let source = crates.join(name).join("src");
        for file in sources(&source) {
            let shown = file.strip_prefix(&source).expect("below it").display().to_string();
            let text = fs::read_to_string(&file).expect("a source file");
            for item in public_items(&text) {
                found.push_str(&format!("{name}/{shown}: {item}\n"));
            }
        }
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public-api.txt");
    if std::env::var_os("UPDATE_API").is_some() {
        fs::write(&kept, &found).expect("it can be written");
    }
    let kept = fs::read_to_string(&kept).unwrap_or_default();
    let gone: Vec<&str> = kept.lines().filter(|line| !found.contains(line)).collect();
    let new: Vec<&str> = found.lines().filter(|line| !kept.contains(line)).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the public API changed: if that is meant, run `UPDATE_API=1 cargo test -p skillful --test it library`\ngone: {gone:#?}\nnew: {new:#?}"
    );
}

/// The source files below a folder, without tests, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of source files");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem == "tests");
    paths.retain(|path| !is_test(path));
    let below = |path: PathBuf| match path.is_dir() {
        true => sources(&path),
        false if path.extension().is_some_and(|extension| extension == "rs") => vec![path],
        false => Vec::new(),
    };
    paths.into_iter().flat_map(below).collect()
}

/// What stands behind `pub`, each on a line, up to where its body begins.
fn public_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(item) = line.trim_start().strip_prefix("pub ") else { continue };
        let mut item = item.trim_end().to_owned();
        let is_whole = |item: &str| item.ends_with(['{', ';', ',', '}']) && balanced(item);
        while !is_whole(&item) {
            let Some(next) = lines.next() else { break };
            item.push(' ');
            item.push_str(next.trim());
        }
        items.push(item.trim_end_matches([' ', '{', ';', ',']).to_owned());
    }
    items
}

fn balanced(item: &str) -> bool {
    let count = |open: char| item.matches(open).count();
    count('(') == count(')') && count('[') == count(']')
}
