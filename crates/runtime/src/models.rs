//! Which model decides, why, and how it is opened.
//!
//! Order: the command line, the settings, a key in the environment, an Ollama on this machine, the offline planner.

mod key;
mod memory;
mod remote;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use agent::model::Model;
use agent::run::Run;
use basics::failure::{Exit, Failure};
use model::offline::Offline;
use model::remote::Wire;
use model::scripted::{Script, Scripted};
use model::send::ollama;
use permission::ToolSet;
use remote::Server;
use serde_json::Value;
use skill::offer::Offer;

use crate::driver::{Clock, SkippingClock, SystemClock};
use crate::open::Runtime;
use crate::plain_file::read_plain;
use crate::settings::{ModelSettings, Provider};

/// What is asked where only a key is there. The one place that knows names of models.
const DEFAULT_MODELS: [(Provider, &str); 2] =
    [(Provider::Anthropic, "claude-sonnet-4-5"), (Provider::OpenAi, "gpt-5-mini")];

/// What the command line says about the model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'a> {
    /// `--model`.
    pub model: Option<&'a str>,
    /// `--base-url`.
    pub base_url: Option<&'a str>,
}

/// The model that will decide.
#[derive(Debug)]
pub struct Choice {
    /// As `--model` would name it.
    pub name: String,
    /// Who or what chose it.
    pub why: String,
    /// Whether the user named the model, and whether they named its server.
    pub(crate) is_named: (bool, bool),
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Offline,
    /// By a file.
    Scripted(String),
    /// By the settings.
    Mock(Value),
    Remote(Box<Server>),
}

impl Choice {
    /// Finds out who decides, without its key; asks nobody but, where nothing else is said, this machine for an Ollama.
    pub fn new(runtime: &Runtime, wish: Wish<'_>) -> Result<Self, Failure> {
        let (settings, why) = settings(runtime, wish)?;
        let name = settings.name.clone().unwrap_or_default();
        let remote = |wire| Server::new(runtime, wire, &settings).map(Box::new).map(Kind::Remote);
        let kind = match settings.provider.unwrap_or(Provider::Offline) {
            Provider::Offline => Kind::Offline,
            Provider::Scripted => Kind::Scripted(name.clone()),
            Provider::Mock if settings.name.is_some() => Kind::Scripted(name.clone()),
            Provider::Mock if settings.params.is_empty() => Kind::Offline,
            Provider::Mock => Kind::Mock(Value::Object(settings.params.clone())),
            Provider::OpenAi => remote(Wire::OpenAi)?,
            Provider::Anthropic => remote(Wire::Anthropic)?,
        };
        let provider = settings.provider.unwrap_or(Provider::Offline).as_str();
        let name = match &kind {
            Kind::Offline => Provider::Offline.as_str().to_owned(),
            Kind::Mock(_) => Provider::Mock.as_str().to_owned(),
            Kind::Scripted(_) => format!("{}:{name}", Provider::Scripted.as_str()),
            Kind::Remote(_) => format!("{provider}:{name}"),
        };
        let is_named = (wish.model.is_some(), wish.base_url.is_some());
        Ok(Self { name, why, is_named, kind })
    }

    /// The address of its server, if it has one.
    pub fn server(&self) -> Option<&str> {
        match &self.kind {
            Kind::Remote(server) => Some(server.base_url()),
            Kind::Offline | Kind::Scripted(_) | Kind::Mock(_) => None,
        }
    }

    /// Where it is, and where its key comes from.
    pub fn details(&self) -> Option<String> {
        match &self.kind {
            Kind::Remote(server) => Some(server.to_string()),
            Kind::Offline | Kind::Scripted(_) | Kind::Mock(_) => None,
        }
    }

    /// The same, with its key, where a command must be run for it.
    pub fn with_key(mut self) -> Result<Self, Failure> {
        if let Kind::Remote(server) = &mut self.kind {
            server.fetch_key()?;
        }
        Ok(self)
    }

    /// What must not be shown anywhere.
    pub fn secrets(&self) -> Vec<String> {
        match &self.kind {
            Kind::Remote(server) => server.secrets(),
            Kind::Offline | Kind::Scripted(_) | Kind::Mock(_) => Vec::new(),
        }
    }

    /// The time of a run on which `before` was spent already; nobody waits for a server that is not there.
    pub fn clock(&self, before: Duration) -> Box<dyn Clock> {
        match &self.kind {
            Kind::Scripted(_) | Kind::Mock(_) => Box::new(SkippingClock::starting(before)),
            Kind::Offline | Kind::Remote(_) => Box::new(SystemClock::starting(before)),
        }
    }

