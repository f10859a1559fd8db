//! The conversation in the shape that providers want: the model and the user take turns.
//!
//! Invariant: a longer conversation begins with the same bytes as the shorter one, up to the run state at the end, so
//! that a provider's cache can be used.

use agent::context::{Prompt, Role};
use agent::observation::Picture;
use serde_json::Value;

use crate::dialect::Form;

/// What the model said, and what it was told then.
pub(crate) struct Exchange<'p> {
    /// Nothing at the beginning.
    pub(crate) model: Option<Said<'p>>,
    /// What it was told, each on its own; the run state comes last.
    pub(crate) user: Vec<&'p str>,
    /// The pictures that came with it.
    pub(crate) pictures: Vec<&'p Picture>,
}

/// What the model said.
pub(crate) enum Said<'p> {
    Text(&'p str),
    Call { id: String, name: String, arguments: Value },
}

/// The exchanges of a conversation. Where tools are offered, earlier decisions are calls of them.
pub(crate) fn exchanges<'p>(prompt: &'p Prompt<'_>, form: Form) -> Vec<Exchange<'p>> {
    let mut exchanges = vec![Exchange { model: None, user: Vec::new(), pictures: Vec::new() }];
    for message in prompt.messages {
        match (message.role, exchanges.last_mut()) {
            (Role::User, Some(last)) => {
                last.user.push(&message.text);
                last.pictures.extend(&message.picture);
            }
            (Role::Assistant, _) | (_, None) => {
                let call = if form == Form::Tools { call(&message.text) } else { None };
                let said = match call {
                    Some((name, arguments)) => {
                        Said::Call { id: format!("call_{}", exchanges.len()), name, arguments }
                    }
                    None => Said::Text(&message.text),
                };
                let model = Some(said);
                exchanges.push(Exchange { model, user: Vec::new(), pictures: Vec::new() });
            }
        }
    }
    if let Some(last) = exchanges.last_mut()
        && !prompt.state.is_empty()
    {
        last.user.push(&prompt.state);
    }
    exchanges
}

/// The call that a decision would have been.
fn call(decision: &str) -> Option<(String, Value)> {
    let mut decision: Value = serde_json::from_str(decision).ok()?;
    let mut action = decision.get_mut("action")?.take();
    let mut payload = action.get_mut("payload")?.take();
    match action["type"].as_str()? {
        "call_tool" => {
            let name = payload["tool"].as_str()?.to_owned();
            Some((name, payload.get_mut("params")?.take()))
        }
        kind => Some((kind.to_owned(), payload)),
    }
}

#[cfg(test)]
pub(crate) mod tests;
