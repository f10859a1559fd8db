//! How a server wants to be asked: what it understands is found out by asking, and remembered.
//!
//! Chat Completions is spoken by many servers, and hardly two accept the same requests. A request begins with what is
//! best and goes down one step for every refusal; the core sees one protocol whatever the step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a model is to say what it decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// By calling tools of the provider's own tool calling.
    Tools,
    /// As JSON, held to a schema where the server can do that.
    Json,
    /// With tools where the server understands them, else as JSON.
    #[default]
    Auto,
}

/// How a decision is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Each action is a tool.
    Tools,
    /// The whole reply is held to a schema.
    Schema,
    /// The rules ask for JSON, and nothing enforces it.
    Text,
}

/// What a server is known or hoped to understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// How a decision is asked for.
    pub form: Form,
    /// Whether the reply comes in pieces.
    pub stream: bool,
    /// Whether a reply in pieces can be asked for its usage.
    pub usage_in_stream: bool,
    /// What the limit of a reply is called.
    pub token_limit: TokenLimit,
}

/// What the limit of a reply is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenLimit {
    /// By nearly everyone.
    MaxTokens,
    /// By newer models of OpenAI.
    MaxCompletionTokens,
    /// Better not at all: the server's own limit is lower.
    Unsaid,
}

impl Dialect {
    /// What to try first.
    pub fn first(protocol: Protocol, stream: bool, token_limit: TokenLimit) -> Self {
        let form = if protocol == Protocol::Json { Form::Schema } else { Form::Tools };
        Self { form, stream, usage_in_stream: true, token_limit }
    }

    /// What to try after a request was refused; nothing where only the request itself can be at fault.
    pub fn after_refusal(self, protocol: Protocol, message: &str) -> Option<Self> {
        let says = |word: &str| message.contains(word);
        if self.stream && self.usage_in_stream && says("stream_options") {
            return Some(Self { usage_in_stream: false, ..self });
        }
        if let Some(token_limit) = self.token_limit.after(message) {
            return Some(Self { token_limit, ..self });
        }
        if self.stream && (says("stream") || says("Stream")) {
            return Some(Self { stream: false, ..self });
        }
        self.lower(protocol)
    }

    /// What to try after tools were offered and text came back: such a server may hold a reply to a schema instead.
    pub fn after_text(self, protocol: Protocol) -> Option<Self> {
        match self.form {
            Form::Tools => self.lower(protocol),
            Form::Schema | Form::Text => None,
        }
    }

    fn lower(self, protocol: Protocol) -> Option<Self> {
        match (self.form, protocol) {
            (Form::Tools, Protocol::Auto) => Some(Self { form: Form::Schema, ..self }),
            (Form::Schema, Protocol::Auto | Protocol::Json) => {
                Some(Self { form: Form::Text, ..self })
            }
            _ => None,
        }
    }
}

impl TokenLimit {
    /// Its name in a request.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::MaxTokens => Some("max_tokens"),
            Self::MaxCompletionTokens => Some("max_completion_tokens"),
            Self::Unsaid => None,
        }
    }

    /// What to call it where the message is about its name.
    fn after(self, message: &str) -> Option<Self> {
        self.name().filter(|name| message.contains(name))?;
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if says(&["too large", "too high", "maximum context length"]) {
            return Some(Self::Unsaid);
        }
        let is_unknown = ["nsupported", "not supported", "nrecognized", "nknown", "xtra inputs"];
        says(&is_unknown).then_some(match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens | Self::Unsaid => Self::MaxTokens,
        })
    }
}

#[cfg(test)]
mod tests;
