//! Anthropic's Messages.
//!
//! Two marks tell its cache what stays the same: the end of the rules, which stand behind the tools, and the end of the
//! conversation so far, before the run state.
//!
//! Invariant: nothing here sends anything.

mod read;

use agent::context::Prompt;
use agent::observation::Picture;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::conversation::{Exchange, Said, exchanges};
use crate::decoder::{Decoder, Wording};
use crate::dialect::{Dialect, Form};
use crate::request::{HttpRequest, Options, TOOL_RULES};
use crate::schema::{Schema, ToolDefinition};
use crate::secret::Secret;

/// Where Anthropic is.
pub const BASE_URL: &str = "https://api.anthropic.com";

/// A limit must be given; this one leaves room for a long answer.
const MAX_TOKENS: u64 = 8_192;

/// The request for the next decision.
pub fn request(prompt: &Prompt<'_>, options: &Options, dialect: Dialect) -> HttpRequest {
    let offers_tools = dialect.form == Form::Tools;
    let rules = if offers_tools { TOOL_RULES } else { "" };
    let system =
        json!([marked(json!({"type": "text", "text": format!("{}{rules}", prompt.system)}))]);
    let limit = options.token_limit(prompt.limits.output_tokens).unwrap_or(MAX_TOKENS);
    let body = Body {
        model: &options.model,
        max_tokens: limit.min(options.max_tokens.unwrap_or(MAX_TOKENS)),
        tools: offers_tools.then(|| options.choices.tools.iter().map(Tool::new).collect()),
        tool_choice: offers_tools
            .then(|| json!({"type": "any", "disable_parallel_tool_use": true})),
        output_config: (dialect.form == Form::Schema).then_some(OutputConfig {
            format: Format { r#type: "json_schema", schema: &options.choices.schema },
        }),
        system,
        messages: messages(prompt, dialect.form),
        stream: dialect.stream,
        params: &options.params,
    };
    let mut headers = vec![("anthropic-version", Secret::new("2023-06-01"))];
    headers.extend(options.key.iter().map(|key| ("x-api-key", key.clone())));
    HttpRequest {
        url: options.url("messages"),
        headers: options.headers(headers),
        body: serde_json::to_vec(&body).expect("a request is JSON"),
    }
}

/// Reads the answer.
pub fn decoder(dialect: Dialect) -> Decoder {
    let wording = Wording { event: read::event, document: read::document };
    Decoder::new(wording, dialect.form == Form::Tools)
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Tool<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    system: Value,
    messages: Vec<Value>,
    stream: bool,
    #[serde(flatten)]
    params: &'a Map<String, Value>,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Schema,
}

impl<'a> Tool<'a> {
    fn new(tool: &'a ToolDefinition) -> Self {
        let ToolDefinition { name, description, parameters } = tool;
        Self { name, description, input_schema: parameters }
    }
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a Schema,
}

fn messages(prompt: &Prompt<'_>, form: Form) -> Vec<Value> {
    let mut exchanges = exchanges(prompt, form);
    // The run state changes with every request and is the last that is told.
    let state =
        exchanges.last_mut().and_then(|last| last.user.pop_if(|_| !prompt.state.is_empty()));
    let mut messages = Vec::new();
    for Exchange { model, user, pictures } in exchanges {
        let mut told = user.into_iter();
        let mut blocks = Vec::new();
        match model {
            None => {}
            Some(Said::Text(said)) => {
                messages.push(json!({"role": "assistant", "content": [text(said)]}));
            }
            Some(Said::Call { id, name, arguments }) => {
                let call = json!({"type": "tool_use", "id": id, "name": name, "input": arguments});
                messages.push(json!({"role": "assistant", "content": [call]}));
                let result = told.next().unwrap_or_default();
                blocks.push(json!({"type": "tool_result", "tool_use_id": id, "content": result}));
            }
        }
        blocks.extend(told.filter(|told| !told.trim().is_empty()).map(text));
        blocks.extend(pictures.into_iter().map(|Picture { media_type, base64 }| {
            let source = json!({"type": "base64", "media_type": media_type, "data": &**base64});
            json!({"type": "image", "source": source})
        }));
        messages.push(json!({"role": "user", "content": blocks}));
    }
    if let Some(blocks) = messages.last_mut().and_then(|last| last["content"].as_array_mut()) {
        if let Some(last) = blocks.last_mut() {
            *last = marked(last.take());
        }
        blocks.extend(state.map(text));
    }
    messages
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A block up to which everything can be taken from the cache next time.
fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

#[cfg(test)]
mod tests;
