//! The engine: layers of rules in, one decision with its reasons out.
//!
//! Invariants: within a layer the last match wins, and a later layer wins over an earlier one, except
//! that a project's layers and required approvals only ever make a decision stricter. Remembered approvals and `--yes` turn
//! an *ask* into an *allow* and are never looked at when the rules say *deny*.
//! A mode that only looks denies whatever anything else says. What is unclear is only let through by an approval of exactly that,
//! or where nothing is denied that could hide in it. What can run other programs is not let through by an answer to everything
//! where something is denied.
//! What the user's configuration allows by the name of a skill is not allowed for a project's skill of that name.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rule_list::{Named, RuleList, Subject};
use super::verdict::{Approved, Grants, Lasting, Pending, Request, Verdict};
use super::{
    CommandLine, Denial, Effect, Grant, Mode, Pattern, Permission, Rule, Rules, Scope, SkillHash,
    Tool, ToolSet,
};

/// Why somebody is asked about a program that runs others.
const HIDES: &str =
    "it can run other programs, also those that are denied, and no rule would see them";

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
    /// The mode; it can only tighten.
    Mode,
}

impl Layer {
    const fn only_tightens(self) -> bool {
        matches!(self, Self::Project | Self::ProjectProfile | Self::RequiredApproval | Self::Mode)
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
            | Self::CommandLine
            | Self::Mode => Named::Any,
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
    /// How much happens without a question.
    pub mode: Mode,
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
    /// It consists of nothing that needs a rule.
    Harmless,
    /// The mode does not allow it.
    Mode(Mode),
    /// It cannot be vouched for, and this is why.
    Unclear(String),
    /// The mode lets it through, because every wall stands.
    Contained,
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
    layers: [(Layer, RuleList); 9],
    command_line: CommandLine,
    mode: Mode,
    grants: HashSet<Grant>,
    /// Those of them that end with the conversation.
    conversation: Vec<Grant>,
    /// Those of them that are patterns, ready to match.
    wildcards: Vec<(Grant, Pattern)>,
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
            (Layer::Mode, configuration.mode.rules()),
        ]
        .map(|(layer, rules)| (layer, RuleList::new(rules)));
        let command_line = configuration.command_line;
        Self {
            project: project.into(),
            layers,
            command_line,
            mode: configuration.mode,
            grants: HashSet::new(),
            conversation: Vec::new(),
            wildcards: Vec::new(),
        }
    }

    /// How much happens without a question.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Goes on in another mode: a plan was approved, or the user said so.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        for (_, rules) in self.layers.iter_mut().filter(|(layer, _)| *layer == Layer::Mode) {
            *rules = RuleList::new(mode.rules());
        }
    }

    /// Lets approvals count until the conversation ends: the next run of it gets them, too.
    pub fn remember_for_conversation(&mut self, grants: impl IntoIterator<Item = Grant>) {
        let grants: Vec<Grant> = grants.into_iter().collect();
        self.conversation.extend(grants.iter().cloned());
        self.remember(grants);
    }

    /// What counts until the conversation ends.
    pub fn conversation(&self) -> &[Grant] {
        &self.conversation
    }

    /// Lets earlier approvals count from now on.
    pub fn remember(&mut self, grants: impl IntoIterator<Item = Grant>) {
        for grant in grants {
            if grant.wildcard && grant.permission.is_about_commands() {
                let pattern = Pattern::new(&*grant.pattern);
                self.wildcards.push((grant.clone(), pattern));
            }
            self.grants.insert(grant);
        }
    }

    /// What the rules alone say about one pattern, and which of them.
    pub fn ruling(&self, permission: Permission, pattern: &str) -> Ruling {
        let (action, reason) = match self.deciding_rule(permission, pattern) {
            Some((Layer::Mode, rule)) => (rule.action, Reason::Mode(self.mode)),
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
        let possible = self.can_deny(permission);
        move |pattern| possible && self.action(permission, pattern) == Effect::Deny
    }

    fn can_deny(&self, permission: Permission) -> bool {
        let denies = |rules: &RuleList| rules.about(permission).any(|r| r.action == Effect::Deny);
        self.layers.iter().any(|(_, rules)| denies(rules))
    }

    fn deciding_rule(&self, permission: Permission, pattern: &str) -> Option<(Layer, &Rule)> {
        let subject = Subject::new(permission, pattern);
        let mut found: Option<(Layer, &Rule)> = None;
        for (layer, rules) in &self.layers {
            let Some(rule) = rules.last_match(&subject, layer.named()) else { continue };
            let current = found.map_or(Effect::Ask, |(_, rule)| rule.action);
            // Who says what goes without saying wants it so, whatever the mode.
            let confirms =
                rule.action == current && found.is_none_or(|(layer, _)| layer == Layer::Defaults);
            if !layer.only_tightens() || rule.action > current || confirms {
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

    /// The tools that a run has: while it makes a plan, those that the plan is carried out with. Until then the mode
    /// denies what they do.
    pub fn tools_of_run(&self) -> ToolSet {
        match self.mode {
            Mode::Plan => {
                let mut later = self.clone();
                later.set_mode(Mode::Ask);
                later.tools()
            }
            _ => self.tools(),
        }
    }

    /// Decides a request made on behalf of a skill, or of none.
    pub fn decide<T: Request>(&self, request: T, skill: Option<&SkillHash>) -> Verdict<T> {
        let decision = self.decision(&request, skill);
        match decision.action {
            Effect::Allow => Verdict::Allowed(Approved::new(request, decision)),
            Effect::Deny => Verdict::Denied(Denial::Rule { decision }),
            Effect::Ask => {
                let asked = decision.rulings.iter().filter(|ruling| ruling.action == Effect::Ask);
                let asked: Vec<Grant> = asked
                    .map(|ruling| self.grant(decision.permission, &ruling.pattern, skill))
                    .collect();
                let always = lasting_grants(&request, &asked);
                let lasting = Lasting::of(decision.permission, skill);
                Verdict::Ask(Pending::new(request, decision, Grants { asked, always }, lasting))
            }
        }
    }

    fn decision(&self, request: &impl Request, skill: Option<&SkillHash>) -> Decision {
        let permission = request.permission();
        let mut patterns = request.patterns();
        let is_harmless = patterns.is_empty() && permission.is_about_commands();
        if patterns.is_empty() {
            // Without this a request about nothing in particular would pass every deny.
            patterns.push(String::new());
        }
        let mut rulings: Vec<Ruling> = patterns
            .iter()
            .map(|pattern| self.answered(self.ruling(permission, pattern), request, skill))
            .collect();
        let hides = request.hides();
        if !hides.is_empty() && self.can_deny(permission) {
            for ruling in rulings.iter_mut().filter(|ruling| hides.contains(&ruling.pattern)) {
                self.look_into(ruling, permission, skill);
            }
        }
        let unclear = request.unclear();
        for ruling in rulings.iter_mut().filter(|_| is_harmless && unclear.is_none()) {
            if ruling.action == Effect::Ask && is_nobodys(&ruling.reason) {
                (ruling.action, ruling.reason) = (Effect::Allow, Reason::Harmless);
            }
        }
        if let Some(why) = unclear {
            let whole = rulings.remove(0);
            rulings.insert(0, self.unclear(whole, why, request, skill));
        }
        rulings.extend(self.shadowed(request, &patterns, skill));
        let action = rulings.iter().map(|ruling| ruling.action).max().unwrap_or(Effect::Deny);
        Decision { permission, action, rulings }
    }

    /// What rules that somebody wrote say about the other names of what is asked for. Only what denies or asks counts, and not
    /// what is meant for everything.
    fn shadowed(
        &self,
        request: &impl Request,
        patterns: &[String],
        skill: Option<&SkillHash>,
    ) -> Vec<Ruling> {
        let permission = request.permission();
        let mut rulings = Vec::new();
        for shadow in request.shadows().iter().filter(|shadow| !patterns.contains(shadow)) {
            let Some((layer, rule)) = self.deciding_rule(permission, shadow) else { continue };
            let is_meant =
                layer != Layer::Defaults && layer != Layer::Mode && !rule.pattern.is_universal();
            if is_meant && rule.action != Effect::Allow {
                let ruling = self.answered(self.ruling(permission, shadow), request, skill);
                if ruling.action != Effect::Allow {
                    rulings.push(ruling);
                }
            }
        }
        rulings
    }

    /// The ruling about the whole of a request that nobody can vouch for.
    fn unclear(
        &self,
        whole: Ruling,
        why: String,
        request: &impl Request,
        skill: Option<&SkillHash>,
    ) -> Ruling {
        let permission = request.permission();
        let can_deny = self.can_deny(permission);
        let is_granted = || self.remembers(permission, &whole.pattern, skill);
        let is_meant = match &whole.reason {
            Reason::Rule { layer: Layer::CommandLine, rule } => {
                rule.pattern.is_literal() || rule.pattern.is_universal() && !can_deny
            }
            Reason::Yes | Reason::Contained => !can_deny,
            _ => false,
        };
        match whole.action {
            Effect::Deny => whole,
            Effect::Ask if is_nobodys(&whole.reason) => {
                Ruling { reason: Reason::Unclear(why), ..whole }
            }
            Effect::Ask => whole,
            Effect::Allow if is_meant => whole,
            Effect::Allow if is_granted() => Ruling { reason: Reason::Remembered, ..whole },
            Effect::Allow => {
                let asked = Ruling { action: Effect::Ask, reason: Reason::Unclear(why), ..whole };
                // An answer to everything counts only where nothing that is denied can hide.
                if can_deny { asked } else { self.answered(asked, request, skill) }
            }
        }
    }

    /// Asks about what can run other programs, unless somebody meant just that.
    fn look_into(&self, ruling: &mut Ruling, permission: Permission, skill: Option<&SkillHash>) {
        let is_meant = match &ruling.reason {
            Reason::Rule { rule, .. } => rule.pattern.is_specific(),
            Reason::Remembered | Reason::Answered(_) => true,
            _ => false,
        };
        if ruling.action != Effect::Allow || is_meant {
            return;
        }
        if self.remembers(permission, &ruling.pattern, skill)
            || self.remembers_like(permission, &ruling.pattern, skill)
        {
            ruling.reason = Reason::Remembered;
        } else {
            ruling.action = Effect::Ask;
            ruling.reason = Reason::Unclear(HIDES.to_owned());
        }
    }

    /// Answers an *ask* from the command line, from memory or by the mode.
    fn answered(
        &self,
        ruling: Ruling,
        request: &impl Request,
        skill: Option<&SkillHash>,
    ) -> Ruling {
        if ruling.action != Effect::Ask {
            return ruling;
        }
        let permission = request.permission();
        let is_unclear = matches!(ruling.reason, Reason::Unclear(_));
        let reason = if self.command_line.answers(request.risk()) {
            Reason::Yes
        } else if self.remembers(permission, &ruling.pattern, skill)
            || !is_unclear && self.remembers_like(permission, &ruling.pattern, skill)
        {
            Reason::Remembered
        } else if self.contains(&ruling, request) {
            Reason::Contained
        } else {
            return ruling;
        };
        Ruling { action: Effect::Allow, reason, ..ruling }
    }

    /// Whether the mode answers a question that nobody wrote a rule for.
    fn contains(&self, ruling: &Ruling, request: &impl Request) -> bool {
        self.mode == Mode::Contained
            && is_nobodys(&ruling.reason)
            && !self.is_asked_for(request.permission(), &ruling.pattern)
            && request.permission().can_be_contained()
            && request.is_contained()
    }

    /// Whether somebody wants to be asked, also where that is what would happen anyway.
    fn is_asked_for(&self, permission: Permission, pattern: &str) -> bool {
        let subject = Subject::new(permission, pattern);
        let written = self.layers.iter().filter(|(layer, _)| *layer != Layer::Defaults);
        let mut last =
            written.filter_map(|(layer, rules)| rules.last_match(&subject, layer.named()));
        last.any(|rule| rule.action == Effect::Ask)
    }

    fn remembers(&self, permission: Permission, pattern: &str, skill: Option<&SkillHash>) -> bool {
        !self.grants.is_empty() && self.grants.contains(&self.grant(permission, pattern, skill))
    }

    /// Whether a pattern was approved that matches.
    fn remembers_like(
        &self,
        permission: Permission,
        text: &str,
        skill: Option<&SkillHash>,
    ) -> bool {
        self.wildcards.iter().any(|(grant, pattern)| {
            grant.permission == permission
                && grant.project == self.project
                && grant.skill_hash.as_ref() == skill
                && pattern.matches_command(text)
        })
    }

    fn grant(&self, permission: Permission, pattern: &str, skill: Option<&SkillHash>) -> Grant {
        Grant {
            project: self.project.clone(),
            permission,
            pattern: pattern.to_owned(),
            skill_hash: skill.cloned(),
            wildcard: false,
        }
    }
}

/// Whether nobody wrote the rule behind a question.
fn is_nobodys(reason: &Reason) -> bool {
    match reason {
        Reason::NoRule | Reason::Unclear(_) => true,
        Reason::Rule { layer, .. } => *layer == Layer::Defaults,
        _ => false,
    }
}

/// What is remembered for always: the patterns of the request, where they are about all that is asked; else exactly that.
fn lasting_grants(request: &impl Request, asked: &[Grant]) -> Vec<Grant> {
    let patterns = request.always();
    let matches = |pattern: &Pattern, grant: &Grant| match pattern.text() {
        Some(text) => text == grant.pattern,
        None => request.permission().is_about_commands() && pattern.matches_command(&grant.pattern),
    };
    let covers = |grant: &&Grant| patterns.iter().any(|pattern| matches(pattern, grant));
    let (Some(first), true) = (asked.first(), asked.iter().all(|grant| covers(&grant))) else {
        return asked.to_vec();
    };
    let used = patterns.iter().filter(|pattern| asked.iter().any(|grant| matches(pattern, grant)));
    let grant = |pattern: &Pattern| Grant {
        pattern: pattern.text().unwrap_or(pattern.as_str()).to_owned(),
        wildcard: !pattern.is_literal(),
        ..first.clone()
    };
    let mut grants: Vec<Grant> = Vec::new();
    for grant in used.map(grant) {
        if !grants.contains(&grant) {
            grants.push(grant);
        }
    }
    grants
}

#[cfg(test)]
mod tests;
