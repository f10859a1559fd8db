//! What the user asked for.

use agent::action::SkillRef;
use basics::failure::{Exit, Failure};
use permission::argument;
use skill::index::{Entry, Index};
use skill::load::check_trusted;
use skill::trust::Waiting;

use crate::open::Runtime;

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// In their words.
    pub request: String,
    /// The skill they chose.
    pub skill: Option<SkillRef>,
}

impl Wanted {
    /// The request, and the skill that a first word `/NAME` chooses.
    pub fn read(runtime: &Runtime, index: &Index, request: &str) -> Result<Self, Failure> {
        let command = request.strip_prefix('/').map(|rest| {
            let (name, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            (name, rest.trim())
        });
        match command {
            // A path is not a command.
            Some((name, rest)) if !name.is_empty() && !name.contains(['/', '.']) => {
                Self::with_skill(runtime, index, rest, name)
            }
            _ => Ok(Self { request: request.to_owned(), skill: None }),
        }
    }

    /// The request, for the skill called `name`. Before a model is asked: a person's choice is not for the model to
    /// make up for.
    pub fn with_skill(
        runtime: &Runtime,
        index: &Index,
        request: &str,
        name: &str,
    ) -> Result<Self, Failure> {
        let entry = runtime.resolve(index, name)?;
        if let Some(waiting) = entry.waiting {
            return Err(waits(&entry.name, waiting));
        }
        if !entry.controls.user_invocable {
            return Err(not_invocable(entry));
        }
        check_trusted(entry)?;
        let skill = SkillRef { name: entry.name.clone(), source: Some(entry.source) };
        Ok(Self { request: request.to_owned(), skill: Some(skill) })
    }
}

/// A project's skill that the user has not let in.
pub fn waits(name: &str, waiting: Waiting) -> Failure {
    let code = match waiting {
        Waiting::Changed => "SkillChanged",
        Waiting::New | Waiting::Earlier => "SkillUntrusted",
    };
    let message = format!("the skill `{name}` comes from a project: {}", waiting.reason());
    let name = argument(name);
    Failure::new(Exit::Refused, code, message).hint(format!(
        "look at it (`skillful inspect {name}`), then run `skillful trust project {name}`"
    ))
}

/// A skill that its author does not offer to users.
fn not_invocable(entry: &Entry) -> Failure {
    let message =
        format!("you cannot choose the skill `{}`: it says `user-invocable: false`", entry.name);
    let hint = match entry.controls.disable_model_invocation {
        true => {
            "nobody can choose this skill; change its `user-invocable` or `disable-model-invocation`"
        }
        false => "describe your task without the skill's name; the model can choose it",
    };
    Failure::new(Exit::Refused, "NotUserInvocable", message).hint(hint)
}
