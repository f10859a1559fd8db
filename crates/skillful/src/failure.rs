//! Why a command did not do its work, in the form a user sees.
//!
//! Every command returns this type, so codes, hints and exit codes are decided in one place.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The operation failed, or a check did.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// An approval is needed or was denied.
    Approval = 3,
    /// Integrity, signature, trust or policy forbids it.
    Refused = 4,
}

/// What went wrong, and what to do next.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) details: Option<Value>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), hint: None, details: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// An error and everything that caused it, on one line.
    pub(crate) fn from_error(
        exit: Exit,
        code: &'static str,
        error: &dyn std::error::Error,
    ) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self::new(exit, code, message)
    }

    /// A file or folder that cannot be written.
    pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Self {
        let message = format!("cannot write `{}`: {error}", path.display());
        Self::new(Exit::Failed, "IOError", message).hint("check the path and its permissions")
    }

    pub(crate) fn to_json(&self) -> ErrorDocument<'_> {
        let Self { code, message, hint, details, .. } = self;
        let (hint, details) = (hint.as_deref(), details.as_ref());
        ErrorDocument { error: ErrorBody { code, message, hint, details } }
    }
}

/// What `--json` prints where a command fails.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorDocument<'a> {
    error: ErrorBody<'a>,
}

/// What went wrong, and what to do next.
#[derive(Debug, Serialize, JsonSchema)]
struct ErrorBody<'a> {
    /// A stable name, such as `SkillNotFound`.
    code: &'a str,
    /// One line for people.
    message: &'a str,
    /// What can be done about it.
    hint: Option<&'a str>,
    /// More, where there is more to say.
    details: Option<&'a Value>,
}

impl From<&state::StateError> for Failure {
    fn from(error: &state::StateError) -> Self {
        let (exit, code) = match error.is_unsafe() {
            true => (Exit::Refused, "StateUnsafe"),
            false => (Exit::Failed, "IOError"),
        };
        Self::from_error(exit, code, error).hint(error.hint())
    }
}

impl From<state::StateError> for Failure {
    fn from(error: state::StateError) -> Self {
        Self::from(&error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<state::StateError>());
        if let Some(error) = inner {
            return Self::from(error);
        }
        Self::from_error(Exit::Failed, "IOError", &error)
            .hint("check that the output still exists and has space")
    }
}

impl From<skill::load::LoadError> for Failure {
    fn from(error: skill::load::LoadError) -> Self {
        use skill::load::LoadError::{Changed, Modified};
        let refused = matches!(error, Modified { .. } | Changed { .. });
        let exit = if refused { Exit::Refused } else { Exit::Failed };
        Self::from_error(exit, error.code(), &error).hint(error.hint())
    }
}

impl From<skill::trust::TrustError> for Failure {
    fn from(error: skill::trust::TrustError) -> Self {
        let damaged = matches!(error, skill::trust::TrustError::Damaged { .. });
        let exit = if damaged { Exit::Refused } else { Exit::Failed };
        Self::from_error(exit, "TrustStoreError", &error).hint(error.hint())
    }
}
