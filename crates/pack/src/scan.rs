//! Looking through a skill for what should make a person stop: few rules of high precision.
//!
//! A scan proves nothing: whoever packs or rephrases an attack gets past it. A report therefore says what
//! was looked at and what was not, never that a skill is harmless; containment is the sandbox's work.
//!
//! Invariant: nothing here but `folder` reads a file, and time grows with the size of a file only
//! linearly, whatever is in it.

mod claims;
#[cfg(test)]
mod corpus;
mod document;
#[cfg(test)]
mod examples;
mod excerpt;
mod finding;
mod folder;
mod hidden;
mod judge;
mod opaque;
mod rules;
mod sarif;
mod secrets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use regex::bytes::{Regex, RegexBuilder};

use claims::Claims;
use document::{Cues, Document, Kind};
pub use finding::{Finding, LookedAt, NotLookedAt, Report, Severity};
pub use folder::{FolderError, skill_folders};
use judge::Spot;
pub use opaque::LARGEST;
pub use rules::{Place, RULES, Rule};
pub use sarif::sarif;

/// Findings of one rule and severity in one file; more of them teach nothing.
const FINDINGS_PER_FILE: usize = 10;
/// Findings of one skill.
const FINDINGS: usize = 1_000;

/// A file of a skill, as a value.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    /// Relative to the skill's folder, with `/` between its parts.
    pub path: &'a str,
    /// What it holds.
    pub bytes: &'a [u8],
    /// Whether it can be executed.
    pub executable: bool,
}

/// The rules, ready to be used for many skills.
#[derive(Debug)]
pub struct Scanner {
    patterns: Vec<Compiled>,
    cues: Cues,
    security: Regex,
    sends: Regex,
    claims: Claims,
}

#[derive(Debug)]
struct Compiled {
    rule: &'static Rule,
    levels: rules::Levels,
    regex: Regex,
    unless: Option<Regex>,
}

/// One skill while its files are looked at.
#[derive(Debug)]
pub struct Scan<'s> {
    scanner: &'s Scanner,
    candidates: Vec<Candidate>,
    per_file: BTreeMap<(&'static str, Severity), usize>,
    omitted: usize,
    looked_at: LookedAt,
    not_looked_at: Vec<NotLookedAt>,
    claims: claims::Seen,
}

/// A finding whose severity may still be lowered.
#[derive(Debug)]
struct Candidate {
    finding: Finding,
    /// Whether it counts less in a skill that is about attacks.
    is_mention: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

impl Scanner {
    /// Prepares every rule.
    pub fn new() -> Self {
        let each = RULES.iter().flat_map(|rule| rule.patterns.iter().map(move |p| (*rule, p)));
        let patterns: Vec<Compiled> = each
            .map(|(rule, pattern)| Compiled {
                rule,
                levels: pattern.levels,
                regex: compile(pattern.regex),
                unless: pattern.unless.map(compile),
            })
            .collect();
        Self {
            patterns,
            cues: Cues { discusses: compile(rules::DISCUSSES), denies: compile(rules::DENIES) },
            security: compile(rules::SECURITY),
            sends: compile(rules::SENDS),
            claims: Claims::new(),
        }
    }

    /// Starts to look at a skill.
    pub fn begin(&self) -> Scan<'_> {
        Scan {
            scanner: self,
            candidates: Vec::new(),
            per_file: BTreeMap::new(),
            omitted: 0,
            looked_at: LookedAt::default(),
            not_looked_at: Vec::new(),
            claims: claims::Seen::default(),
        }
    }

    /// Looks at all files of a skill.
    pub fn scan<'a>(&self, files: impl IntoIterator<Item = File<'a>>) -> Report {
        let mut scan = self.begin();
        files.into_iter().for_each(|file| scan.file(file));
        scan.finish()
    }
}

