//! What the engine answers, and the proof that something was let through.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalId, ApprovalRequest, Decision, Denial, Effect, Grant, Invocation, Pattern, Permission,
    Reason, Risk, SkillHash,
};

/// Something that needs permission: for the rules, and in words for the person who is asked.
pub trait Request {
    /// Which permission it needs.
    fn permission(&self) -> Permission;
    /// What it touches; every one of them must be let through. None for commands that need no rule.
    fn patterns(&self) -> Vec<String>;
    /// How much it can harm.
    fn risk(&self) -> Risk;
    /// What will happen, as a phrase that begins with a verb.
    fn effect(&self) -> String;
    /// Its parameters, as the action gave them.
    fn params(&self) -> Value;
    /// Other texts for what it touches. A rule that somebody wrote and that denies them, or asks for them, counts; nothing has
    /// to allow them.
    fn shadows(&self) -> Vec<String> {
        Vec::new()
    }
    /// Why nobody can vouch for what it touches, so that a person must look. The first of its patterns is then the whole of it,
    /// and an approval counts only for exactly that.
    fn unclear(&self) -> Option<String> {
        None
    }
    /// Those of its patterns that can do more than they say, unseen by any rule: programs that run others. Where something is
    /// denied, only a rule or an approval that is about them lets them through.
    fn hides(&self) -> Vec<String> {
        Vec::new()
    }
    /// Whether every wall stands around it.
    fn is_contained(&self) -> bool {
        false
    }
    /// What an answer for always is about. Only for commands can that be more than what is asked for.
    fn always(&self) -> Vec<Pattern> {
        self.patterns().iter().map(|pattern| Pattern::literal(pattern)).collect()
    }
}

/// What the engine says to a request.
#[derive(Debug)]
pub enum Verdict<T> {
    /// Go ahead.
    Allowed(Approved<T>),
    /// A person must answer first.
    Ask(Pending<T>),
    /// No.
    Denied(Denial),
}

/// Proof that a request was let through. Only the permission engine makes one, and it can be spent once.
#[derive(Debug)]
pub struct Approved<T> {
    request: T,
    decision: Decision,
}

impl<T> Approved<T> {
    pub(super) fn new(request: T, decision: Decision) -> Self {
        Self { request, decision }
    }

    /// Why it was let through.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The proof for what was asked, in the form that carries it out. The caller vouches that `part` does
    /// no more than what was approved.
    pub fn narrow<U>(self, part: U) -> Approved<U> {
        Approved { request: part, decision: self.decision }
    }

    /// Spends the proof.
    pub fn into_request(self) -> T {
        self.request
    }
}

impl<T> Deref for Approved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.request
    }
}

/// A request that waits for a person's answer.
#[derive(Debug)]
pub struct Pending<T> {
    request: T,
    decision: Decision,
    grants: Grants,
    lasting: Lasting,
}

/// What a yes would be remembered as.
#[derive(Debug)]
pub(super) struct Grants {
    /// What is asked for.
    pub(super) asked: Vec<Grant>,
    /// What an answer for always is about.
    pub(super) always: Vec<Grant>,
}

/// Whether an approval can outlive a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// It can, and this is what will be remembered.
    Yes(&'static str),
    /// It can, for whatever the question's patterns match.
    Pattern,
    /// It would not be bound to what the skill holds, because nobody knows all of that.
    No,
}

impl Lasting {
    pub(super) fn of(permission: Permission, skill: Option<&SkillHash>) -> Self {
        match (permission, skill) {
            (Permission::RunScript, Some(_)) => {
                Self::Yes("this script of this skill, in this project, until its files change")
            }
            (Permission::Skill, Some(_)) => {
                Self::Yes("this skill, in this project, until its files change")
            }
            (permission, None) if permission.is_about_skills() => Self::No,
            _ => Self::Pattern,
        }
    }
}