    /// The model, ready to decide in a run.
    pub fn open(
        &self,
        runtime: &Runtime,
        offer: &Offer<'_>,
        tools: &ToolSet,
        run: &Run,
    ) -> Result<Box<dyn Model>, Failure> {
        let retries = runtime.layers.config.model.max_retries;
        match &self.kind {
            Kind::Offline => {
                let query = model::offline::query(run.request());
                Ok(Box::new(Offline::new(offer.search(&query, 5))))
            }
            Kind::Scripted(file) => {
                let file = runtime.surroundings.working_directory.join(file);
                play(&read_script(&file)?, retries)
            }
            Kind::Mock(script) => play(&Script::from_value(script)?, retries),
            Kind::Remote(server) => Ok(Box::new(server.open(runtime, offer, tools, run))),
        }
    }
}

/// The settings that count, with a provider, and why.
fn settings(runtime: &Runtime, wish: Wish<'_>) -> Result<(ModelSettings, String), Failure> {
    let own = &runtime.layers.config.model;
    let (mut settings, why) = match (wish.model, own.provider) {
        (Some(text), _) => {
            let (provider, name) = parsed(text)?;
            (own.of(provider, name), "--model".to_owned())
        }
        (None, Some(_)) => {
            let origin = runtime.layers.origins.get("model.provider");
            (own.clone(), origin.map_or_else(|| "the settings".to_owned(), ToString::to_string))
        }
        (None, None) if wish.base_url.is_some() || own.base_url.is_some() => {
            (own.of(Provider::OpenAi, own.name.clone()), "the base URL".to_owned())
        }
        (None, None) => detect(runtime, own),
    };
    if let Some(url) = wish.base_url {
        settings.base_url = Some(url.to_owned());
    }
    let needs_name = !matches!(settings.provider, Some(Provider::Offline | Provider::Mock));
    if settings.name.is_none() && needs_name {
        let default = default_model(settings.provider).filter(|_| settings.base_url.is_none());
        settings.name = Some(default.ok_or_else(unnamed)?.to_owned());
    }
    Ok((settings, why))
}

fn unnamed() -> Failure {
    Failure::new(Exit::Usage, "UnknownModel", "the model has no name")
        .hint("add a name, as in --model openai:NAME or scripted:FILE")
}

/// `openai:NAME` from the command line.
fn parsed(text: &str) -> Result<(Provider, Option<String>), Failure> {
    let (provider, name) = text.split_once(':').unwrap_or((text, ""));
    let provider = Provider::from_name(provider).ok_or_else(|| {
        Failure::new(Exit::Usage, "UnknownModel", format!("there is no model `{text}`"))
            .hint("use `offline`, `scripted:FILE`, `mock`, `openai:NAME` or `anthropic:NAME`")
    })?;
    Ok((provider, Some(name.to_owned()).filter(|name| !name.is_empty())))
}

/// What the environment offers.
fn detect(runtime: &Runtime, own: &ModelSettings) -> (ModelSettings, String) {
    for (provider, name) in DEFAULT_MODELS {
        let variable = key::usual_variable(provider);
        if runtime.variable(variable).is_some() {
            let name = own.name.clone().unwrap_or_else(|| name.to_owned());
            return (own.of(provider, Some(name)), format!("{variable} is set"));
        }
    }
    let address = ollama_address(runtime);
    if let Some(name) = ollama::models(address).into_iter().next() {
        let settings = ModelSettings {
            base_url: Some(format!("http://{address}/v1")),
            ..own.of(Provider::OpenAi, Some(name))
        };
        return (settings, format!("Ollama runs at {address}"));
    }
    let why = "no API key in the environment and no Ollama on this machine".to_owned();
    (own.of(Provider::Offline, None), why)
}

/// Where Ollama would be: `OLLAMA_HOST`, as far as it is an address of this machine, or the usual place.
fn ollama_address(runtime: &Runtime) -> SocketAddr {
    let host = runtime.variable("OLLAMA_HOST").and_then(|host| host.to_str());
    let address = host.and_then(|host| host.trim_start_matches("http://").parse().ok());
    address.filter(|address: &SocketAddr| address.ip().is_loopback()).unwrap_or(ollama::ADDRESS)
}

fn default_model(provider: Option<Provider>) -> Option<&'static str> {
    let found = DEFAULT_MODELS.iter().find(|(own, _)| Some(*own) == provider);
    found.map(|(_, name)| *name)
}

fn read_script(file: &Path) -> Result<Script, Failure> {
    let text = read_plain(file).map_err(|error| {
        Failure::new(
            Exit::Usage,
            "InvalidScript",
            format!("cannot read `{}`: {error}", file.display()),
        )
        .hint("give a JSON file with `turns`, as in scripted:turns.json")
    })?;
    Ok(Script::parse(&text)?)
}

/// The model that says what the script tells it to.
fn play(script: &Script, retries: u32) -> Result<Box<dyn Model>, Failure> {
    let model = Scripted::new(script)?;
    Ok(Box::new(model.with_retries(retries)))
}
