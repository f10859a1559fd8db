//! Eval cases and settings: what a case may set, and which of the user's settings bind every case.
//!
//! A case is a project's word, so the same table decides. Invariant: nothing that a case says reaches the settings of
//! the model, or how scripts are contained.

#[cfg(test)]
mod tests;

use permission::{Configuration, Effect, Engine, Permission};
use serde_json::{Map, Value, json};

use super::layers::Layers;
use super::project::{self, Objection};
use super::rules::{self, RuleSet};
use super::{Config, Sandbox};

/// Sections in which a case has nothing to say, not even to make them stricter.
const USERS_ALONE: [&str; 2] = ["model", "execution"];

/// What a case sets and may not.
pub fn objections(settings: &Map<String, Value>) -> Vec<Objection> {
    let mut rest = settings.clone();
    let mut found = Vec::new();
    let mut object = |what: &str, why: &str| {
        found.push(Objection { what: what.to_owned(), why: why.to_owned() });
    };
    for section in USERS_ALONE {
        if rest.remove(section).is_some() {
            object(section, "only you may set it");
        }
    }
    if rest.remove("skill_roots").is_some() {
        object("skill_roots", "use `setup.skill_roots` of the case instead");
    }
    let mut rest = Value::Object(rest);
    match serde_json::from_value::<RuleSet>(rest.clone()) {
        Ok(mut own) => found.extend(rules::restrict(&mut own, &[])),
        Err(error) => object("permissions", &error.to_string()),
    }
    found.extend(project::restrict(&mut rest));
    found
}

/// What of the user's settings binds every case.
pub struct Binding {
    /// For the user's file.
    pub settings: Map<String, Value>,
    /// Rules, in their order, for the variable that sets them.
    pub rules: Option<String>,
    /// The user's alone, without any word of a project.
    pub config: Config,
}

impl Layers {
    /// What of the user's settings binds every case. What they loosen is left out, where others would get
    /// another result for it.
    pub fn binding(&self) -> Binding {
        let config: Config = serde_json::from_value(self.own.clone()).unwrap_or_default();
        let mut settings = Map::new();
        for section in ["execution", "security", "install", "audit"] {
            let said = self.own.get(section).and_then(Value::as_object).cloned();
            settings.insert(section.to_owned(), Value::Object(said.unwrap_or_default()));
        }
        // Whole, so that a case's limits can be held against them.
        settings.insert("budget".to_owned(), json!(config.budget));
        settings["execution"]["timeout_seconds"] = json!(config.execution.timeout_seconds);
        // Somebody else's scripts stay behind the walls that there are, whatever the user does without.
        if config.execution.sandbox == Sandbox::Off {
            settings["execution"]["sandbox"] = json!(Sandbox::BestEffort);
        }
        Binding { settings, rules: strict_rules(&self.user_rules, &self.environment_rules), config }
    }
}

/// The user's denials, and what else is stricter than the defaults, with the exceptions to those.
fn strict_rules(user: &RuleSet, environment: &RuleSet) -> Option<String> {
    let defaults = Engine::new("", Configuration::default());
    let mut sections = Vec::new();
    for permission in Permission::ALL {
        let all = user.permissions.0.iter().chain(&environment.permissions.0);
        let mut kept: Vec<(&str, Effect)> = Vec::new();
        let mut is_strict = false;
        for rule in all.filter(|rule| rule.is_about(permission)) {
            let pattern = rule.pattern.as_str();
            // A denial counts where the tool is off by default, too: a case may approve it.
            is_strict |=
                rule.action == Effect::Deny || rule.action > defaults.action(permission, pattern);
            if is_strict {
                // The last one counts, and an object has room for one.
                kept.retain(|(other, _)| *other != pattern);
                kept.push((pattern, rule.action));
            }
        }
        if !kept.is_empty() {
            let rules = kept
                .iter()
                .map(|(pattern, action)| format!("{}:{}", json!(pattern), json!(action)));
            sections.push(format!(
                "{}:{{{}}}",
                json!(permission),
                rules.collect::<Vec<_>>().join(",")
            ));
        }
    }
    (!sections.is_empty()).then(|| format!("{{{}}}", sections.join(",")))
}
