//! Why something was not done, in the form that a person sees: what went wrong, under a stable name, and what to do next.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

use serde_json::Value;

#[cfg(test)]
mod tests;

/// What kind of failure it is; the number is how the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The operation failed, or a check did.
    Failed = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// An approval is needed or was denied.
    Approval = 3,
    /// Integrity, signature, trust or policy forbids it.
    Refused = 4,
}

/// An error that says what to do about it.
pub trait Explain: Error {
    /// What kind of failure it is.
    fn exit(&self) -> Exit {
        Exit::Failed
    }

    /// A stable name, such as `SkillNotFound`.
    fn code(&self) -> &'static str;

    /// What to do next.
    fn hint(&self) -> Cow<'static, str>;

    /// More for programs, where there is more to say.
    fn details(&self) -> Option<Value> {
        None
    }
}

/// Any failure, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What kind it is.
    pub exit: Exit,
    /// A stable name.
    pub code: &'static str,
    /// One line for people.
    pub message: String,
    /// What can be done about it.
    pub hint: Option<String>,
    /// More, where there is more to say.
    pub details: Option<Value>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Self {
        Self { exit, code, message: message.into(), hint: None, details: None }
    }

    /// The same, with what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with more for programs.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// An error that explains itself.
    pub fn of(error: &impl Explain) -> Self {
        let failure = Self::from_error(error.exit(), error.code(), error);
        Self { hint: Some(error.hint().into_owned()), details: error.details(), ..failure }
    }

    /// An error and everything that caused it, on one line.
    pub fn from_error(exit: Exit, code: &'static str, error: &dyn Error) -> Self {
        Self::new(exit, code, one_line(error))
    }
}

/// An error and everything that caused it, on one line.
pub fn one_line(error: &dyn Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    message
}

impl<E: Explain> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

impl From<std::io::Error> for Failure {
    /// What the system said; where it is about a file of this program's own, what that file is about.
    fn from(error: std::io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Self>()) {
            Some(explained) => explained.clone(),
            None => Self::from_error(Exit::Failed, "IOError", &error)
                .hint("check that the output still exists and has space"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl Error for Failure {}
