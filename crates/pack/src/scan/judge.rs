//! From matches to what they mean where they stand.

use std::collections::BTreeMap;
use std::ops::Range;

use regex::bytes::Captures;

use super::document::Document;
use super::{Area, Compiled, Rule, Scanner, Severity, excerpt, rules, secrets};

/// A place in a text that a rule speaks of.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) range: Range<usize>,
}

impl Scanner {
    /// What the patterns find in a text: the gravest of each rule in each line.
    pub(super) fn spots(&self, document: &Document<'_>) -> Vec<Spot> {
        let mut spots: BTreeMap<(usize, &'static str), Spot> = BTreeMap::new();
        for pattern in &self.patterns {
            for range in document.find(&pattern.regex) {
                let key = (document.line_of(range.start), pattern.rule.id);
                let known = spots.get(&key).map(|spot| spot.severity);
                if let Some(spot) = judge(pattern, document, range, known) {
                    spots.insert(key, spot);
                }
            }
        }
        spots.into_values().collect()
    }

    /// Where code sends something away.
    pub(super) fn sends(&self, document: &Document<'_>) -> Option<Range<usize>> {
        document.find(&self.sends).find(|range| document.place(range) == Area::Code)
    }

    /// An excerpt with what looks like a key cut short.
    pub(super) fn without_secrets(&self, excerpt: String) -> String {
        let secrets = self.patterns.iter().filter(|pattern| pattern.rule.id == rules::SECRET.id);
        secrets.fold(excerpt, |excerpt, pattern| {
            let cut = |found: &Captures<'_>| {
                excerpt::redacted(&String::from_utf8_lossy(&found[0])).into_bytes()
            };
            let replaced = pattern.regex.replace_all(excerpt.as_bytes(), cut);
            String::from_utf8_lossy(&replaced).into_owned()
        })
    }
}

/// What a match means where it stands; nothing where the rule does not apply or where its line has a
/// finding of that rule already that is as grave.
///
/// Only the match itself decides, never the text around it: an attacker writes that, too.
fn judge(
    pattern: &Compiled,
    document: &Document<'_>,
    range: Range<usize>,
    known: Option<Severity>,
) -> Option<Spot> {
    let place = document.place(&range);
    let severity = pattern.levels.at(place).filter(|severity| Some(*severity) > known)?;
    let matched = &document.text[range.clone()];
    let is_placeholder = pattern.rule.id == rules::SECRET.id && secrets::is_placeholder(matched);
    if is_placeholder || pattern.unless.leaves_alone(matched) {
        return None;
    }
    Some(Spot { rule: pattern.rule, severity, range })
}
