//! The rules of one layer, arranged so that most of them are passed over without being looked at.

use super::pattern::Letters;
use super::{Effect, Permission, Rule};

/// What stands before the name of a skill that a project brought.
const PROJECT: &str = "project:";

/// Rules in order, each with a key that rules out most requests in a few instructions.
#[derive(Clone, Debug)]
pub(super) struct RuleList {
    keys: Vec<Key>,
    rules: Vec<Rule>,
}

#[derive(Clone, Copy, Debug)]
struct Key {
    letters: Letters,
    permissions: u32,
}

/// What is looked up, with the key that a rule's key is compared to.
pub(super) struct Subject<'s> {
    pattern: &'s str,
    /// The same without `project:`, where it is about a skill that a project brought.
    unqualified: Option<&'s str>,
    /// Both with the skill's name as the skill has it, where rules call it otherwise.
    plain: Vec<String>,
    /// The command with a blank after it, for rules that end with a blank and a star.
    with_blank: Option<String>,
    key: Key,
}

/// Which skills a rule means that allows something by a skill's name alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// Those of that name, whoever brought them.
    Any,
    /// Those that no project brought: whoever wrote the rule knew only them.
    Own,
}

impl<'s> Subject<'s> {
    pub(super) fn new(permission: Permission, pattern: &'s str) -> Self {
        let is_about_skills = permission.is_about_skills();
        let unqualified = pattern.strip_prefix(PROJECT).filter(|_| is_about_skills);
        let forms = [Some(pattern), unqualified].into_iter().flatten();
        let plain: Vec<String> =
            forms.filter(|form| is_about_skills && form.contains('%')).map(decode).collect();
        let with_blank = permission.is_about_commands().then(|| format!("{pattern} "));
        let others = plain.iter().chain(&with_blank);
        let letters = others.fold(Letters::of(pattern), |all, form| all.union(Letters::of(form)));
        let key = Key { letters, permissions: bit(permission) };
        Self { pattern, unqualified, plain, with_blank, key }
    }

    /// Whether a rule about this permission is about this. What denies or asks by a name is about every skill of that name, and about all
    /// that the name could mean: the `acme/deploy/x` of a skill `acme` and of a skill `acme/deploy`.
    fn is_met_by(&self, rule: &Rule, named: Named) -> bool {
        let is_strict = rule.action != Effect::Allow;
        let matches = |form: &str| rule.pattern.matches(form);
        let with_blank = || self.with_blank.as_ref().filter(|_| rule.pattern.is_with_or_without());
        matches(self.pattern)
            || with_blank().is_some_and(|form| matches(form))
            || (is_strict || named == Named::Any) && self.unqualified.is_some_and(matches)
            || is_strict && self.plain.iter().any(|form| matches(form))
    }
}

/// A skill's name as the skill has it, from what rules call it.
fn decode(name: &str) -> String {
    name.replace("%2F", "/").replace("%3A", ":").replace("%25", "%")
}

impl RuleList {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { keys: rules.iter().map(key).collect(), rules }
    }

    pub(super) fn last_match(&self, subject: &Subject<'_>, named: Named) -> Option<&Rule> {
        let candidates = self.keys.iter().zip(&self.rules).rev().filter(|(key, _)| {
            key.permissions & subject.key.permissions != 0
                && subject.key.letters.contains(key.letters)
        });
        candidates.map(|(_, rule)| rule).find(|rule| subject.is_met_by(rule, named))
    }

    pub(super) fn about(&self, permission: Permission) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.is_about(permission))
    }
}

fn key(rule: &Rule) -> Key {
    let about = Permission::ALL.into_iter().filter(|permission| rule.is_about(*permission));
    let permissions = about.fold(0, |bits, permission| bits | bit(permission));
    Key { letters: rule.pattern.letters(), permissions }
}

const fn bit(permission: Permission) -> u32 {
    1 << permission as u32
}
