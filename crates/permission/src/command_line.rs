//! The command line's layer: `--approve TOOL[:PATTERN]`, `--deny TOOL[:PATTERN]` and `--yes`.

use std::borrow::Cow;

use basics::failure::{Exit, Explain};

use super::rule::known_permission;
use super::{Effect, Pattern, Risk, Rule, UnknownPermission};

/// What the command line says about permissions, for this run only.
#[derive(Clone, Debug, Default)]
pub struct CommandLine {
    approvals: Vec<Rule>,
    denials: Vec<Rule>,
    answers_up_to: Option<Risk>,
}

/// A `TOOL[:PATTERN]` that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// The part before the colon is no permission.
    #[error("cannot use `{argument}`")]
    Permission {
        /// The whole argument.
        argument: String,
        /// What is wrong with it.
        source: UnknownPermission,
    },
    /// There is a colon with nothing after it.
    #[error("`{argument}` has no pattern after the colon")]
    EmptyPattern {
        /// The whole argument.
        argument: String,
    },
}

impl Explain for InvalidRule {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn code(&self) -> &'static str {
        "Usage"
    }

    fn hint(&self) -> Cow<'static, str> {
        "write `TOOL` or `TOOL:PATTERN`, for example `run_script:pdf-*/scripts/*.py`".into()
    }
}

impl CommandLine {
    /// Adds one `--approve TOOL[:PATTERN]`.
    pub fn approve(mut self, argument: &str) -> Result<Self, InvalidRule> {
        self.approvals.push(rule(argument, Effect::Allow)?);
        Ok(self)
    }

    /// Adds one `--deny TOOL[:PATTERN]`; it wins over every `--approve`, wherever it stands.
    pub fn deny(mut self, argument: &str) -> Result<Self, InvalidRule> {
        self.denials.push(rule(argument, Effect::Deny)?);
        Ok(self)
    }

    /// Adds `--yes`: questions up to medium risk are answered with yes. It answers questions, so
    /// what is denied stays denied.
    pub fn yes(mut self) -> Self {
        self.answers_up_to = Some(Risk::Medium);
        self
    }

    pub(super) fn answers(&self, risk: Risk) -> bool {
        self.answers_up_to.is_some_and(|limit| risk <= limit)
    }

    pub(super) fn rules(&self) -> Vec<Rule> {
        self.approvals.iter().chain(&self.denials).cloned().collect()
    }
}

fn rule(argument: &str, action: Effect) -> Result<Rule, InvalidRule> {
    let (permission, pattern) = argument.split_once(':').unwrap_or((argument, "*"));
    let permission = known_permission(permission)
        .map_err(|source| InvalidRule::Permission { argument: argument.to_owned(), source })?;
    if pattern.is_empty() {
        return Err(InvalidRule::EmptyPattern { argument: argument.to_owned() });
    }
    Ok(Rule { permission, pattern: Pattern::new(pattern), action })
}

#[cfg(test)]
mod tests;
