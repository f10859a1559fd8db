//! A description that does not fit the content: cheap to see only where it denies something.

use std::ops::Range;

use regex::bytes::Regex;
use skill::frontmatter::{Limits, Split, parse, split};

use super::document::{Document, Kind};
use super::finding::{Finding, Severity};
use super::rules::{self, Area};

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
    description: Option<String>,
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
    /// Notes what a part of a file says or does; `line` is how many lines stand before it.
    pub(super) fn read(
        &mut self,
        claims: &Claims,
        path: &str,
        line: usize,
        document: &Document<'_>,
    ) {
        if path == "SKILL.md" && line == 0 {
            self.description = description(document.text.as_bytes());
        }
        if document.kind == Kind::Text {
            return;
        }
        for (number, claim) in claims.0.iter().enumerate() {
            let runs = |range: &Range<usize>| document.place(range) == Area::Code;
            let Some(range) = document.find(&claim.done).find(runs) else { continue };
            let finding = mismatch(path, line, document, range, claim.what);
            // The first, in whatever order files come.
            match self.done.iter_mut().find(|(known, _)| *known == number) {
                Some((_, known)) if finding < *known => *known = finding,
                Some(_) => {}
                None => self.done.push((number, finding)),
            }
        }
    }

    /// The first thing that contradicts the description.
    pub(super) fn mismatch(&self, claims: &Claims) -> Option<Finding> {
        let description = self.description.as_deref()?;
        let denied = |number: usize| claims.0[number].denied.is_match(description.as_bytes());
        let denied = self.done.iter().filter(|(number, _)| denied(*number));
        denied.map(|(_, finding)| finding).min().cloned()
    }
}

fn mismatch(
    path: &str,
    line: usize,
    document: &Document<'_>,
    range: Range<usize>,
    what: &'static str,
) -> Finding {
    let rule = &rules::DESCRIPTION_MISMATCH;
    Finding {
        rule: rule.id,
        severity: Severity::Medium,
        file: path.to_owned(),
        line: line + document.line_of(range.start) + 1,
        column: document.column_of(range.start) + 1,
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
