//! Looking through a skill for what should make a person stop: few rules of high precision.
//!
//! A scan proves nothing: whoever packs or rephrases an attack gets past it. A report therefore says what
//! was looked at and what was not, never that a skill is harmless; containment is the sandbox's work.
//!
//! Invariant: no word of a skill makes a finding in it less grave, and nothing is passed over unsaid.
//! Invariant: nothing here but `folder` reads a file. Time grows with the size of a file only linearly,
//! and memory not at all, whatever is in it.

mod bounded;
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
mod reading;
mod rules;
mod sarif;
mod secrets;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use regex::bytes::{Regex, RegexBuilder};

use bounded::Bounded;
use claims::Claims;
pub use finding::{Finding, LookedAt, NotLookedAt, Report, Severity};
pub use folder::{FolderError, Search};
pub use reading::Reading;
pub use rules::{Area, RULES, Rule};
pub use sarif::sarif;

/// Findings of one rule in one skill that are listed.
const FINDINGS: usize = 100;
/// Files that were not looked at and are listed.
const NOT_LOOKED_AT: usize = 100;
/// Bytes that are looked at together.
const WINDOW: usize = 4 << 20;
/// Bytes of one file that are looked at.
const LARGEST_FILE: u64 = 64 << 20;
/// Bytes of one skill that are looked at: more than a pack may hold, few enough to wait for.
const LARGEST_SKILL: u64 = 256 << 20;

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
    sends: Regex,
    claims: Claims,
}

#[derive(Debug)]
struct Compiled {
    rule: &'static Rule,
    levels: rules::Levels,
    regex: Regex,
    unless: Unless,
}

/// Which matches are left alone, ready to be used.
#[derive(Debug)]
enum Unless {
    Never,
    It(Regex),
    All { parts: Regex, are: Regex },
}

/// One skill while its files are looked at.
#[derive(Debug)]
pub struct Scan<'s> {
    scanner: &'s Scanner,
    findings: BTreeMap<&'static str, Bounded<Finding>>,
    /// Findings of files that had too many to list.
    omitted: usize,
    looked_at: LookedAt,
    not_looked_at: Bounded<NotLookedAt>,
    claims: claims::Seen,
    repository: opaque::Repository,
    /// Bytes that are looked at together.
    window: usize,
    /// Bytes of one file that are looked at.
    largest_file: u64,
    /// Bytes that may still be looked at.
    left: u64,
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
                unless: Unless::new(&pattern.unless),
            })
            .collect();
        Self { patterns, sends: compile(rules::SENDS), claims: Claims::new() }
    }

    /// Starts to look at a skill.
    pub fn begin(&self) -> Scan<'_> {
        Scan {
            scanner: self,
            findings: BTreeMap::new(),
            omitted: 0,
            looked_at: LookedAt::default(),
            not_looked_at: Bounded::new(NOT_LOOKED_AT),
            claims: claims::Seen::default(),
            repository: opaque::Repository::default(),
            window: WINDOW,
            largest_file: LARGEST_FILE,
            left: LARGEST_SKILL,
        }
    }

    /// Looks at all files of a skill.
    pub fn scan<'a>(&self, files: impl IntoIterator<Item = File<'a>>) -> Report {
        let mut scan = self.begin();
        files.into_iter().for_each(|file| scan.file(file));
        scan.finish()
    }
}

impl Unless {
    fn new(unless: &rules::Unless) -> Self {
        match unless {
            rules::Unless::Never => Self::Never,
            rules::Unless::It(regex) => Self::It(compile(regex)),
            rules::Unless::All { parts, are } => {
                Self::All { parts: compile(parts), are: compile(are) }
            }
        }
    }

    /// Whether a match is left alone.
    fn leaves_alone(&self, matched: &str) -> bool {
        let matched = matched.as_bytes();
        match self {
            Self::Never => false,
            Self::It(regex) => regex.is_match(matched),
            Self::All { parts, are } => {
                let mut parts = parts.find_iter(matched).peekable();
                parts.peek().is_some() && parts.all(|part| are.is_match(part.as_bytes()))
            }
        }
    }
}

impl<'s> Scan<'s> {
    /// Looks at one file.
    pub fn file(&mut self, file: File<'_>) {
        let mut reading = self.open(file.path, file.executable);
        reading.take(file.bytes);
        reading.finish();
    }

    /// Starts to look at a file that is read piece by piece, however large it is.
    pub fn open<'a>(&'a mut self, path: &'a str, executable: bool) -> Reading<'a, 's> {
        Reading::new(self, path, executable)
    }

    /// Says that something could not be looked at at all, which is a grave finding: anything may be in it.
    pub fn skip(&mut self, file: &str, reason: &str) {
        self.note(file, reason);
        self.opaque(file, 1, Severity::High, reason);
    }

    /// What was found and what was not looked at.
    pub fn finish(mut self) -> Report {
        if let Some(mismatch) = self.claims.mismatch(&self.scanner.claims) {
            self.push(mismatch);
        }
        if let Some((path, what)) = self.repository.what() {
            self.note(&path, &what);
            self.opaque(&path, 1, Severity::Low, &what);
        }
        let mut omitted = self.omitted;
        let mut findings = Vec::new();
        for (listed, more) in self.findings.into_values().map(Bounded::finish) {
            findings.extend(listed);
            omitted += more;
        }
        findings.sort();
        let (not_looked_at, more_not_looked_at) = self.not_looked_at.finish();
        let looked_at = self.looked_at;
        Report { findings, omitted, looked_at, not_looked_at, more_not_looked_at }
    }

    /// Notes that something was not looked at.
    fn note(&mut self, file: &str, reason: &str) {
        let (file, reason) = (file.to_owned(), reason.to_owned());
        self.not_looked_at.push(NotLookedAt { file, reason });
    }

    fn opaque(&mut self, path: &str, line: usize, severity: Severity, what: &str) {
        let rule = &rules::OPAQUE_CONTENT;
        self.push(Finding {
            rule: rule.id,
            severity,
            file: path.to_owned(),
            line,
            column: 1,
            excerpt: String::new(),
            explanation: format!("{}: {what}", rule.explanation),
            hint: rule.hint,
        });
    }

    fn push(&mut self, finding: Finding) {
        let known = self.findings.entry(finding.rule);
        known.or_insert_with(|| Bounded::new(FINDINGS)).push(finding);
    }
}

/// Only ASCII matters to the rules, which makes them small and fast whatever the text holds.
fn compile(pattern: &str) -> Regex {
    let regex = RegexBuilder::new(pattern).unicode(false).multi_line(true).build();
    regex.expect("the rules are constant and tested")
}
