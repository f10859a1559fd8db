//! From a model's text to a decision: the whole text as JSON, else the one JSON object in a noisy text, else a problem
//! in words that the model can act on. `settle` then knows plain text, which is an answer, from a decision that failed.
//!
//! Invariant: a text becomes the one decision that it says, or a [`Problem`]; nothing in it that could change what is
//! done is passed over.
//!
//! # What is accepted
//!
//! `{"action": {"type": T, "payload": {…}}, "plan_update": …, "diagnostics": …}`, and two spellings that models fall
//! into and that can mean nothing else: the `action` wrapper left out (`{"type": T, "payload": {…}}`), and the payload's
//! keys beside `type` (`{"action": {"type": "final_answer", "content": "…"}}`). A skill may be its bare name, and `null`
//! stands for a key that may be left out, also in the `params` of a tool.
//!
//! Other keys at the top are ignored: they are thoughts. In an action and its payload they are refused, except for the
//! usual comments such as `reason`: a script must not run without its arguments because they were called `arguments`.
//!
//! A `plan_update` that makes no sense does not undo a good action. It is left out, and [`Understood::plan_problem`] says
//! why.
//!
//! ```
//! use agent::action::Action;
//!
//! let reply = "<think>easy</think>\n```json\n{\"action\": {\"type\": \"final_answer\", \"payload\": {\"content\": \"4\"}}}\n```";
//! let understood = skillful_model::decision::parse(reply)?;
//! assert_eq!(understood.decision.action, Action::FinalAnswer { content: "4".to_owned() });
//!
//! let problem = skillful_model::decision::parse(r#"{"type": "run_script", "payload": {"skill": "pdf", "relative_path": 7}}"#);
//! assert_eq!(
//!     problem.map_err(|problem| problem.to_string()),
//!     Err("`payload.relative_path` is a number, it must be a string".to_owned())
//! );
//! # Ok::<(), skillful_model::decision::Problem>(())
//! ```

mod payload;
mod plain;
mod problem;
mod strict;

use agent::action::{Action, Decision};
use agent::budget::Usage;
use agent::context::Prompt;
use agent::freeform::Freeform;
use agent::plan::PlanUpdate;
use agent::reply::{Raw, Reply};
use serde::Deserialize;
use serde_json::{Map, Value};

use plain::Plain;
pub use problem::Problem;

use crate::reply::{ObjectError, outermost_object};

/// The longest reply that is read.
pub const MAX_REPLY_BYTES: usize = 1_000_000;

/// What a reply comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood {
    /// The decision.
    pub decision: Decision,
    /// Why its change of the plan was left out.
    pub plan_problem: Option<String>,
}

impl Understood {
    /// The same for the run.
    pub fn into_reply(self, usage: Usage, raw: Raw) -> Reply {
        let Self { decision, plan_problem } = self;
        Reply::Decided {
            decision,
            usage,
            raw,
            plan_problem,
            again: false,
            unable: false,
            unstructured: false,
        }
    }
}

/// Reads a model's whole text.
pub fn parse(text: &str) -> Result<Understood, Problem> {
    from_object(object(text)?)
}

/// Reads a decision from a JSON object that stands alone.
pub fn from_object(mut object: Map<String, Value>) -> Result<Understood, Problem> {
    let update = object.remove("plan_update").unwrap_or_default();
    let diagnostics = object.remove("diagnostics").filter(|said| !said.is_null());
    let diagnostics = diagnostics.map(|said| Freeform::of(&said));
    let action = payload::action(object)?;
    let (plan_update, plan_problem) = match Option::<PlanUpdate>::deserialize(update) {
        Ok(plan_update) => (plan_update, None),
        Err(error) => (None, Some(error.to_string())),
    };
    Ok(Understood { decision: Decision { action, plan_update, diagnostics }, plan_problem })
}

/// What a model's whole text comes to, for the run.
pub fn reply(text: &str, usage: Usage) -> Reply {
    settle(parse(text), text, usage)
}

/// What was read of a whole text, for the run. Text without an action is the answer; where it may have been meant as
/// an action, or lacks its end, it is the answer only if the model does no better when it is asked again.
pub(crate) fn settle(read: Result<Understood, Problem>, text: &str, usage: Usage) -> Reply {
    let raw = Raw::of(text);
    let problem = match read {
        Ok(understood) => return understood.into_reply(usage, raw),
        Err(problem) => problem,
    };
    let (problem, answer) = match plain::read(text, &problem) {
        Plain::Answer(content) if problem != Problem::CutOff => {
            let action = Action::FinalAnswer { content };
            let decision = Decision { action, plan_update: None, diagnostics: None };
            return Reply::Decided {
                decision,
                usage,
                raw,
                plan_problem: None,
                again: false,
                unable: false,
                unstructured: true,
            };
        }
        Plain::Answer(content) | Plain::Perhaps(content) => (problem, Some(content)),
        Plain::Nothing => (Problem::Empty, None),
        Plain::Action => (problem, None),
    };
    let summary = Some(problem.for_user().to_owned());
    Reply::Invalid { problem: problem.for_model(), usage, raw, summary, answer }
}

/// The usage of a call for which a provider gave none: four characters a token.
pub fn estimated_usage(prompt: &Prompt<'_>, text: &str) -> Usage {
    let tokens = |chars: usize| chars.div_ceil(4) as u64;
    Usage {
        input_tokens: tokens(prompt.chars),
        output_tokens: tokens(text.chars().count()),
        estimated: true,
        ..Usage::default()
    }
}

/// The type of action with this name.
pub(crate) fn kind_named(name: &str) -> Option<&'static str> {
    payload::KINDS.iter().map(|(kind, _)| *kind).find(|kind| *kind == name)
}

/// The text of a decision, as a model would write it: the type first, so that it can be shown early.
pub(crate) fn text_of(decision: &Decision) -> String {
    serde_json::to_string(decision).expect("every decision is JSON")
}

/// The one object that a text is or holds.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Problem> {
    if text.len() > MAX_REPLY_BYTES {
        return Err(Problem::TooLong { bytes: text.len() });
    }
    if text.trim().is_empty() {
        return Err(Problem::Empty);
    }
    let whole = strict::read(text);
    if let Ok(Value::Object(object)) = whole {
        return Ok(object);
    }
    let inner = match (outermost_object(text), whole) {
        (Ok(inner), _) => inner,
        (Err(ObjectError::Missing), Ok(other)) => {
            return Err(Problem::NotAnObject { found: problem::kind(&other) });
        }
        // Nearly JSON, such as single quotes: what is wrong with it says more than that there is none.
        (Err(ObjectError::Missing), Err(broken)) if text.trim_start().starts_with('{') => {
            return Err(broken);
        }
        (Err(error), _) => return Err(error.into()),
    };
    match strict::read(inner)? {
        Value::Object(object) => Ok(object),
        other => Err(Problem::NotAnObject { found: problem::kind(&other) }),
    }
}

#[cfg(test)]
pub(crate) mod tests;
