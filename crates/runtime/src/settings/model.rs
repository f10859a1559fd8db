//! Settings of the model: who decides, and how it is reached.

use std::collections::BTreeMap;
use std::ffi::OsString;

use model::dialect::Protocol;
use model::remote::Price;
use model::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Provider;

/// The model and its server; `"openai:NAME"` sets provider and name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = or_a_string)]
pub struct ModelSettings {
    /// The name of a server that `skillful models` lists (`openai` stands for every compatible server), `offline`, `scripted`, or `mock` (replies from the file `name` or from `params`, else offline). Not set: Skillful looks for a key or a local server.
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
        let same = match self.provider {
            Some(own) => own == provider,
            // Another server's key must not go to this one.
            None => !(provider.is_one_server() && self.names_server()),
        };
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

    /// Whether something here is meant for one server, whoever that is.
    fn names_server(&self) -> bool {
        self.base_url.is_some()
            || self.api_key_env.is_some()
            || self.api_key_command.is_some()
            || self.ca_file.is_some()
            || !self.headers.is_empty()
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

/// Those of them that say which server it is, and what lets us in.
const OF_ONE_SERVER: [&str; 5] =
    ["base_url", "api_key_env", "api_key_command", "headers", "ca_file"];

/// `"model": "openai:NAME"` written out.
pub(super) fn spell_out(settings: &mut Value) {
    let Some(model) = settings.get_mut("model") else { return };
    match model {
        Value::Null => *model = json!({}),
        Value::String(text) => {
            let (provider, name) = match Provider::spelled(text) {
                Some((provider, name)) => (provider.as_str(), name),
                // What is wrong with it is said with all other settings.
                None => (text.split(':').next().unwrap_or_default(), None),
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
    let is_one_server = Provider::from_name(chosen).is_some_and(Provider::is_one_server);
    let names_server = OF_ONE_SERVER.iter().any(|key| below.contains_key(*key));
    let same = match below.get("provider").and_then(Value::as_str) {
        Some(own) => own == chosen,
        None => !(is_one_server && names_server),
    };
    if same {
        return Vec::new();
    }
    OF_A_SERVER.iter().for_each(|key| drop(below.remove(*key)));
    OF_A_SERVER.iter().map(|key| format!("model.{key}")).collect()
}

fn or_a_string(schema: &mut schemars::Schema) {
    schema.insert("type".to_owned(), json!(["object", "string"]));
}
