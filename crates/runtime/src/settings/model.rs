//! Settings of the model: who decides, and how it is reached.

use std::collections::BTreeMap;
use std::ffi::OsString;

use model::dialect::Protocol;
use model::remote::Price;
use model::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The model and its server; `"openai:NAME"` sets provider and name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_a_string)]
pub struct ModelSettings {
    /// `anthropic`, `openai` (and every compatible server), `offline`, `scripted`, or `mock` (replies from the file `name` or from `params`, else offline). Not set: Skillful looks for a key or a local server.
    pub provider: Option<Provider>,
    /// The model's name; for `scripted`, its file.
    pub name: Option<String>,
    /// The server's address, with the path before `/chat/completions` or `/messages`.
    pub base_url: Option<String>,
    /// How the model replies: by tool calls (`tools`), in JSON (`json`), or as the server can (`auto`).
    pub protocol: Protocol,
    /// Get replies piece by piece.
    pub stream: bool,
    /// The environment variable with the API key. Not set: the provider's usual one.
    pub api_key_env: Option<String>,
    /// A command that prints the API key, as a list of words.
    pub api_key_command: Option<Vec<String>>,
    /// More headers for every request.
    pub headers: BTreeMap<String, Secret>,
    /// A PEM file with more certificate authorities.
    pub ca_file: Option<String>,
    /// More parameters for every request, such as `temperature`; for `mock`, its script.
    pub params: Map<String, Value>,
    /// Whether the model can see pictures. Not set: Skillful goes by its name.
    pub images: Option<bool>,
    /// How many tokens one reply may have.
    pub max_tokens: Option<u64>,
    /// How often to retry a failed call.
    pub max_retries: u32,
    /// How many seconds a connection may take.
    pub connect_timeout_seconds: u64,
    /// How many seconds may pass without a new part of the reply.
    pub idle_timeout_seconds: u64,
    /// How many seconds a whole reply may take.
    pub timeout_seconds: u64,
    /// Prices by model, in US dollars per million tokens: `input`, `output`, `cached_input`, `cache_write`.
    pub prices: BTreeMap<String, Price>,
}

/// What decides in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The offline planner, without a language model.
    Offline,
    /// Replies from a file.
    Scripted,
    /// Replies from a file or from the settings, else the offline planner; needs no network.
    Mock,
    /// Chat Completions.
    OpenAi,
    /// Messages.
    Anthropic,
}

impl Default for ModelSettings {
    fn default() -> Self {
        let waits = model::send::Waits::default();
        Self {
            provider: None,
            name: None,
            base_url: None,
            protocol: Protocol::Auto,
            stream: true,
            api_key_env: None,
            api_key_command: None,
            headers: BTreeMap::new(),
            ca_file: None,
            params: Map::new(),
            images: None,
            max_tokens: None,
            max_retries: model::remote::Backoff::default().retries,
            connect_timeout_seconds: model::send::Connection::default().limit.as_secs(),
            idle_timeout_seconds: waits.idle.as_secs(),
            timeout_seconds: waits.total.as_secs(),
            prices: BTreeMap::new(),
        }
    }
}

impl ModelSettings {
    /// The settings for another model: what belongs to the configured server, its key above all, stays with it.
    pub fn of(&self, provider: Provider, name: Option<String>) -> Self {
        let same = self.provider.is_none_or(|own| own == provider);
        let rest = if same { self.clone() } else { self.without_server() };
        Self { provider: Some(provider), name, ..rest }
    }

    /// The settings for another process: as JSON for a file, and the headers, which are in no file, as a variable.
    pub fn handed_on(&self) -> (Value, Option<(OsString, OsString)>) {
        let open = Self { headers: BTreeMap::new(), ..self.clone() };
        let headers =
            self.headers.iter().map(|(name, value)| (name.clone(), value.expose().into()));
        let headers = Value::Object(headers.collect());
        let variable = (!self.headers.is_empty())
            .then(|| ("SKILLFUL_MODEL_HEADERS".into(), headers.to_string().into()));
        (serde_json::to_value(open).unwrap_or_default(), variable)
    }

    fn without_server(&self) -> Self {
        Self {
            max_retries: self.max_retries,
            connect_timeout_seconds: self.connect_timeout_seconds,
            idle_timeout_seconds: self.idle_timeout_seconds,
            timeout_seconds: self.timeout_seconds,
            prices: self.prices.clone(),
            ..Self::default()
        }
    }
}

impl Provider {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Scripted => "scripted",
            Self::Mock => "mock",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
        }
    }

    /// The provider of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Offline, Self::Scripted, Self::Mock, Self::OpenAi, Self::Anthropic];
        all.into_iter().find(|provider| provider.as_str() == name)
    }
}

/// Settings that belong to one server; they do not go on to count when another provider is chosen over it.
const OF_A_SERVER: [&str; 10] = [
    "name",
    "base_url",
    "protocol",
    "stream",
    "api_key_env",
    "api_key_command",
    "headers",
    "ca_file",
    "params",
    "max_tokens",
];

/// `"model": "openai:NAME"` written out.
pub(super) fn spell_out(settings: &mut Value) {
    let Some(model) = settings.get_mut("model") else { return };
    match model {
        Value::Null => *model = json!({}),
        Value::String(text) => {
            let (provider, name) = match text.split_once(':') {
                Some((provider, name)) => (provider, Some(name)),
                None => (text.as_str(), None),
            };
            *model = match name {
                Some(name) => json!({"provider": provider, "name": name}),
                None => json!({"provider": provider}),
            };
        }
        _ => {}
    }
}

/// Takes out of the weaker settings what belongs to another provider than the one that `layer` chooses; answers
/// which settings may be gone.
pub(super) fn leave_server(merged: &mut Value, layer: &Value) -> Vec<String> {
    let Some(chosen) = layer["model"]["provider"].as_str() else { return Vec::new() };
    let Some(below) = merged.get_mut("model").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    if below.get("provider").and_then(Value::as_str).is_none_or(|own| own == chosen) {
        return Vec::new();
    }
    OF_A_SERVER.iter().for_each(|key| drop(below.remove(*key)));
    OF_A_SERVER.iter().map(|key| format!("model.{key}")).collect()
}

fn or_a_string(schema: &mut schemars::Schema) {
    schema.insert("type".to_owned(), json!(["object", "string"]));
}
