//! The documents: the sessions of the README and the guides are run as a new user would, in an empty
//! folder and with an empty home; settings and links are what and where they should be.

use std::fs;
use std::path::{Path, PathBuf};

use crate::world::{World, repository};

const COLUMNS: u16 = 80;
/// Between the outputs of two commands.
const MARK: &str = "=====";
/// A line of a session that stands for any lines.
const CUT: &str = "…";

/// Every page of the documentation.
fn pages(repository: &Path) -> Vec<PathBuf> {
    let mut pages = vec![repository.join("README.md"), repository.join("ARCHITECTURE.md")];
    for folder in ["docs", "docs/guides", "crates/skill/skills", "crates/skillful"] {
        let files = fs::read_dir(repository.join(folder)).unwrap();
        let files = files.map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|it| it == "md")));
    }
    pages.sort();
    pages
}

/// A command of a session, and what the document says that it prints.
#[derive(Default)]
struct Step {
    command: String,
    written: Vec<String>,
}

/// The commands of a session. One that ends with `<<'EOF'` goes on to the line `EOF`.
fn steps(session: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = session.lines();
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("$ ") {
            let mut command = command.to_owned();
            if command.ends_with("<<'EOF'") {
                for line in lines.by_ref() {
                    command += &format!("\n{line}");
                    if line == "EOF" {
                        break;
                    }
                }
            }
            steps.push(Step { command, written: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a session begins with a command");
            step.written.push(line.to_owned());
        }
    }
    steps
}

/// The steps of a session, one after the other in one shell, each with what it prints. What the document
/// says is kept where it is true.
fn play(world: &World, steps: &[Step], runs: &mut Vec<String>) -> String {
    let script: Vec<String> =
        steps.iter().map(|step| format!("{}\necho {MARK}", step.command)).collect();
    let shown = world.terminal(&format!("cd ../home/demo\n{}", script.join("\n")), COLUMNS);
    let shown = settle(&shown.replace("[world]/home", "/home/you"), runs);
    let outputs: Vec<&str> = shown.split(&format!("{MARK}\n")).collect();
    assert_eq!(outputs.len(), steps.len() + 1, "{shown}");
    let mut played = String::new();
    for (step, output) in steps.iter().zip(outputs) {
        let written: Vec<&str> = step.written.iter().map(String::as_str).collect();
        let seen: Vec<&str> = output.lines().collect();
        let kept = if fits(&written, &seen) { written } else { seen };
        played += &format!("$ {}\n", step.command);
        kept.iter().for_each(|line| played += &format!("{line}\n"));
    }
    played
}

/// Whether what is written is what was seen, but for what is cut out.
fn fits(written: &[&str], seen: &[&str]) -> bool {
    match written {
        [] => seen.is_empty(),
        [CUT, rest @ ..] => (0..=seen.len()).any(|skipped| fits(rest, &seen[skipped..])),
        [line, rest @ ..] => seen.first() == Some(line) && fits(rest, &seen[1..]),
    }
}

/// Ids, keys and times differ each time. `runs` are the ids so far, in the order in which they were seen.
fn settle(text: &str, runs: &mut Vec<String>) -> String {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let mut settled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(in_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c| !in_word(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        settled += before;
        // A program's result says how long it took, so its length differs, too.
        let is_length = before.ends_with("✓ ") && after.starts_with(" characters");
        settled += &if is_length { "200".to_owned() } else { settle_word(word, runs) };
        rest = after;
    }
    settled + rest
}

fn settle_word(word: &str, runs: &mut Vec<String>) -> String {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let is_hex = |c: char| c.is_ascii_digit() || ('A'..='F').contains(&c);
    match shape.as_str() {
        "00:00:00" => "08:30:00".to_owned(),
        "00000000T000000Z" => "20261115T083000Z".to_owned(),
        run if run.len() == 20 && run.starts_with("00000000_000000_") => {
            let known = runs.iter().position(|it| it == word).unwrap_or(runs.len());
            if known == runs.len() {
                runs.push(word.to_owned());
            }
            format!("20261115_08{:02}00_k3f{}", 30 + known, known % 10)
        }
        _ if word.len() == 16 && word.chars().all(is_hex) => "1A2B3C4D5E6F7081".to_owned(),
        _ => word.to_owned(),
    }
}

/// `text` with every session replaced by one that was just played, all of them in one folder.
fn replay(text: &str) -> String {
    let (start, end) = ("```console\n", "```\n");
    let world = World::new();
    fs::create_dir(world.path("home/demo")).unwrap();
    let mut runs = Vec::new();
    let mut parts = text.split(start);
    let mut replayed = parts.next().unwrap().to_owned();
    for part in parts {
        let (session, rest) = part.split_once(end).expect("a session ends");
        let steps = steps(session);
        assert!(!steps.is_empty(), "a session has commands");
        replayed += &format!("{start}{}{end}{rest}", play(&world, &steps, &mut runs));
    }
    replayed
}

#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn every_session_shows_what_is_seen() {
    let Some(repository) = repository() else { return };
    let guides =
        pages(&repository).into_iter().filter(|page| page.parent().unwrap().ends_with("guides"));
    let mut stale = String::new();
    let mut sessions = 0;
    for page in guides.chain([repository.join("README.md")]) {
        let written = fs::read_to_string(&page).unwrap();
        sessions += written.matches("```console\n").count();
        let replayed = replay(&written);
        if written == replayed {
            continue;
        }
        if std::env::var_os("UPDATE_README").is_some() {
            fs::write(&page, &replayed).unwrap();
        } else {
            stale += &format!("\n{}\n{replayed}", page.display());
        }
    }
    assert_ne!(sessions, 0, "there are sessions");
    assert!(
        stale.is_empty(),
        "sessions are out of date; to write them anew, run\n\
         UPDATE_README=1 cargo test -p skillful --test it readme\n{stale}"
    );
}

#[test]
fn a_session_is_not_kept_where_it_is_wrong() {
    assert!(fits(&["a", CUT, "d"], &["a", "b", "c", "d"]));
    assert!(fits(&[CUT], &[]));
    assert!(!fits(&["a", CUT, "d"], &["a", "b", "c"]));
    assert!(!fits(&["a"], &["a", "b"]));
    assert!(!fits(&["a", "b"], &["a"]));
    let seen = "20270101_120000_zz9z at 12:00:01, 3 events, not 20270101_120000_aa1a, 20270101_120000_zz9z";
    let settled = "20261115_083000_k3f0 at 08:30:00, 3 events, not 20261115_083100_k3f1, 20261115_083000_k3f0";
    assert_eq!(settle(seen, &mut Vec::new()), settled);
}

/// The first commands that the README shows: one that does the main job, and one that runs the tests.
#[test]
#[cfg_attr(any(portable, not(target_os = "linux")), ignore = "needs the sandbox")]
fn its_first_commands_work_in_a_fresh_clone() {
    let Some(repository) = repository() else { return };
    let readme = fs::read_to_string(repository.join("README.md")).unwrap();
    let (_, rest) = readme.split_once("```sh\n").unwrap();
    let commands: Vec<&str> = rest.split_once("```\n").unwrap().0.lines().collect();
    let [first, tests] = commands[..] else { panic!("{commands:?}") };
    let without_comment = |line: &str| line.split("  #").next().unwrap().trim().to_owned();
    assert_eq!(without_comment(tests), "cargo test --workspace");
    let check = fs::read_to_string(repository.join("check")).unwrap();
    assert!(check.contains("cargo test --workspace"), "./check runs it");

    let first = without_comment(first);
    let arguments = first.strip_prefix("cargo run --release -- ").unwrap();
    let world = World::new();
    let sample = |word: &&str| repository.join(word).is_file();
    let mut samples = arguments.split([' ', '"']).filter(sample).peekable();
    assert!(samples.peek().is_some(), "a file of the repository is used: {first}");
    for path in samples {
        world.write(&format!("project/{path}"), fs::read(repository.join(path)).unwrap());
    }
    let shown = world.run(&format!("skillful {arguments}"));
    assert!(shown.starts_with("# CSV report") && !shown.contains("[exit"), "{shown}");
}

#[test]
fn every_setting_is_documented_with_its_default() {
    let Some(repository) = repository() else { return };
    let documented = fs::read_to_string(repository.join("docs/configuration.md")).unwrap();
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
fn what_pages_link_to_is_there() {
    let Some(repository) = repository() else { return };
    for page in pages(&repository) {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("http")) {
            let file = target.split('#').next().unwrap();
            let path = page.parent().unwrap().join(file);
            assert!(path.exists(), "{} links to {target}", page.display());
        }
    }
}
