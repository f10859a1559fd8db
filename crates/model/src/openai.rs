//! Chat Completions, as OpenAI, llama.cpp, vLLM, Ollama, LM Studio and many gateways speak it.
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

/// Where OpenAI is.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// The request for the next decision.
pub fn request(prompt: &Prompt<'_>, options: &Options, dialect: Dialect) -> HttpRequest {
    let mut params = options.params.clone();
    let limit = options.token_limit(prompt.limits.output_tokens);
    if let (Some(name), Some(limit)) = (dialect.token_limit.name(), limit) {
        params.insert(name.to_owned(), limit.into());
    }
    let is_streamed = dialect.stream;
    let offers_tools = dialect.form == Form::Tools;
    let body = Body {
        model: &options.model,
        messages: messages(prompt, dialect.form),
        stream: is_streamed,
        stream_options: (is_streamed && dialect.usage_in_stream)
            .then(|| json!({"include_usage": true})),
        tools: offers_tools.then(|| options.choices.tools.iter().map(Function::new).collect()),
        tool_choice: offers_tools.then_some("required"),
        response_format: (dialect.form == Form::Schema)
            .then(|| ResponseFormat::new(&options.choices.schema)),
        params,
    };
    let authorization = options.key.iter();
    let authorization =
        authorization.map(|key| ("authorization", Secret::new(format!("Bearer {}", key.expose()))));
    HttpRequest {
        url: options.url("chat/completions"),
        headers: options.headers(authorization.collect()),
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
    messages: Vec<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Function<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    params: Map<String, Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    r#type: &'static str,
    function: &'a ToolDefinition,
}

impl<'a> Function<'a> {
    fn new(function: &'a ToolDefinition) -> Self {
        Self { r#type: "function", function }
    }
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Schema,
}

impl<'a> ResponseFormat<'a> {
    fn new(schema: &'a Schema) -> Self {
        let json_schema = NamedSchema { name: "decision", strict: true, schema };
        Self { r#type: "json_schema", json_schema }
    }
}

fn messages(prompt: &Prompt<'_>, form: Form) -> Vec<Value> {
    let rules = if form == Form::Tools { TOOL_RULES } else { "" };
    let mut messages =
        vec![json!({"role": "system", "content": format!("{}{rules}", prompt.system)})];
    for Exchange { model, user, pictures } in exchanges(prompt, form) {
        let mut told = user.as_slice();
        match model {
            None => {}
            Some(Said::Text(text)) => {
                messages.push(json!({"role": "assistant", "content": text}));
            }
            Some(Said::Call { id, name, arguments }) => {
                let (result, rest) = told.split_first().unwrap_or((&"", &[]));
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call = json!({"id": id, "type": "function", "function": function});
                messages.push(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
                told = rest;
            }
        }
        // Some servers refuse two messages of the user in a row.
        let told = told.join("\n\n");
        if !pictures.is_empty() {
            let mut parts = vec![json!({"type": "text", "text": told})];
            parts.extend(pictures.into_iter().map(|Picture { media_type, base64 }| {
                let url = format!("data:{media_type};base64,{base64}");
                json!({"type": "image_url", "image_url": {"url": url}})
            }));
            messages.push(json!({"role": "user", "content": parts}));
        } else if !told.is_empty() {
            messages.push(json!({"role": "user", "content": told}));
        }
    }
    messages
}

#[cfg(test)]
pub(crate) mod tests;
