//! What the model decided, word for word.
//!
//! A run and its record have a decision without its secrets. What is done is what was meant: a file that was
//! written with what stands for a secret would be damaged, and so would an argument.

use crate::action::Action;
use crate::journal::is_redacted;
use crate::step::Refusal;

/// What to do for an action of the run, for which the model `decided`, unless that was in an earlier process.
pub(super) fn meant(action: &Action, decided: Option<&Action>) -> Result<Action, Refusal> {
    match decided {
        Some(decided) if is_same(action, decided) => Ok(decided.clone()),
        Some(_) => Ok(action.clone()),
        None => complete(action).map(|()| action.clone()),
    }
}

/// Refuses an action from the record that is not all there.
pub(super) fn complete(action: &Action) -> Result<(), Refusal> {
    let words = serde_json::to_string(action).unwrap_or_default();
    if !is_redacted(&words) {
        return Ok(());
    }
    Err(Refusal::new(
        "Redacted",
        "not done: the program ended before, and the record has this action without its secrets",
        "decide it again, as a whole",
    ))
}

/// Whether they differ at most in what no guard looks at.
fn is_same(action: &Action, decided: &Action) -> bool {
    match (action, decided) {
        (Action::CallTool { tool, .. }, Action::CallTool { tool: meant, .. }) => tool == meant,
        (Action::SearchSkills { .. }, Action::SearchSkills { .. }) => true,
        (
            Action::RunScript { skill, relative_path, .. },
            Action::RunScript { skill: other, relative_path: path, .. },
        ) => (skill, relative_path) == (other, path),
        _ => false,
    }
}
