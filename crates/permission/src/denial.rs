//! Why a request does not go ahead.

use std::borrow::Cow;

use basics::failure::{Exit, Explain};

use super::{ApprovalRequest, Decision, Effect, Layer, Mode, Reason, Rule};

/// Why a request does not go ahead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// A rule says so.
    #[error("{}", denied_by(decision))]
    Rule {
        /// With the rule.
        decision: Decision,
    },
    /// A person said so.
    #[error("`{}` was rejected{}", decision.permission, message.as_deref().map(|text| format!(": {text}")).unwrap_or_default())]
    Rejected {
        /// Why it was asked.
        decision: Decision,
        /// What the person wants the model to know.
        message: Option<String>,
    },
    /// It needs a person, and there is none.
    #[error("`{}` needs an approval and nobody is there to give it", decision.permission)]
    Unanswered {
        /// Why it was asked.
        decision: Decision,
        /// What was asked.
        question: Box<ApprovalRequest>,
    },
}

impl Denial {
    /// The decision behind it.
    pub fn decision(&self) -> &Decision {
        match self {
            Self::Rule { decision }
            | Self::Rejected { decision, .. }
            | Self::Unanswered { decision, .. } => decision,
        }
    }
}

impl Explain for Denial {
    fn exit(&self) -> Exit {
        match self {
            Self::Rule { .. } => Exit::Refused,
            Self::Rejected { .. } | Self::Unanswered { .. } => Exit::Approval,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Rule { .. } => "ToolNotAllowed",
            Self::Rejected { .. } => "ApprovalDenied",
            Self::Unanswered { .. } => "ApprovalRequired",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Rule { decision } => match denying(decision) {
                Some((Layer::Defaults, _, _)) => format!(
                    "it is off by default; `\"permissions\": {{\"{}\": \"ask\"}}` in the configuration enables it",
                    decision.permission
                ),
                Some((layer, _, _)) => format!("change the rule in {}", place(layer)),
                None if forbidding_mode(decision).is_some() => {
                    "use `--mode ask` to be asked instead".to_owned()
                }
                None => "do something else".to_owned(),
            },
            Self::Rejected { .. } => {
                "do not try the same again; do something else or ask the user".to_owned()
            }
            Self::Unanswered { question, .. } => format!("to allow it, run: {}", question.replay),
        }
        .into()
    }
}

fn denying(decision: &Decision) -> Option<(Layer, &Rule, &str)> {
    decision.rulings.iter().find_map(|ruling| match &ruling.reason {
        Reason::Rule { layer, rule } if ruling.action == Effect::Deny => {
            Some((*layer, rule.as_ref(), ruling.pattern.as_str()))
        }
        _ => None,
    })
}

fn forbidding_mode(decision: &Decision) -> Option<Mode> {
    decision.rulings.iter().find_map(|ruling| match ruling.reason {
        Reason::Mode(mode) if ruling.action == Effect::Deny => Some(mode),
        _ => None,
    })
}

fn denied_by(decision: &Decision) -> String {
    let permission = &decision.permission;
    match denying(decision) {
        Some((layer, rule, pattern)) => format!(
            "`{permission}` on `{pattern}` is denied by the rule `{}: {} = deny` of {}",
            rule.permission,
            rule.pattern,
            place(layer)
        ),
        None => match forbidding_mode(decision) {
            Some(mode) => format!("`{permission}` is denied: the mode `{mode}` does not allow it"),
            None => format!("`{permission}` is denied"),
        },
    }
}

const fn place(layer: Layer) -> &'static str {
    match layer {
        Layer::Defaults => "the defaults",
        Layer::User => "the user configuration",
        Layer::Environment => "the environment",
        Layer::Project => "the project configuration",
        Layer::Profile => "the profile",
        Layer::ProjectProfile => "the project's profile",
        Layer::RequiredApproval => "`execution.require_approval_for`",
        Layer::CommandLine => "the command line",
        Layer::Mode => "the mode",
    }
}