impl Scan<'_> {
    /// Looks at one file.
    pub fn file(&mut self, file: File<'_>) {
        self.per_file.clear();
        let text = match opaque::text(file.bytes) {
            Ok(text) => text,
            Err(opaque) => {
                let opaque = opaque.named(file.path);
                self.note(file.path, opaque.what.as_ref());
                return self.opaque(file.path, 1, opaque.severity, &opaque.what);
            }
        };
        self.looked_at.files += 1;
        self.looked_at.bytes += file.bytes.len() as u64;
        let document = Document::new(text, Kind::of(&file, text));
        if document.kind == Kind::Script {
            for (line, packed) in opaque::packed(&document) {
                self.opaque(file.path, line, packed.severity, &packed.what);
            }
        }
        for hidden in hidden::find(text) {
            let explanation = format!("{}: {}", rules::HIDDEN_UNICODE.explanation, hidden.what);
            let (severity, range) = (hidden.severity, hidden.range);
            let spot = Spot { severity, range, explanation: explanation.into(), is_mention: false };
            self.add(&rules::HIDDEN_UNICODE, file.path, &document, spot);
        }
        for (rule, spot) in self.scanner.spots(&document) {
            self.add(rule, file.path, &document, spot);
        }
        self.claims.read(&self.scanner.claims, &file, &document);
    }

    /// Says that a file could not be looked at, which is a finding.
    pub fn skip(&mut self, file: &str, reason: &str) {
        self.per_file.clear();
        self.note(file, reason);
        self.opaque(file, 1, Severity::Medium, reason);
    }

    /// Notes that something was not looked at.
    fn note(&mut self, file: &str, reason: &str) {
        let (file, reason) = (file.to_owned(), reason.to_owned());
        self.not_looked_at.push(NotLookedAt { file, reason });
    }

    /// What was found and what was not looked at.
    pub fn finish(mut self) -> Report {
        if let Some(mismatch) = self.claims.mismatch(&self.scanner.claims) {
            self.candidates.push(Candidate { finding: mismatch, is_mention: false });
        }
        let description = self.claims.description.as_deref().unwrap_or_default();
        let is_about_security = self.scanner.security.is_match(description.as_bytes());
        let mut findings: Vec<Finding> = self
            .candidates
            .into_iter()
            .map(|candidate| match candidate.is_mention && is_about_security {
                true => candidate.finding.lowered("the skill says that it is about security"),
                false => candidate.finding,
            })
            .collect();
        findings.sort_by(|a, b| a.order().cmp(&b.order()));
        let omitted = self.omitted + findings.len().saturating_sub(FINDINGS);
        findings.truncate(FINDINGS);
        Report { findings, omitted, looked_at: self.looked_at, not_looked_at: self.not_looked_at }
    }

    fn opaque(&mut self, path: &str, line: usize, severity: Severity, what: &str) {
        let rule = &rules::OPAQUE_CONTENT;
        let finding = Finding {
            rule: rule.id,
            severity,
            file: path.to_owned(),
            line,
            column: 1,
            excerpt: String::new(),
            explanation: format!("{}: {what}", rule.explanation),
            hint: rule.hint,
        };
        self.push(Candidate { finding, is_mention: false });
    }

    fn add(&mut self, rule: &'static Rule, path: &str, document: &Document<'_>, spot: Spot) {
        let excerpt = match rule.id == rules::SECRET.id {
            true => excerpt::redacted(&document.text[spot.range.clone()]),
            false => self.scanner.without_secrets(excerpt::around(document.text, &spot.range)),
        };
        let finding = Finding {
            rule: rule.id,
            severity: spot.severity,
            file: path.to_owned(),
            line: document.line_of(spot.range.start) + 1,
            column: document.column_of(spot.range.start),
            excerpt,
            explanation: spot.explanation.into_owned(),
            hint: rule.hint,
        };
        self.push(Candidate { finding, is_mention: spot.is_mention });
    }

    fn push(&mut self, candidate: Candidate) {
        let kind = (candidate.finding.rule, candidate.finding.severity);
        let count = self.per_file.entry(kind).or_default();
        *count += 1;
        if *count > FINDINGS_PER_FILE {
            self.omitted += 1;
        } else {
            self.candidates.push(candidate);
        }
    }
}

/// Only ASCII matters to the rules, which makes them small and fast whatever the text holds.
fn compile(pattern: &str) -> Regex {
    let regex = RegexBuilder::new(pattern).unicode(false).multi_line(true).build();
    regex.expect("the rules are constant and tested")
}
