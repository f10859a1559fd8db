//! Text in which no decision was found: what a model wrote for the user, or an action that it did not get right.

use permission::Tool;
use serde_json::Value;

use super::payload::KINDS;
use super::{Problem, strict};
use crate::reply::without_thinking;

/// What a text is in which no decision was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// Text for the user.
    Answer(String),
    /// Data without an action: the answer, unless an action was meant.
    Perhaps(String),
    /// An action that cannot be used.
    Action,
    /// Nothing but thoughts.
    Nothing,
}

/// Keys that only actions have, wherever they stand.
const KEYS: [&str; 2] = ["payload", "plan_update"];

/// Looks at a text that has this problem.
pub(super) fn read(text: &str, problem: &Problem) -> Plain {
    if let Problem::Empty | Problem::TooLong { .. } | Problem::SeveralCalls { .. } = problem {
        return Plain::Action;
    }
    let said = without_thinking(text);
    let said = said.trim();
    let data = unfenced(said);
    let is_data = data.starts_with(['{', '[']);
    match strict::read(said) {
        _ if said.is_empty() => Plain::Nothing,
        _ if names_action(said) || (is_data && has_key(data, "action", |_| true)) => Plain::Action,
        Ok(Value::String(content)) if !content.trim().is_empty() => Plain::Answer(content),
        Ok(Value::String(_) | Value::Null) => Plain::Perhaps(said.to_owned()),
        _ if is_data => Plain::Perhaps(said.to_owned()),
        _ => Plain::Answer(said.to_owned()),
    }
}

/// What stands in a code fence that the text begins with.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.split_once('\n'));
    inner.map_or(text, |(_, inner)| inner.trim_start())
}

/// Whether data in a text names an action or a tool, or has a key that only actions have.
fn names_action(text: &str) -> bool {
    let tools = Tool::ALL.iter().map(|tool| tool.name());
    let mut names = KINDS.iter().map(|(kind, _)| *kind).chain(tools).chain(KEYS);
    text.contains('{')
        && (names.any(|name| quotes(text, name).next().is_some())
            || has_key(text, "action", |value| value.is_empty() || value.starts_with('{')))
}

/// Whether a text has this key, with a value that begins like that.
fn has_key(text: &str, key: &str, value: impl Fn(&str) -> bool) -> bool {
    let mut after = quotes(text, key).filter_map(|rest| rest.trim_start().strip_prefix(':'));
    after.any(|rest| value(rest.trim_start()))
}

/// What follows each place where a name stands in quotes.
fn quotes<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(name).filter_map(move |(place, _)| {
        let (before, after) = (&text[..place], &text[place + name.len()..]);
        let quote = before.chars().next_back().filter(|quote| matches!(quote, '"' | '\''))?;
        after.strip_prefix(quote)
    })
}

#[cfg(test)]
mod tests;
