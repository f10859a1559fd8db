//! What a provider's answer comes to, gathered as it arrives.
//!
//! Invariant: what is passed on as text while it arrives is the text of one decision, whether the model wrote it or
//! called a tool.

use permission::Tool;
use serde_json::{Map, Value};

use crate::decision::{self, MAX_REPLY_BYTES, Problem, Understood};
use crate::failure::CallError;
use crate::schema::tool_decision;

/// An answer that is being gathered.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// Whether tools were offered. Text is then held back until it is known that no tool is called.
    offers_tools: bool,
    text: String,
    calls: Vec<Call>,
    stop: Option<Stop>,
    pub(crate) tokens: Option<Tokens>,
    /// Whether the provider has said that this is all.
    pub(crate) ended: bool,
}

#[derive(Debug)]
struct Call {
    /// Where the provider counts it.
    index: u64,
    name: String,
    arguments: String,
}

/// Why a model stopped, where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was done.
    Done,
    /// It had written as much as it may.
    Length,
    /// It declines, with what it says about it.
    Declined(String),
}

/// Tokens as a provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read, all of them.
    pub input: u64,
    /// Of these, read from a cache.
    pub cached: u64,
    /// Of these, written to a cache.
    pub cache_written: u64,
    /// Written.
    pub output: u64,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answered {
    /// The decision, or what is wrong with it.
    pub decision: Result<Understood, Problem>,
    /// The text that it was read from.
    pub text: String,
    /// Whether the model called a tool.
    pub called: bool,
    /// Whether it was cut off.
    pub cut: bool,
    /// What the provider counted.
    pub tokens: Option<Tokens>,
}

impl Answer {
    pub(crate) fn new(offers_tools: bool) -> Self {
        Self { offers_tools, ..Self::default() }
    }

    pub(crate) fn add_text(&mut self, text: &str, delta: &mut dyn FnMut(&str)) {
        // One that is refused for its length need not be kept whole.
        if self.text.len() <= MAX_REPLY_BYTES && !text.is_empty() {
            self.text.push_str(text);
            if !self.offers_tools {
                delta(text);
            }
        }
    }

    /// A call with this index, by its name and the next piece of its arguments. Where no tools were offered there is
    /// nothing to call, and a reply of calls alone is an empty one.
    pub(crate) fn add_call(
        &mut self,
        index: u64,
        name: &str,
        arguments: &str,
        delta: &mut dyn FnMut(&str),
    ) {
        if !self.offers_tools {
            return;
        }
        let place = match self.calls.iter().position(|call| call.index == index) {
            Some(place) => place,
            None => {
                self.calls.push(Call { index, name: String::new(), arguments: String::new() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[place];
        let is_named_now = call.name.is_empty() && !name.is_empty();
        if is_named_now {
            call.name = name.to_owned();
        }
        let known = call.arguments.len();
        if known <= MAX_REPLY_BYTES {
            call.arguments.push_str(arguments);
        }
        // What comes before the name is shown with it.
        let shown = if is_named_now { &call.arguments[..] } else { &call.arguments[known..] };
        if place == 0 && !call.name.is_empty() {
            if is_named_now {
                delta(&wrapping(name).0);
            }
            if !shown.is_empty() {
                delta(shown);
            }
        }
    }

    /// The next piece of what a model says that declines.
    pub(crate) fn decline(&mut self, text: &str) {
        match &mut self.stop {
            Some(Stop::Declined(said)) if said.len() > 1_000 => {}
            Some(Stop::Declined(said)) => said.push_str(text),
            stop => *stop = Some(Stop::Declined(text.to_owned())),
        }
    }

    pub(crate) fn stop(&mut self, stop: Stop) {
        self.ended = true;
        // A decline comes with an ordinary end.
        if !matches!(self.stop, Some(Stop::Declined(_))) {
            self.stop = Some(stop);
        }
    }

    /// Whether it has become longer than any decision.
    pub(crate) fn is_too_long(&self) -> bool {
        self.text.len() > MAX_REPLY_BYTES
            || self.calls.iter().any(|call| call.arguments.len() > MAX_REPLY_BYTES)
    }

    pub(crate) fn finish(mut self, delta: &mut dyn FnMut(&str)) -> Result<Answered, CallError> {
        if let Some(Stop::Declined(message)) = self.stop {
            return Err(CallError::Declined { message });
        }
        let cut = self.stop == Some(Stop::Length);
        let tokens = self.tokens;
        let called = !self.calls.is_empty();
        let (text, decision) = match self.calls.len() {
            0 => {
                if self.offers_tools && !self.text.is_empty() {
                    delta(&self.text);
                }
                let decision = read_text(&self.text);
                (self.text, decision)
            }
            1 => {
                let Call { name, arguments, .. } = self.calls.remove(0);
                let (before, after) = wrapping(&name);
                delta(after);
                let decision = tool_decision(&name, &arguments);
                (format!("{before}{arguments}{after}"), decision)
            }
            calls => (self.text, Err(Problem::SeveralCalls { calls })),
        };
        Ok(Answered { decision, text, called, cut, tokens })
    }
}

/// What stands around the arguments of a call in the text of a decision.
fn wrapping(name: &str) -> (String, &'static str) {
    let quoted = Value::from(name);
    match Tool::from_name(name) {
        None | Some(Tool::RunScript) => {
            (format!(r#"{{"action":{{"type":{quoted},"payload":"#), "}}")
        }
        Some(_) => {
            let before =
                format!(r#"{{"action":{{"type":"call_tool","payload":{{"tool":{quoted},"params":"#);
            (before, "}}}")
        }
    }
}

/// A decision in a text. Models whose server does not know their tool calls write them out.
fn read_text(text: &str) -> Result<Understood, Problem> {
    let object = decision::object(text)?;
    match written_call(&object) {
        Some((name, arguments)) => tool_decision(name, &arguments),
        None => decision::from_object(object),
    }
}

/// `{"name": …, "arguments": {…}}`, as models were taught to write calls.
fn written_call(object: &Map<String, Value>) -> Option<(&str, String)> {
    if object.contains_key("action") || object.contains_key("type") {
        return None;
    }
    let name = object.get("name")?.as_str()?;
    match object.get("arguments").or_else(|| object.get("parameters"))? {
        Value::String(arguments) => Some((name, arguments.clone())),
        arguments @ Value::Object(_) => Some((name, arguments.to_string())),
        _ => None,
    }
}
