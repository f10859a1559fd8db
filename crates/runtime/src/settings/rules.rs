//! Rules of the files and the environment: what a project's cannot do, and what of all of them counts.
//!
//! The engine decides; here is only what is said about its rules.

use std::collections::BTreeMap;

use permission::{Configuration, Effect, Engine, Permission, Rule, Rules};
use serde_json::{Map, Value, json};

use super::Origin;
use super::project::Objection;

/// Rules of one place. Their order matters, so they are read straight from the text.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(default)]
pub struct RuleSet {
    /// The rules that always count.
    pub permissions: Rules,
    /// Those that count where they are chosen by name.
    pub profiles: BTreeMap<String, Rules>,
}

impl RuleSet {
    /// Adds rules that come after these.
    pub fn extend(&mut self, later: Self) {
        self.permissions.0.extend(later.permissions.0);
        for (name, rules) in later.profiles {
            self.profiles.entry(name).or_default().0.extend(rules.0);
        }
    }

    /// The rules of a profile, none where there is no such profile.
    fn profile(&self, name: &str) -> &[Rule] {
        self.profiles.get(name).map_or(&[], |rules| &rules.0)
    }
}

/// Takes out of a project's rules what would allow more than `others` do; answers with that.
pub(super) fn restrict(project: &mut RuleSet, others: &[&RuleSet]) -> Vec<Objection> {
    let mut below = Rules::defaults().0;
    below.extend(others.iter().flat_map(|rules| rules.permissions.0.iter().cloned()));
    let mut objections = drop_ignored(&mut project.permissions, "permissions", &below);
    for (name, rules) in &mut project.profiles {
        let mut below = below.clone();
        below.extend(others.iter().flat_map(|rules| rules.profile(name).iter().cloned()));
        objections.extend(drop_ignored(rules, &format!("profiles.{name}"), &below));
    }
    objections
}

fn drop_ignored(rules: &mut Rules, section: &str, below: &[Rule]) -> Vec<Objection> {
    let mut objections = Vec::new();
    let mut kept: Vec<Rule> = Vec::new();
    for rule in rules.0.drain(..) {
        if loosens(&rule, &kept, below) {
            let Rule { permission, pattern, action } = rule;
            objections.push(Objection {
                what: format!("{section}.{permission}: {{\"{pattern}\": \"{action}\"}}"),
                why: "a project may only tighten it".to_owned(),
            });
        } else {
            kept.push(rule);
        }
    }
    rules.0 = kept;
    objections
}

/// Whether a rule of a project asks for more than the rules below it give, and for nothing else: it takes back
/// nothing that they allow, and is no exception to a stricter rule of the project before it.
fn loosens(rule: &Rule, before: &[Rule], below: &[Rule]) -> bool {
    let about = |rules: &[Rule], permission: Permission, differs: fn(Effect, Effect) -> bool| {
        let about: Vec<&Rule> = rules.iter().filter(|other| other.is_about(permission)).collect();
        // Nothing that came before is left of what everything is said about.
        let first = about.iter().rposition(|other| other.pattern.is_universal()).unwrap_or(0);
        about.iter().skip(first).any(|other| differs(other.action, rule.action))
    };
    let counts = |name: Permission| {
        about(below, name, |other, own| other < own)
            || about(before, name, |other, own| other > own)
    };
    // Where no rule is about it, it asks.
    let is_stricter_below = |name: Permission| {
        about(below, name, |other, own| other > own)
            || rule.action == Effect::Allow && !about(below, name, |_, _| true)
    };
    let named = || Permission::ALL.into_iter().filter(|name| rule.is_about(*name));
    !named().any(counts) && named().any(is_stricter_below)
}

/// What counts of one section, by permission and pattern, and where it is from.
type Shown = BTreeMap<String, BTreeMap<String, (Effect, Origin)>>;

/// The rules that count, as they could be written in one file, and where each is from.
pub(super) struct Effective {
    pub(super) permissions: Map<String, Value>,
    pub(super) profiles: Map<String, Value>,
    /// By dotted key.
    pub(super) origins: BTreeMap<String, Origin>,
}

/// The rules that count, of `own` places, the later over the earlier, and of a project's file, which tightens them.
pub(super) fn effective(own: &[(Origin, RuleSet)], project: (&Origin, &RuleSet)) -> Effective {
    let mut origins = BTreeMap::new();
    let permissions = section(own, project, |rules| &rules.permissions.0);
    let permissions = describe("permissions", permissions, &mut origins);
    let names =
        own.iter().map(|(_, rules)| rules).chain([project.1]).flat_map(|r| r.profiles.keys());
    let mut profiles = Map::new();
    for name in names {
        let shown = section(own, project, |rules| rules.profile(name));
        let rules = describe(&format!("profiles.{name}"), shown, &mut origins);
        profiles.insert(name.clone(), Value::Object(rules));
    }
    Effective { permissions, profiles, origins }
}

fn section(
    own: &[(Origin, RuleSet)],
    (place, project): (&Origin, &RuleSet),
    rules: impl Fn(&RuleSet) -> &[Rule],
) -> Shown {
    let mut shown = Shown::new();
    let mut below = Vec::new();
    for (origin, set) in own {
        for rule in rules(set) {
            let patterns = shown.entry(rule.permission.to_string()).or_default();
            // Nothing that came before is left of what everything is said about.
            patterns.retain(|_, _| !rule.pattern.is_universal());
            patterns.insert(rule.pattern.to_string(), (rule.action, origin.clone()));
            below.push(rule.clone());
        }
    }
    let engine =
        Engine::new("", Configuration { user: Rules(below.clone()), ..Default::default() });
    // A rule about several permissions is compared with those about as many.
    let below = |about: &str, pattern: &str| match Permission::from_name(about) {
        Some(permission) => engine.action(permission, pattern),
        None => {
            let meets = |r: &&Rule| r.permission.matches(about) && r.pattern.matches(pattern);
            below.iter().rfind(meets).map_or(Effect::Ask, |rule| rule.action)
        }
    };
    for rule in rules(project) {
        let (permission, pattern) = (rule.permission.as_str(), rule.pattern.as_str());
        let action = rule.action.max(below(permission, pattern));
        let patterns = shown.entry(permission.to_owned()).or_default();
        patterns.retain(|known, (other, _)| {
            !rule.pattern.is_universal()
                || *other > action
                || known.as_str() == pattern && *other == action
        });
        let known = patterns.get(pattern).filter(|(_, from)| from != place);
        if known.is_none_or(|(other, _)| *other < action) {
            patterns.insert(pattern.to_owned(), (action, place.clone()));
        }
    }
    shown
}

fn describe(key: &str, shown: Shown, origins: &mut BTreeMap<String, Origin>) -> Map<String, Value> {
    let mut map = Map::new();
    for (permission, patterns) in shown {
        let mut actions = Map::new();
        for (pattern, (action, origin)) in patterns {
            origins.insert(format!("{key}.{permission}.{pattern}"), origin);
            actions.insert(pattern, json!(action));
        }
        map.insert(permission, Value::Object(actions));
    }
    map
}
