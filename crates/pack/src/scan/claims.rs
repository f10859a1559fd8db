//! A description that does not fit the content: cheap to see only where it denies something.

use std::ops::Range;

use regex::bytes::Regex;
use skill::frontmatter::{Limits, Split, parse, split};

use super::File;
use super::document::{Document, Kind};
use super::finding::{Finding, Severity};
use super::rules::{self, Place};

/// What descriptions deny, and what shows that they are wrong.
#[derive(Debug)]
pub(super) struct Claims(Vec<Claim>);

#[derive(Debug)]
struct Claim {
    /// How a description denies it.
    denied: Regex,
    /// How a script does it all the same.
    done: Regex,
    what: &'static str,
}

/// What was seen of a skill so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) description: Option<String>,
    /// What a script does, as a number of a claim and the finding it would be.
    done: Vec<(usize, Finding)>,
}

impl Claims {
    pub(super) fn new() -> Self {
        let claim = |denied, done, what| Claim {
            denied: super::compile(denied),
            done: super::compile(done),
            what,
        };
        Self(vec![
            claim(
                rules::NO_NETWORK,
                rules::NETWORK,
                "it denies using the network, and a script does",
            ),
            claim(
                rules::NO_CHANGE,
                rules::CHANGE,
                "it says that nothing is changed, and a script changes something",
            ),
        ])
    }
}

impl Seen {
    /// Notes what a file says or does.
    pub(super) fn read(&mut self, claims: &Claims, file: &File<'_>, document: &Document<'_>) {
        if file.path == "SKILL.md" {
            self.description = description(file.bytes);
        }
        if document.kind != Kind::Script {
            return;
        }
        for (number, claim) in claims.0.iter().enumerate() {
            let is_known = self.done.iter().any(|(known, _)| *known == number);
            let runs = |range: &Range<usize>| document.place(range) == Place::Script;
            let found = document.find(&claim.done).find(|range| !is_known && runs(range));
            self.done.extend(
                found.map(|range| (number, mismatch(file.path, document, range, claim.what))),
            );
        }
    }

    /// The first thing that contradicts the description.
    pub(super) fn mismatch(&self, claims: &Claims) -> Option<Finding> {
        let description = self.description.as_deref()?;
        let denied = |number: usize| claims.0[number].denied.is_match(description.as_bytes());
        self.done.iter().find(|(number, _)| denied(*number)).map(|(_, finding)| finding.clone())
    }
}

fn mismatch(
    path: &str,
    document: &Document<'_>,
    range: Range<usize>,
    what: &'static str,
) -> Finding {
    let rule = &rules::DESCRIPTION_MISMATCH;
    Finding {
        rule: rule.id,
        severity: Severity::Medium,
        file: path.to_owned(),
        line: document.line_of(range.start) + 1,
        column: document.column_of(range.start),
        excerpt: super::excerpt::around(document.text, &range),
        explanation: format!("{}: {what}", rule.explanation),
        hint: rule.hint,
    }
}

/// What the frontmatter says the skill is for; nothing where it cannot be read.
fn description(bytes: &[u8]) -> Option<String> {
    let limits = Limits::default();
    let Ok(Split::Whole { yaml, .. }) = split(bytes, &limits) else { return None };
    let fields = parse(std::str::from_utf8(&bytes[yaml]).ok()?, &limits).ok()?.fields;
    Some(fields.get("description")?.text()?.to_owned())
}
