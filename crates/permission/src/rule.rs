//! Rules, and their form in a configuration file, where the order of the keys is the order of the rules.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::{Pattern, Permission};

/// What a rule does with the requests it matches, from the loosest to the strictest.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Let it through.
    Allow,
    /// Ask a person.
    Ask,
    /// Refuse it.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// One rule: requests for `permission` on `pattern` get `action`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// Which permissions it is about.
    pub permission: Pattern,
    /// Which things it is about: paths, skill names, addresses.
    pub pattern: Pattern,
    /// What to do with them.
    pub action: Effect,
}

impl Rule {
    /// Makes a rule.
    pub fn new(
        permission: impl Into<Pattern>,
        pattern: impl Into<Pattern>,
        action: Effect,
    ) -> Self {
        Self { permission: permission.into(), pattern: pattern.into(), action }
    }

    /// Whether the rule is about this request.
    pub fn matches(&self, permission: Permission, pattern: &str) -> bool {
        let matches = if permission.is_about_commands() {
            self.pattern.matches_command(pattern)
        } else {
            self.pattern.matches(pattern)
        };
        matches && self.is_about(permission)
    }

    /// Whether the rule is about this permission.
    pub fn is_about(&self, permission: Permission) -> bool {
        self.permission.matches(permission.name())
    }
}

/// Rules in the order they were written; a later one wins over an earlier one.
///
/// In JSON: `{"skill": {"*": "allow", "internal-*": "deny"}, "write_file": "deny"}`. Read it straight
/// from the text: a `serde_json::Value` in between would sort the keys and so change the meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(pub Vec<Rule>);

impl Rules {
    /// What holds when nobody has configured anything.
    pub fn defaults() -> Self {
        let rule = |permission: Permission| {
            let action = match permission {
                Permission::Skill
                | Permission::SearchSkills
                | Permission::ReadObservation
                | Permission::ReadFile
                | Permission::ListDir
                | Permission::Grep
                | Permission::CommandOutput
                | Permission::CommandInput
                | Permission::CommandStop
                | Permission::WriteFile
                | Permission::EditFile
                | Permission::DeleteFile
                | Permission::AskUser => Effect::Allow,
                Permission::RunScript
                | Permission::RunCommand
                | Permission::ApplyChanges
                | Permission::NetworkRequest => Effect::Ask,
                // Without a rule it asks.
                Permission::Network | Permission::Install => return None,
            };
            Some(Rule::new(permission.name(), "*", action))
        };
        Self(Permission::ALL.into_iter().filter_map(rule).collect())
    }

    /// Rules that ask before every use of these permissions.
    pub fn asking<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, UnknownPermission> {
        let rule = |name| {
            Ok(Rule {
                permission: known_permission(name)?,
                pattern: "*".into(),
                action: Effect::Ask,
            })
        };
        names.into_iter().map(rule).collect::<Result<_, _>>().map(Self)
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RulesVisitor)
    }
}

impl JsonSchema for Rules {
    fn schema_name() -> Cow<'static, str> {
        "Rules".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let action = generator.subschema_for::<Effect>();
        json_schema!({
            "type": "object",
            "description": "Ordered rules by permission, then by pattern; the last match wins",
            "additionalProperties": {
                "anyOf": [action, {"type": "object", "additionalProperties": action}],
            },
        })
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = Rules;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(
            "an object from permissions to `allow`, `ask`, `deny` or an object of patterns",
        )
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Rules, A::Error> {
        let mut rules = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            rules.extend(map.next_value_seed(About(&name))?);
        }
        Ok(Rules(rules))
    }
}

/// The rules about one permission. A name that is unknown is told with its own place, not that of them all.
struct About<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for About<'_> {
    type Value = Vec<Rule>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Rule>, D::Error> {
        let permission = known_permission(self.0).map_err(D::Error::custom)?;
        let patterns = Patterns::deserialize(deserializer)?.0.into_iter();
        let rule = |(pattern, action)| Rule { permission: permission.clone(), pattern, action };
        Ok(patterns.map(rule).collect())
    }
}

/// The value under one permission: one action for everything, or actions by pattern.
struct Patterns(Vec<(Pattern, Effect)>);

impl<'de> Deserialize<'de> for Patterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PatternsVisitor)
    }
}

struct PatternsVisitor;

impl<'de> Visitor<'de> for PatternsVisitor {
    type Value = Patterns;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`allow`, `ask`, `deny`, or an object from patterns to one of them")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Patterns, E> {
        let action = match text {
            "allow" => Effect::Allow,
            "ask" => Effect::Ask,
            "deny" => Effect::Deny,
            other => return Err(E::unknown_variant(other, &["allow", "ask", "deny"])),
        };
        Ok(Patterns(vec![(Pattern::new("*"), action)]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Patterns, A::Error> {
        let mut patterns = Vec::new();
        while let Some(entry) = map.next_entry()? {
            patterns.push(entry);
        }
        Ok(Patterns(patterns))
    }
}

/// What is no [`Permission`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown permission `{name}`; {}", suggestion(name))]
pub struct UnknownPermission {
    /// What was written.
    pub name: String,
}

/// A misspelt permission must not become a rule that never matches: a deny would silently be lost.
pub(super) fn known_permission(name: &str) -> Result<Pattern, UnknownPermission> {
    let pattern = Pattern::new(name);
    if Permission::ALL.iter().any(|known| pattern.matches(known.name())) {
        return Ok(pattern);
    }
    Err(UnknownPermission { name: name.to_owned() })
}

fn suggestion(name: &str) -> String {
    let all = Permission::ALL;
    let distance = |known: &&Permission| strsim::damerau_levenshtein(known.name(), name);
    match all.iter().min_by_key(distance).filter(|known| distance(known) <= 3) {
        Some(known) => format!("did you mean `{known}`?"),
        None => format!("known are {}", all.map(|known| format!("`{known}`")).join(", ")),
    }
}

#[cfg(test)]
mod tests;
