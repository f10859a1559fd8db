//! What the model decided, word for word.
//!
//! A run and its record have a decision without its secrets. What is done is what was meant: a file that was
//! written with what stands for a secret would be damaged, and so would an argument.

use agent::action::Action;
use agent::question::{About, Question};
use agent::request::Refusal;

use crate::journal::is_redacted;

/// What to do for an action of the run, for which the model `decided`, unless that was in an earlier process.
///
/// What a guard looks at is as the guard left it; the content is the model's.
pub(super) fn restore(action: &Action, decided: Option<&Action>) -> Result<Action, Refusal> {
    let Some(decided) = decided else { return complete(action).map(|()| action.clone()) };
    let mut whole = action.clone();
    match (&mut whole, decided) {
        (Action::CallTool { params, .. }, Action::CallTool { params: own, .. }) => {
            params.clone_from(own);
        }
        (Action::SearchSkills { query, .. }, Action::SearchSkills { query: own, .. }) => {
            query.clone_from(own);
        }
        (
            Action::RunScript { args, stdin, .. },
            Action::RunScript { args: own_args, stdin: own_stdin, .. },
        ) => {
            args.clone_from(own_args);
            stdin.clone_from(own_stdin);
        }
        (Action::ReadObservation { pattern, .. }, Action::ReadObservation { pattern: own, .. }) => {
            pattern.clone_from(own)
        }
        _ => {}
    }
    Ok(whole)
}

/// What a person is asked: the words of the model, where it is the model that asks.
pub(super) fn restore_question(noted: &Question, decided: Option<&Action>) -> Question {
    match (noted.about, decided) {
        (About::Task, Some(Action::AskUser { question, options, .. })) => {
            let (question, options) = (question.clone(), options.clone());
            Question { question, options, ..noted.clone() }
        }
        _ => noted.clone(),
    }
}

/// Refuses an action from the record that is not all there.
fn complete(action: &Action) -> Result<(), Refusal> {
    let words = serde_json::to_string(action).unwrap_or_default();
    if is_redacted(&words) { Err(incomplete()) } else { Ok(()) }
}

fn incomplete() -> Refusal {
    Refusal::new(
        "Redacted",
        "not done: it was interrupted, and the record has this action without its secrets",
        "decide it again, as a whole",
    )
}
