//! A request to a model's server as a value, and what it is made of besides the conversation.

use std::fmt;

use serde_json::{Map, Value};

use crate::schema::{Offered, Schema, ToolDefinition, decision_schema, tool_definitions};
use crate::secret::Secret;

/// A request as it is sent; the method is always `POST`.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Where it goes.
    pub url: String,
    /// Names and values; a value may be a key.
    pub headers: Vec<(String, Secret)>,
    /// JSON.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, headers, body } = self;
        // The body is the user's text.
        f.debug_struct("HttpRequest")
            .field("url", url)
            .field("headers", headers)
            .field("body_bytes", &body.len())
            .finish()
    }
}

/// Who is asked, and with what.
#[derive(Clone, Debug)]
pub struct Options {
    /// The server, with the path that its interface begins with.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// What lets us in.
    pub key: Option<Secret>,
    /// Further headers.
    pub headers: Vec<(String, Secret)>,
    /// Tokens that one reply may have.
    pub max_tokens: Option<u64>,
    /// Further parameters, such as `temperature`.
    pub params: Map<String, Value>,
    /// What can be decided.
    pub choices: Choices,
}

/// What can be decided, in the forms that providers want.
#[derive(Clone, Debug)]
pub struct Choices {
    pub(crate) schema: Schema,
    pub(crate) tools: Vec<ToolDefinition>,
}

impl Choices {
    /// What is offered, in both forms.
    pub fn new(offered: &Offered<'_>) -> Self {
        Self { schema: decision_schema(offered), tools: tool_definitions(offered) }
    }
}

/// Parameters that a request has anyway.
pub const RESERVED_PARAMS: [&str; 11] = [
    "model",
    "messages",
    "system",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "response_format",
    "output_config",
    "max_tokens",
    "max_completion_tokens",
];

impl Options {
    /// The tokens that a reply may have, of which `left` are left.
    pub(crate) fn token_limit(&self, left: Option<u64>) -> Option<u64> {
        let limits = [self.max_tokens, left].into_iter().flatten();
        limits.min().map(|limit| limit.max(1))
    }

    /// The address of a part of the interface. Nothing but a host stands for the usual `/v1`.
    pub(crate) fn url(&self, path: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        let host = base.split_once("://").map_or(base, |(_, rest)| rest);
        let version = if host.contains('/') { "" } else { "/v1" };
        format!("{base}{version}/{path}")
    }

    /// The headers of a request: the usual ones, and the user's over them.
    pub(crate) fn headers(&self, usual: Vec<(&str, Secret)>) -> Vec<(String, Secret)> {
        let is_given =
            |name: &str| self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let usual = usual.into_iter().filter(|(name, _)| !is_given(name));
        let usual = usual.map(|(name, value)| (name.to_owned(), value));
        usual.chain(self.headers.iter().cloned()).collect()
    }
}

/// What a model that calls tools is told in addition to the rules, which ask for JSON.
pub(crate) const TOOL_RULES: &str = "
# Tool calls
Each action, and each tool above, is offered as a tool of its own name. Instead of writing the JSON object, call exactly \
one of them; a change of the plan goes into its `plan_update`.
";
