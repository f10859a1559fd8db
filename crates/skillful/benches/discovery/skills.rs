//! Skills to find: folders with a frontmatter as real ones have it and 2–20 KB of body, the same ones
//! on every machine.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::random::Random;

const VERBS: &[&str] = &[
    "build",
    "review",
    "extract",
    "convert",
    "audit",
    "deploy",
    "profile",
    "migrate",
    "draft",
    "summarize",
    "lint",
    "test",
    "trace",
    "index",
    "render",
    "validate",
    "sync",
    "patch",
    "monitor",
    "plan",
];
const NOUNS: &[&str] = &[
    "pdf",
    "spreadsheet",
    "schema",
    "terraform",
    "dockerfile",
    "changelog",
    "api-spec",
    "invoice",
    "dashboard",
    "notebook",
    "pipeline",
    "release-notes",
    "sql-query",
    "helm-chart",
    "log-archive",
    "test-suite",
    "style-guide",
    "slide-deck",
    "threat-model",
    "email-thread",
];
const KINDS: &[&str] =
    &["fast", "safe", "legacy", "internal", "strict", "minimal", "cloud", "local", "batch", "team"];
const WORDS: &[&str] = &[
    "the",
    "a",
    "of",
    "to",
    "and",
    "in",
    "for",
    "with",
    "from",
    "when",
    "each",
    "file",
    "field",
    "table",
    "value",
    "output",
    "input",
    "step",
    "check",
    "script",
    "report",
    "section",
    "header",
    "column",
    "record",
    "error",
    "warning",
    "path",
    "option",
    "flag",
    "result",
    "user",
    "request",
    "before",
    "after",
    "using",
    "must",
    "should",
    "never",
    "always",
    "example",
    "format",
    "parse",
    "write",
    "read",
    "update",
    "verify",
    "approve",
    "rollback",
    "template",
    "environment",
    "variable",
    "directory",
    "repository",
    "branch",
    "commit",
    "service",
    "endpoint",
    "token",
    "budget",
    "limit",
    "retry",
    "timeout",
    "cache",
    "version",
    "migration",
    "chart",
    "layout",
    "summary",
    "source",
    "target",
    "rule",
];

/// Changes whenever the skills do.
const EDITION: &str = "1";
/// A cache does not trust files that changed just before it was written.
const SETTLING: Duration = Duration::from_secs(3);

/// The root below `home` with `count` skills; made where it is not there yet.
pub(crate) fn prepare(home: &Path, count: usize) -> io::Result<PathBuf> {
    let root = home.join(".agent/skills");
    let done = home.join("edition");
    if fs::read_to_string(&done).is_ok_and(|edition| edition == EDITION) {
        return Ok(root);
    }
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    for number in 0..count {
        make(&root, number)?;
    }
    fs::write(done, EDITION)?;
    std::thread::sleep(SETTLING);
    Ok(root)
}

/// Skill `number` depends on nothing but its number.
fn make(root: &Path, number: usize) -> io::Result<()> {
    let random = &mut Random::new(number as u64);
    let (verb, noun) = (random.one_of(VERBS), random.one_of(NOUNS));
    let name = format!("{}-{verb}-{noun}-{number:05}", random.one_of(KINDS));
    let folder = root.join(&name);
    let text = frontmatter(random, number, &name, verb, noun) + &body(random, number, &name);
    put(&folder.join("SKILL.md"), &text)?;
    if random.chance(0.33) {
        for script in &["run.py", "check.sh", "convert.py"][..random.number(1..=3)] {
            let lines = random.number(10..=60);
            let text = repeat(random, lines, |random| format!("# {}\n", sentence(random, 7, 18)));
            put(&folder.join("scripts").join(script), &text)?;
        }
    }
    if random.chance(0.33) {
        for part in 0..random.number(1..=3) {
            let lines = random.number(20..=120);
            let text = repeat(random, lines, |random| sentence(random, 7, 18) + "\n");
            put(&folder.join(format!("references/part-{part}.md")), &text)?;
        }
    }
    if random.chance(0.1) {
        put(&folder.join("assets/template.json"), "{}\n")?;
    }
    Ok(())
}

