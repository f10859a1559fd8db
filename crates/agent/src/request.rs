//! What an action would do, and what the rules say to it.

use basics::failure::{Explain, one_line};
use basics::sha256::Sha256;
use permission::{
    ApprovalRequest, Decision as PermissionDecision, Pattern, Permission, Risk, SkillHash,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;

/// What an action would do, found out without doing it: what permissions are decided on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The action.
    pub action: Action,
    /// The permission it needs.
    pub permission: Permission,
    /// What it touches.
    pub patterns: Vec<String>,
    /// Other names of what it touches, under which a rule may deny it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<String>,
    /// What an answer for always would be remembered as, where that is not the patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub always: Vec<String>,
    /// Why nobody but a person can say what it would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear: Option<String>,
    /// Those of what it touches that can run other programs, which no rule sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hides: Vec<String>,
    /// Whether it happens behind every wall that there is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contained: bool,
    /// How much it can harm.
    pub risk: Risk,
    /// What will happen, as a phrase that begins with a verb.
    pub effect: String,
    /// Its parameters, for the person who is asked.
    pub params: Value,
    /// The file that is run, as it was looked at: no other is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Sha256>,
    /// The content of the skill it acts for; approvals end when that changes.
    pub skill_hash: Option<SkillHash>,
    /// Whether it changes nothing, so that it may be repeated after an interruption.
    pub read_only: bool,
}

impl Request {
    /// Something that touches nothing, changes nothing and harms nobody, until more is said of it.
    pub fn new(action: Action, permission: Permission) -> Self {
        Self {
            action,
            permission,
            patterns: Vec::new(),
            shadows: Vec::new(),
            always: Vec::new(),
            unclear: None,
            hides: Vec::new(),
            contained: false,
            risk: Risk::Low,
            effect: String::new(),
            params: Value::Null,
            file: None,
            skill_hash: None,
            read_only: true,
        }
    }
}

impl permission::Request for Request {
    fn permission(&self) -> Permission {
        self.permission
    }

    fn patterns(&self) -> Vec<String> {
        self.patterns.clone()
    }

    fn risk(&self) -> Risk {
        self.risk
    }

    fn effect(&self) -> String {
        self.effect.clone()
    }

    fn params(&self) -> Value {
        self.params.clone()
    }

    fn shadows(&self) -> Vec<String> {
        self.shadows.clone()
    }

    fn unclear(&self) -> Option<String> {
        self.unclear.clone()
    }

    fn hides(&self) -> Vec<String> {
        self.hides.clone()
    }

    fn is_contained(&self) -> bool {
        self.contained
    }

    fn always(&self) -> Vec<Pattern> {
        match self.always.is_empty() {
            true => self.patterns.iter().map(|pattern| Pattern::literal(pattern)).collect(),
            false => self.always.iter().map(|pattern| Pattern::new(pattern.as_str())).collect(),
        }
    }
}

/// Why something is not done, in a form the model can act on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refusal {
    /// A stable name, such as `PathTraversalBlocked`.
    pub code: String,
    /// What could not be done, and why.
    pub message: String,
    /// What to do instead.
    pub hint: String,
}

impl Refusal {
    /// A refusal with its three parts.
    pub fn new(
        code: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into() }
    }
}

impl<E: Explain> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self::new(error.code(), one_line(&error), error.hint())
    }
}

/// What is known of an action before it is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Prepared {
    /// It cannot be done.
    Refused {
        /// Why.
        refusal: Refusal,
    },
    /// It may not be done.
    Denied {
        /// What it would do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
        /// For the model.
        refusal: Refusal,
    },
    /// A person must answer first.
    Ask {
        /// What it would do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
        /// What the person is asked.
        question: ApprovalRequest,
    },
    /// It may be done.
    Allowed {
        /// What it will do.
        request: Request,
        /// Which rules decided.
        decision: PermissionDecision,
    },
}

impl Prepared {
    /// What the rules say, where they were asked.
    pub fn decision(&self) -> Option<&PermissionDecision> {
        match self {
            Self::Refused { .. } => None,
            Self::Denied { decision, .. }
            | Self::Ask { decision, .. }
            | Self::Allowed { decision, .. } => Some(decision),
        }
    }

    /// What the action would do, where that could be found out.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Refused { .. } => None,
            Self::Denied { request, .. }
            | Self::Ask { request, .. }
            | Self::Allowed { request, .. } => Some(request),
        }
    }
}
