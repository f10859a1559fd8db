//! From matches to what they mean where they stand.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use regex::bytes::Captures;

use super::document::Document;
use super::{Compiled, Place, Rule, Scanner, Severity, excerpt, rules, secrets};

/// A place in a file that a rule speaks of.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) severity: Severity,
    pub(super) range: Range<usize>,
    pub(super) explanation: Cow<'static, str>,
    pub(super) is_mention: bool,
}

impl Scanner {
    /// What the patterns find in a text: the gravest of each rule in each line.
    pub(super) fn spots(&self, document: &Document<'_>) -> Vec<(&'static Rule, Spot)> {
        let mut spots: BTreeMap<(usize, &'static str), (&'static Rule, Spot)> = BTreeMap::new();
        for pattern in &self.patterns {
            for range in document.find(&pattern.regex) {
                let key = (document.line_of(range.start), pattern.rule.id);
                let known = spots.get(&key).map(|(_, spot)| spot.severity);
                if let Some(spot) = self.judge(pattern, document, range, known) {
                    spots.insert(key, (pattern.rule, spot));
                }
            }
        }
        let mut spots: Vec<(&'static Rule, Spot)> = spots.into_values().collect();
        spots.extend(self.sent(document, &spots));
        spots
    }

    /// What a match means where it stands; nothing where the rule does not apply or where its line has
    /// a finding of that rule already that is as grave.
    fn judge(
        &self,
        pattern: &Compiled,
        document: &Document<'_>,
        range: Range<usize>,
        known: Option<Severity>,
    ) -> Option<Spot> {
        let place = document.place(&range);
        let severity = pattern.levels.at(place).filter(|severity| Some(*severity) > known)?;
        let near = document.near(&range);
        if pattern.unless.as_ref().is_some_and(|unless| unless.is_match(near.as_bytes())) {
            return None;
        }
        let is_secret = pattern.rule.id == rules::SECRET.id;
        if is_secret && secrets::is_placeholder(&document.text[range.clone()]) {
            return None;
        }
        let is_mention = place.is_markdown() && !is_secret && !document.is_unseen(&range);
        let spot =
            Spot { severity, range, explanation: pattern.rule.explanation.into(), is_mention };
        if is_mention && severity > Severity::Low && document.is_discussed(&spot.range, &self.cues)
        {
            let explanation =
                format!("{}; the text around it discusses attacks", pattern.rule.explanation);
            let spot = Spot { severity: Severity::Low, explanation: explanation.into(), ..spot };
            return (Some(spot.severity) > known).then_some(spot);
        }
        Some(spot)
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

    /// Credentials read in a script that also sends something: where it sends.
    fn sent(
        &self,
        document: &Document<'_>,
        spots: &[(&'static Rule, Spot)],
    ) -> Option<(&'static Rule, Spot)> {
        let runs = |range: &Range<usize>| document.place(range) == Place::Script;
        let reads = |(rule, spot): &(&Rule, Spot)| {
            rule.id == rules::CREDENTIAL_ACCESS.id && runs(&spot.range)
        };
        if !spots.iter().any(reads) {
            return None;
        }
        let sends = document.find(&self.sends).find(runs)?;
        let rule = &rules::EXFILTRATION;
        let explanation =
            format!("{}: this script reads credentials and sends data", rule.explanation);
        let explanation = explanation.into();
        Some((
            rule,
            Spot { severity: Severity::High, range: sends, explanation, is_mention: false },
        ))
    }
}