/// What a person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this time.
    Once,
    /// Yes, and the same again until the conversation ends.
    #[serde(rename = "conversation", alias = "run")]
    Run,
    /// Yes, and the same again until the skill changes or the grant is revoked. Where that cannot be
    /// noticed, as for the run.
    Always,
    /// No.
    Reject {
        /// What the model should know about it.
        #[serde(default)]
        message: Option<String>,
    },
    /// Nobody is there; what it is about is kept for later.
    Later,
}

impl Answer {
    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Run => "conversation",
            Self::Always => "always",
            Self::Reject { .. } => "reject",
            Self::Later => "later",
        }
    }
}

/// How long a person's yes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This time.
    Once,
    /// Until the run ends.
    Run,
    /// Until the skill changes or the grant is revoked.
    Always,
}

/// A person's yes.
#[derive(Debug)]
pub struct Granted<T> {
    /// The proof.
    pub approved: Approved<T>,
    /// How long to remember it.
    pub scope: Scope,
    /// What to remember: nothing for [`Scope::Once`].
    pub grants: Vec<Grant>,
}

impl<T: Request> Pending<T> {
    pub(super) fn new(request: T, decision: Decision, grants: Grants, lasting: Lasting) -> Self {
        Self { request, decision, grants, lasting }
    }

    /// What is asked for.
    pub fn request(&self) -> &T {
        &self.request
    }

    /// Why a person must answer.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The question, as data for whoever can answer it.
    pub fn question(
        &self,
        id: ApprovalId,
        reason: impl Into<String>,
        invocation: &Invocation,
    ) -> ApprovalRequest {
        let asked = || self.grants.asked.iter().map(|grant| grant.pattern.as_str());
        ApprovalRequest {
            id,
            tool: self.decision.permission,
            risk: self.request.risk(),
            reason: reason.into(),
            params: self.request.params(),
            patterns: asked().map(str::to_owned).collect(),
            effect: self.request.effect(),
            always: match self.lasting {
                Lasting::Yes(what) => Some(what.to_owned()),
                Lasting::Pattern if self.decision.permission.is_about_commands() => {
                    Some(format!("{} in this project, until you revoke it", self.remembered()))
                }
                // Rules and grants are about what is touched, not about the rest of the parameters.
                Lasting::Pattern => Some(format!(
                    "every `{}` of {}, whatever else it is given, in this project, until you revoke it",
                    self.decision.permission,
                    asked().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ")
                )),
                Lasting::No => None,
            },
            replay: invocation.approving(self.decision.permission, asked()),
        }
    }

    /// What is remembered for always, in words.
    fn remembered(&self) -> String {
        let grants = &self.grants.always;
        let all: Vec<String> = grants.iter().map(|grant| format!("`{}`", grant.pattern)).collect();
        let exactly = if grants.iter().any(|grant| grant.wildcard) { "" } else { "exactly " };
        format!("{exactly}{}", all.join(", "))
    }

    /// Takes the person's answer.
    pub fn answer(self, answer: Answer) -> Result<Granted<T>, Denial> {
        let scope = match answer {
            Answer::Once => Scope::Once,
            Answer::Always if self.lasting != Lasting::No => Scope::Always,
            Answer::Run | Answer::Always => Scope::Run,
            Answer::Reject { message } => {
                return Err(Denial::Rejected { decision: self.decision, message });
            }
            Answer::Later => {
                return Err(Denial::Rejected { decision: self.decision, message: None });
            }
        };
        let mut decision = self.decision;
        decision.action = Effect::Allow;
        for ruling in decision.rulings.iter_mut().filter(|ruling| ruling.action == Effect::Ask) {
            ruling.action = Effect::Allow;
            ruling.reason = Reason::Answered(scope);
        }
        let grants = match scope {
            Scope::Once => Vec::new(),
            Scope::Run => self.grants.asked,
            Scope::Always => self.grants.always,
        };
        Ok(Granted { approved: Approved::new(self.request, decision), scope, grants })
    }

    /// Nobody can answer: the question becomes a refusal that says how to allow it.
    pub fn refuse(self, question: ApprovalRequest) -> Denial {
        Denial::Unanswered { decision: self.decision, question: Box::new(question) }
    }
}

#[cfg(test)]
mod tests;
