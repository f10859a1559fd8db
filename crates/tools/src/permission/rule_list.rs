//! The rules of one layer, arranged so that most of them are passed over without being looked at.

use super::pattern::Letters;
use super::{PERMISSIONS, Rule};

/// Rules in order, each with a key that rules out most requests in a few instructions.
#[derive(Clone, Debug)]
pub(super) struct RuleList {
    keys: Vec<Key>,
    rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    letters: Letters,
    permissions: u16,
}

/// What is looked up, with the key that a rule's key is compared to.
pub(super) struct Subject<'s> {
    permission: &'s str,
    pattern: &'s str,
    key: Key,
}

/// The bit of every permission that is not in the table.
const UNLISTED: u16 = 1 << 15;

impl<'s> Subject<'s> {
    pub(super) fn new(permission: &'s str, pattern: &'s str) -> Self {
        let listed = PERMISSIONS.iter().position(|known| *known == permission);
        let permissions = listed.map_or(UNLISTED, |position| 1 << position);
        Self { permission, pattern, key: Key { letters: Letters::of(pattern), permissions } }
    }
}

impl RuleList {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { keys: rules.iter().map(key).collect(), rules }
    }

    pub(super) fn last_match(&self, subject: &Subject<'_>) -> Option<&Rule> {
        let candidates = self.keys.iter().zip(&self.rules).rev().filter(|(key, _)| {
            key.permissions & subject.key.permissions != 0
                && subject.key.letters.contains(key.letters)
        });
        candidates
            .map(|(_, rule)| rule)
            .find(|rule| rule.matches(subject.permission, subject.pattern))
    }

    pub(super) fn about(&self, permission: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.permission.matches(permission))
    }
}

fn key(rule: &Rule) -> Key {
    let listed = PERMISSIONS.iter().enumerate().filter(|(_, known)| rule.permission.matches(known));
    let permissions = listed.fold(UNLISTED, |bits, (position, _)| bits | 1 << position);
    Key { letters: rule.pattern.letters(), permissions }
}
