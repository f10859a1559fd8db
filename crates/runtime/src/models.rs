//! Which model decides, why, and how it is opened.
//!
//! Order: the command line, the settings, what the environment offers, the offline planner.

mod key;
mod local;
mod memory;
mod remote;
mod survey;

use std::path::Path;
use std::time::Duration;

use agent::model::Model;
use agent::run::Run;
use basics::failure::{Exit, Failure};
use model::offline::Offline;
use model::remote::Price;
use model::scripted::{Script, Scripted};
use permission::ToolSet;
use remote::Server;
pub use remote::Tried;
use serde_json::Value;
use skill::offer::Offer;
pub use survey::{Listed, survey};

use crate::driver::{Clock, SkippingClock, SystemClock};
use crate::open::Runtime;
use crate::plain_file::read_plain;
use crate::settings::{ModelSettings, Provider};

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
    is_last_resort: bool,
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
        let provider = settings.provider.unwrap_or(Provider::Offline);
        let kind = match (provider, provider.home()) {
            (_, Some(home)) => Kind::Remote(Box::new(Server::new(runtime, home, &settings)?)),
            (Provider::Scripted, _) => Kind::Scripted(name.clone()),
            (Provider::Mock, _) if settings.name.is_some() => Kind::Scripted(name.clone()),
            (Provider::Mock, _) if !settings.params.is_empty() => {
                Kind::Mock(Value::Object(settings.params))
            }
            _ => Kind::Offline,
        };
        let provider = provider.as_str();
        let name = match &kind {
            Kind::Offline => Provider::Offline.as_str().to_owned(),
            Kind::Mock(_) => Provider::Mock.as_str().to_owned(),
            Kind::Scripted(_) => format!("{}:{name}", Provider::Scripted.as_str()),
            Kind::Remote(_) => format!("{provider}:{name}"),
        };
        let is_named = (wish.model.is_some(), wish.base_url.is_some());
        let is_chosen = wish.model.is_some() || runtime.layers.config.model.provider.is_some();
        let is_last_resort = matches!(kind, Kind::Offline) && !is_chosen;
        Ok(Self { name, why, is_named, is_last_resort, kind })
    }

    /// The address of its server, if it has one.
    pub fn server(&self) -> Option<&str> {
        match &self.kind {
            Kind::Remote(server) => Some(server.base_url()),
            Kind::Offline | Kind::Scripted(_) | Kind::Mock(_) => None,
        }
    }

    /// Whether nobody chose a model, and none was found.
    pub fn is_last_resort(&self) -> bool {
        self.is_last_resort
    }

    /// What it costs, where that is known.
    pub fn price(&self) -> Option<Price> {
        match &self.kind {
            Kind::Remote(server) => server.price(),
            Kind::Offline | Kind::Scripted(_) | Kind::Mock(_) => None,
        }
    }

    /// Asks it for a word, to see whether it answers; nothing where there is nobody to ask.
    pub fn try_out(&self) -> Option<Tried> {
        match &self.kind {
            Kind::Remote(server) => Some(server.try_out()),
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
        settings.name = Some(unnamed(runtime, &settings)?);
    }
    if let (Some(Provider::Ollama), None) = (settings.provider, &settings.base_url) {
        settings.base_url = local::ollama_url(runtime);
    }
    Ok((settings, why))
}

/// A model from the command line.
fn parsed(text: &str) -> Result<(Provider, Option<String>), Failure> {
    let (provider, name) = Provider::spelled(text).ok_or_else(|| {
        let message = format!("there is no model `{text}`");
        Failure::new(Exit::Usage, "UnknownModel", message).hint(
            "name the server and the model, as in ollama:NAME or openrouter:NAME; `skillful models` lists the servers",
        )
    })?;
    Ok((provider, name.map(str::to_owned)))
}

/// What the environment offers: the keys of the two best known, an Ollama on this machine, the other keys.
fn detect(runtime: &Runtime, own: &ModelSettings) -> (ModelSettings, String) {
    for provider in Provider::all() {
        let Some(home) = provider.home() else { continue };
        if provider == Provider::Ollama
            && let Some(address) = local::address(runtime, provider)
            && let Some(name) = local::models(provider, address).into_iter().flatten().next()
        {
            return (own.of(provider, Some(name)), format!("Ollama runs at {address}"));
        }
        let variable = home.keys.iter().find(|key| runtime.variable(key).is_some());
        if let (Some(variable), Some(usual)) = (variable, home.usual) {
            let name = own.name.clone().unwrap_or_else(|| usual.to_owned());
            return (own.of(provider, Some(name)), format!("{variable} is set"));
        }
    }
    let why = "no API key in the environment and no Ollama on this machine".to_owned();
    (own.of(Provider::Offline, None), why)
}

/// The name of a model that was not named: the usual one of the provider, or the first that a server here has.
fn unnamed(runtime: &Runtime, settings: &ModelSettings) -> Result<String, Failure> {
    let provider = settings.provider.unwrap_or(Provider::Offline);
    let own_server = provider.home().filter(|_| settings.base_url.is_none());
    if let Some(usual) = own_server.and_then(|home| home.usual) {
        return Ok(usual.to_owned());
    }
    if let Some(address) = own_server.and_then(|_| local::address(runtime, provider)) {
        let models = local::models(provider, address);
        return models.into_iter().flatten().next().ok_or_else(|| {
            let message = format!("no `{}` with a model answers at {address}", provider.as_str());
            Failure::new(Exit::Usage, "NoModel", message)
                .hint("start it and load a model, or choose another --model")
        });
    }
    let failure = Failure::new(Exit::Usage, "UnknownModel", "the model has no name");
    Err(match provider.home() {
        Some(_) => failure.hint(format!("add its name, as in --model {}:NAME", provider.as_str())),
        None => failure.hint("add a name, as in --model openai:NAME or scripted:FILE"),
    })
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