fn put(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

fn frontmatter(random: &mut Random, number: usize, name: &str, verb: &str, noun: &str) -> String {
    let description = description(random, number, verb, &noun.replace('-', " "));
    let mut text = format!("---\nname: {name}\n");
    // The three spellings that are common.
    text += &match random.share() {
        style if style < 0.6 => format!("description: {description}\n"),
        style if style < 0.85 => format!("description: \"{description}\"\n"),
        _ => format!("description: >-\n{}", folded(&description)),
    };
    if random.chance(0.4) {
        let licenses = ["MIT", "Apache-2.0", "Proprietary. LICENSE.txt has complete terms"];
        text += &format!("license: {}\n", random.one_of(&licenses));
    }
    if random.chance(0.3) {
        let tools =
            ["Read Write", "Bash(git:*) Read", "Read Grep Glob", "Bash(python:*) Read Write"];
        text += &format!("allowed-tools: {}\n", random.one_of(&tools));
    }
    if random.chance(0.15) {
        text += "compatibility: Requires python3 and git\n";
    }
    if random.chance(0.3) {
        let (team, version) = (random.number(1..=40), random.number(0..=9));
        text += &format!("metadata:\n  author: team-{team}\n  version: \"1.{version}\"\n");
    }
    text + "---\n\n"
}

/// 150 to 400 characters with a word of its own.
fn description(random: &mut Random, number: usize, verb: &str, noun: &str) -> String {
    let length = random.number(150..=400);
    let mut text = format!(
        "{} {noun} files and related artifacts (ref zqd{number:05}). Use when the user asks to {verb} a {noun}",
        capitalized(verb)
    );
    while text.len() < length {
        let words = random.number(3..=7);
        text.push(',');
        text += &repeat(random, words, |random| format!(" {}", random.one_of(WORDS)));
    }
    text.truncate(length - 1);
    text.trim_end_matches([' ', ',']).to_owned() + "."
}

fn folded(text: &str) -> String {
    let mut lines = String::from(" ");
    let mut taken = 0;
    for word in text.split(' ') {
        if taken + word.len() > 78 {
            lines.push_str("\n ");
            taken = 0;
        }
        lines.push(' ');
        lines.push_str(word);
        taken += word.len() + 1;
    }
    lines + "\n"
}

/// Markdown of 2 to 20 KB; most are small.
fn body(random: &mut Random, number: usize, name: &str) -> String {
    let length = (2_048.0 * 10_f64.powf(random.share())) as usize;
    let mut text = format!("# {name}\n\nBody zqb{number:05}. {}\n", sentence(random, 7, 18));
    while text.len() < length {
        let lines = random.number(2..=6);
        text += &match random.share() {
            kind if kind < 0.2 => format!("\n## {}\n\n", sentence(random, 2, 5)),
            kind if kind < 0.45 => {
                repeat(random, lines, |random| format!("- {}\n", sentence(random, 5, 14)))
            }
            kind if kind < 0.6 => {
                let script = |random: &mut Random| format!("run --{}\n", random.one_of(WORDS));
                format!("```bash\n{}```\n", repeat(random, lines, script))
            }
            _ => repeat(random, lines, |random| sentence(random, 7, 18) + " ") + "\n",
        };
    }
    text
}

fn sentence(random: &mut Random, least: usize, most: usize) -> String {
    let words = random.number(least..=most);
    let text = repeat(random, words, |random| format!("{} ", random.one_of(WORDS)));
    capitalized(text.trim_end()) + "."
}

fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

fn repeat(random: &mut Random, times: usize, make: impl Fn(&mut Random) -> String) -> String {
    (0..times).fold(String::new(), |mut text, _| {
        let _ = write!(text, "{}", make(random));
        text
    })
}
