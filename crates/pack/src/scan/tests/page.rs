//! `docs/scan.md` says what the rules are, because it is made from them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use basics::text::for_terminal;

use super::super::examples::{EXAMPLES, Examples};
use super::super::{Area, RULES, Rule, Severity, rules};

const MARK: &str =
    "<!-- From here on made from the rules: UPDATE_DOCS=1 cargo test -p skillful-pack page -->\n";

#[test]
fn the_page_is_made_from_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scan.md");
    let Ok(page) = fs::read_to_string(&path) else {
        return eprintln!("skipped: this needs the whole repository");
    };
    let (words, _) = page.split_once(MARK).unwrap();
    let expected = format!("{words}{MARK}{}", made());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert!(page == expected, "docs/scan.md is out of date; its mark says how to update it");
    }
}

fn made() -> String {
    let mut page = String::from("\n## Severities\n\n| severity | meaning |\n| --- | --- |\n");
    for severity in Severity::ALL.into_iter().rev() {
        writeln!(page, "| {} | {} |", severity.as_str(), severity.meaning()).unwrap();
    }
    page.push_str("\n## Rules\n");
    for (rule, examples) in RULES.into_iter().zip(EXAMPLES) {
        page.push_str(&section(rule, examples));
    }
    page
}

fn section(rule: &Rule, examples: &Examples) -> String {
    let mut text =
        format!("\n### `{}`\n\nFinds {}. {}.\n\n", rule.id, what(rule), capital(rule.hint));
    if !rule.patterns.is_empty() {
        let levels = Area::ALL.into_iter().filter_map(|place| {
            Some(format!("{} in {}", rule.worst_at(place)?.as_str(), name(place)))
        });
        writeln!(text, "At most: {}.\n", levels.collect::<Vec<_>>().join(", ")).unwrap();
    }
    text.push_str("Found:\n\n");
    for (severity, path, content) in examples.found {
        writeln!(text, "- {}: {}, `{path}`", severity.as_str(), shown(rule, content)).unwrap();
    }
    text.push_str("\nLeft alone:\n\n");
    for (path, content) in examples.left_alone {
        writeln!(text, "- {}, `{path}`", shown(rule, content)).unwrap();
    }
    text
}

/// What a rule finds, as a phrase.
fn what(rule: &Rule) -> String {
    match rule.explanation.split_once(' ') {
        Some(("words" | "characters", _)) => rule.explanation.to_owned(),
        Some(("this", rest)) => format!("content that {rest}"),
        Some(("the", _)) => format!("skills where {}", rule.explanation),
        _ => format!("content that {}", rule.explanation),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| format!("{}{}", first.to_uppercase(), letters.as_str()))
}

fn name(place: Area) -> &'static str {
    match place {
        Area::Code => "code",
        Area::Text => "Markdown, plain text and comments",
    }
}

/// An example as code in Markdown. Keys are cut, so that nobody takes the page for a leak.
fn shown(rule: &Rule, content: &str) -> String {
    let (content, description) = content.split_once("\n=== ").unwrap_or((content, ""));
    let is_secret = rule.id == rules::SECRET.id;
    let cut: String = content.chars().take(if is_secret { 16 } else { 200 }).collect();
    let more = if cut.len() < content.len() { "…" } else { "" };
    let fence = "`".repeat(if cut.contains("``") {
        4
    } else if cut.contains('`') {
        2
    } else {
        1
    });
    let space = if fence.len() > 1 { " " } else { "" };
    let code = format!("{fence}{space}{}{more}{space}{fence}", for_terminal(&cut));
    match description {
        "" => code,
        description => format!("{code} where the description is “{description}”"),
    }
}
