//! The engine: layers of rules in, one decision with its reasons out.
//!
//! Invariants: within a layer the last match wins, and a later layer wins over an earlier one, except
//! that a project's layers and required approvals only ever make a decision stricter. Remembered approvals and `--yes` turn
//! an *ask* into an *allow* and are never looked at when the rules say *deny*.
//! What the user's configuration allows by the name of a skill is not allowed for a project's skill of that name.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule_list::{Named, RuleList, Subject};
use super::verdict::{Approved, Lasting, Pending, Request, Verdict};
use super::{
    CommandLine, Denial, Effect, Grant, Permission, Rule, Rules, Scope, SkillHash, Tool, ToolSet,
};

/// Where a rule was written, in order of precedence.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Built in.
    Defaults,
    /// The user's configuration.
    User,
    /// The environment, for the user.
    Environment,
    /// The project's configuration, which can only tighten.
    Project,
    /// The chosen profile, from the user's configuration.
    Profile,
    /// The chosen profile, from the project's configuration, which can only tighten.
    ProjectProfile,
    /// Tools that ask whatever the rules allow, from every configuration; it can only tighten.
    RequiredApproval,
    /// Flags of this invocation.
    CommandLine,
}

impl Layer {
    const fn only_tightens(self) -> bool {
        matches!(self, Self::Project | Self::ProjectProfile | Self::RequiredApproval)
    }

    /// A project means its own skills, and a command line the one that is there now; but a configuration was
    /// written before anybody knew what some project would bring.
    const fn named(self) -> Named {
        match self {
            Self::User | Self::Environment | Self::Profile => Named::Own,
            Self::Defaults
            | Self::Project
            | Self::ProjectProfile
            | Self::RequiredApproval
            | Self::CommandLine => Named::Any,
        }
    }
}

/// The rules of every layer but the built-in one.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    /// `permissions` of the user's configuration.
    pub user: Rules,
    /// `permissions` of the environment.
    pub environment: Rules,
    /// `permissions` of the project's configuration.
    pub project: Rules,
    /// The chosen profile of the user's configuration.
    pub profile: Rules,
    /// The chosen profile of the project's configuration.
    pub project_profile: Rules,
    /// `execution.require_approval_for` of every configuration.
    pub required_approval: Rules,
    /// Flags.
    pub command_line: CommandLine,
}

/// Why a pattern was decided as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// This rule of this layer matched last.
    Rule {
        /// Where it was written.
        layer: Layer,
        /// The rule.
        rule: Box<Rule>,
    },
    /// No rule matched.
    NoRule,
    /// The rules ask, and `--yes` answered.
    Yes,
    /// The rules ask, and an earlier approval answered.
    Remembered,
    /// The rules ask, and a person answered.
    Answered(Scope),
}

/// What was decided for one pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    /// The pattern of the request.
    pub pattern: String,
    /// What was decided.
    pub action: Effect,
    /// Why.
    pub reason: Reason,
}

/// What was decided for a request, with a ruling for each of its patterns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// What was asked for.
    pub permission: Permission,
    /// The strictest of the rulings.
    pub action: Effect,
    /// One for each pattern, in the order of the request.
    pub rulings: Vec<Ruling>,
}

/// Decides requests of one project.
#[derive(Clone, Debug)]
pub struct Engine {
    project: String,
    layers: [(Layer, RuleList); 8],
    command_line: CommandLine,
    grants: HashSet<Grant>,
}

impl Engine {
    /// An engine for `project`, named by its absolute path, that remembers nothing yet.
    pub fn new(project: impl Into<String>, configuration: Configuration) -> Self {
        let layers = [
            (Layer::Defaults, Rules::defaults().0),
            (Layer::User, configuration.user.0),
            (Layer::Environment, configuration.environment.0),
            (Layer::Project, configuration.project.0),
            (Layer::Profile, configuration.profile.0),
            (Layer::ProjectProfile, configuration.project_profile.0),
            (Layer::RequiredApproval, configuration.required_approval.0),
            (Layer::CommandLine, configuration.command_line.rules()),
        ]
        .map(|(layer, rules)| (layer, RuleList::new(rules)));
        let command_line = configuration.command_line;
        Self { project: project.into(), layers, command_line, grants: HashSet::new() }
    }

    /// x
    pub fn mode(&self) -> crate::Mode { crate::Mode::Ask }
    /// x
    pub fn set_mode(&mut self, _mode: crate::Mode) {}

    /// Lets earlier approvals count from now on.
    pub fn remember(&mut self, grants: impl IntoIterator<Item = Grant>) {
        self.grants.extend(grants);
    }

