//! The documents: the README's session is run as a new user would, in an empty folder and with an
//! empty home; settings and links are what and where they should be.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::World;

const COLUMNS: u16 = 80;
/// Between the outputs of two commands.
const MARK: &str = "=====";

fn readme() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")
}

/// The commands of a session, one after the other in one shell, each with what it prints.
fn played(world: &World, commands: &[&str]) -> String {
    let script: Vec<String> =
        commands.iter().map(|command| format!("{command}; echo {MARK}")).collect();
    let shown = world.terminal(&format!("cd ../home/demo; {}", script.join("; ")), COLUMNS);
    let shown = shown.replace("[world]/home", "/home/you");
    let outputs: Vec<&str> = shown.split(&format!("{MARK}\n")).collect();
    assert_eq!(outputs.len(), commands.len() + 1, "{shown}");
    commands.iter().zip(outputs).map(|(command, output)| format!("$ {command}\n{output}")).collect()
}

/// `text` with every session replaced by one that was just played, all of them in one folder.
fn with_played_sessions(text: &str) -> String {
    let (start, end) = ("```console\n", "```\n");
    let world = World::new();
    fs::create_dir(world.path("home/demo")).unwrap();
    let mut parts = text.split(start);
    let mut played_text = parts.next().unwrap().to_owned();
    for part in parts {
        let (session, rest) = part.split_once(end).expect("a session ends");
        let commands = session.lines().filter_map(|line| line.strip_prefix("$ "));
        let commands: Vec<&str> = commands.collect();
        assert!(!commands.is_empty(), "a session has commands");
        played_text += &format!("{start}{}{end}{rest}", played(&world, &commands));
    }
    played_text
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn its_session_shows_what_is_seen() {
    let written = fs::read_to_string(readme()).unwrap();
    let played = with_played_sessions(&written);
    assert_ne!(written.matches("```console\n").count(), 0, "there is a session");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(readme(), &played).unwrap();
        return;
    }
    assert!(
        written == played,
        "the session of README.md is out of date; to write it anew, run\n\
         UPDATE_README=1 cargo test -p skillful --test it readme\n\n{played}"
    );
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let documented = readme().with_file_name("docs").join("configuration.md");
    let documented = fs::read_to_string(documented).unwrap();
    let settings = World::new().run("skillful config show");
    for setting in settings.lines() {
        let (key, default) = setting.split_once(": ").unwrap();
        let row = format!("| `{key}` | `{default}` | ");
        assert!(documented.contains(&row), "docs/configuration.md lacks a row\n{row}");
    }
    let rows = documented.lines().filter(|line| line.starts_with("| `") && line.contains("` | `"));
    assert_eq!(rows.count(), settings.lines().count(), "as many rows as settings");
}

#[test]
fn what_it_links_to_is_there() {
    let folder = readme().parent().unwrap().to_owned();
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "docs/configuration.md",
        "docs/models.md",
        "docs/standard.md",
    ] {
        let text = fs::read_to_string(folder.join(document)).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let path = folder.join(document).parent().unwrap().join(target);
            assert!(path.exists(), "{document} links to {target}");
        }
    }
}
