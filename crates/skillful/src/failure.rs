//! Why a command did not do its work, as it is printed.

use std::io;
use std::path::Path;

pub(crate) use basics::failure::{Exit, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A file or folder that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write `{}`: {error}", path.display());
    Failure::new(Exit::Failed, "IOError", message).hint("check the path and its permissions")
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

impl<'a> From<&'a Failure> for ErrorDocument<'a> {
    fn from(failure: &'a Failure) -> Self {
        let Failure { code, message, hint, details, .. } = failure;
        let (hint, details) = (hint.as_deref(), details.as_ref());
        Self { error: ErrorBody { code, message, hint, details } }
    }
}