    /// What the rules alone say about one pattern, and which of them.
    pub fn ruling(&self, permission: Permission, pattern: &str) -> Ruling {
        let (action, reason) = match self.deciding_rule(permission, pattern) {
            Some((layer, rule)) => {
                (rule.action, Reason::Rule { layer, rule: Box::new(rule.clone()) })
            }
            None => (Effect::Ask, Reason::NoRule),
        };
        Ruling { pattern: pattern.to_owned(), action, reason }
    }

    /// What the rules alone say about one pattern.
    pub fn action(&self, permission: Permission, pattern: &str) -> Effect {
        self.deciding_rule(permission, pattern).map_or(Effect::Ask, |(_, rule)| rule.action)
    }

    /// Tells which patterns of a permission the rules deny; where they deny none at all, for nothing.
    pub fn denials(&self, permission: Permission) -> impl Fn(&str) -> bool + '_ {
        let denies = |rules: &RuleList| rules.about(permission).any(|r| r.action == Effect::Deny);
        let possible = self.layers.iter().any(|(_, rules)| denies(rules));
        move |pattern| possible && self.action(permission, pattern) == Effect::Deny
    }

    fn deciding_rule(&self, permission: Permission, pattern: &str) -> Option<(Layer, &Rule)> {
        let subject = Subject::new(permission, pattern);
        let mut found: Option<(Layer, &Rule)> = None;
        for (layer, rules) in &self.layers {
            let Some(rule) = rules.last_match(&subject, layer.named()) else { continue };
            let current = found.map_or(Effect::Ask, |(_, rule)| rule.action);
            if !layer.only_tightens() || rule.action > current {
                found = Some((*layer, rule));
            }
        }
        found
    }

    /// Whether anything at all could be let through for a permission; if not, do not offer it.
    pub fn offers(&self, permission: Permission) -> bool {
        let mut offered = true;
        for (layer, rules) in &self.layers {
            let may_offer = offered || !layer.only_tightens();
            for rule in rules.about(permission) {
                match rule.action {
                    Effect::Deny => offered &= !rule.pattern.is_universal(),
                    Effect::Allow | Effect::Ask => offered |= may_offer,
                }
            }
        }
        offered
    }

    /// The tools that are on offer.
    pub fn tools(&self) -> ToolSet {
        Tool::ALL.into_iter().filter(|tool| self.offers((*tool).into())).collect()
    }

    /// Decides a request made on behalf of a skill, or of none.
    pub fn decide<T: Request>(&self, request: T, skill: Option<&SkillHash>) -> Verdict<T> {
        let decision = self.decision(&request, skill);
        match decision.action {
            Effect::Allow => Verdict::Allowed(Approved::new(request, decision)),
            Effect::Deny => Verdict::Denied(Denial::Rule { decision }),
            Effect::Ask => {
                let asked = decision.rulings.iter().filter(|ruling| ruling.action == Effect::Ask);
                let grants = asked
                    .map(|ruling| self.grant(decision.permission, &ruling.pattern, skill))
                    .collect();
                let lasting = Lasting::of(decision.permission, skill);
                Verdict::Ask(Pending::new(request, decision, grants, lasting))
            }
        }
    }

    fn decision(&self, request: &impl Request, skill: Option<&SkillHash>) -> Decision {
        let permission = request.permission();
        let mut patterns = request.patterns();
        if patterns.is_empty() {
            // Without this a request about nothing in particular would pass every deny.
            patterns.push(String::new());
        }
        let rulings: Vec<Ruling> = patterns
            .iter()
            .map(|pattern| self.answered(self.ruling(permission, pattern), request, skill))
            .collect();
        let action = rulings.iter().map(|ruling| ruling.action).max().unwrap_or(Effect::Deny);
        Decision { permission, action, rulings }
    }

    /// Answers an *ask* from the command line or from memory.
    fn answered(
        &self,
        ruling: Ruling,
        request: &impl Request,
        skill: Option<&SkillHash>,
    ) -> Ruling {
        if ruling.action != Effect::Ask {
            return ruling;
        }
        let reason = if self.command_line.answers(request.risk()) {
            Reason::Yes
        } else if self.remembers(request.permission(), &ruling.pattern, skill) {
            Reason::Remembered
        } else {
            return ruling;
        };
        Ruling { action: Effect::Allow, reason, ..ruling }
    }

    fn remembers(&self, permission: Permission, pattern: &str, skill: Option<&SkillHash>) -> bool {
        !self.grants.is_empty() && self.grants.contains(&self.grant(permission, pattern, skill))
    }

    fn grant(&self, permission: Permission, pattern: &str, skill: Option<&SkillHash>) -> Grant {
        Grant {
            project: self.project.clone(),
            permission,
            pattern: pattern.to_owned(),
            skill_hash: skill.cloned(),
        }
    }
}

#[cfg(test)]
mod tests;
