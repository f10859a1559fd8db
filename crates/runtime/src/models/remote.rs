//! A model behind a network, from the settings.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use agent::budget::Usage;
use agent::run::Run;
use basics::skill::Source;
use jiff::Timestamp;
use model::dialect::{Dialect, Form, TokenLimit};
use model::failure::CallError;
use model::openai;
use model::remote::{Backoff, Price, Remote, Setup, Wire};
use model::request::{Choices, Options, RESERVED_PARAMS};
use model::schema::Offered;
use model::secret::Secret;
use model::send::{Connection, Sender, Waits, is_loopback};
use permission::ToolSet;
use skill::index::Entry;
use skill::offer::Offer;

use super::key::{self, Key};
use super::memory::Memory;
use crate::open::Runtime;
use crate::settings::{Home, ModelSettings, expand};
use basics::failure::{Exit, Failure};

/// Names of skills are listed in the request as far as there are not too many of them.
const MAX_NAMED_SKILLS: usize = 100;

/// Parts of the names of models that can be shown pictures.
const SEEING: [&str; 11] = [
    "gpt-4o", "gpt-4.1", "gpt-5", "o3", "o4", "claude", "gemini", "-vl", "vision", "llava",
    "pixtral",
];

/// How long a model may write that is only asked for a word; some think first.
const GREETING_TOKENS: u64 = 512;

/// How long it may take; a server of this machine may have to load the model first.
const GREETING_TIME: Duration = Duration::from_secs(60);

/// What came of asking a model for a word.
#[derive(Debug)]
pub struct Tried {
    /// How long it took.
    pub took: Duration,
    /// What it used, or why there was no answer.
    pub answer: Result<Usage, CallError>,
}

/// A server, ready to be asked.
#[derive(Debug)]
pub(super) struct Server {
    wire: Wire,
    settings: ModelSettings,
    base_url: String,
    key: Option<Key>,
    /// Certificates of further authorities.
    authorities: Option<Vec<u8>>,
}

impl Server {
    pub(super) fn new(
        runtime: &Runtime,
        home: &Home,
        settings: &ModelSettings,
    ) -> Result<Self, Failure> {
        let Home { wire, base_url: own, keys, .. } = *home;
        let base_url = settings.base_url.clone().unwrap_or_else(|| own.to_owned());
        check(&base_url, settings)?;
        // A key that was not meant for this server in particular does not go over a line that others can read.
        let is_private = base_url.starts_with("https://") || is_loopback(&base_url);
        let key = key::find(runtime, settings, if is_private { keys } else { &[] })?;
        if let (None, [variable, ..]) = (&key, keys)
            && base_url == own
            && settings.headers.is_empty()
        {
            let message = format!("you have no API key for `{}`", host(&base_url));
            return Err(Failure::new(Exit::Usage, "NoKey", message)
                .hint(format!("set {variable}, or `model.api_key_command`")));
        }
        let authorities = authorities(runtime, settings)?;
        let server = Self { wire, settings: settings.clone(), base_url, key, authorities };
        server.check_price(runtime)?;
        Ok(server)
    }

    /// Whether the model can be shown pictures: as the settings say, or else by its name.
    fn sees(&self) -> bool {
        let name = self.model().to_ascii_lowercase();
        let by_name = self.wire == Wire::Anthropic || SEEING.iter().any(|part| name.contains(part));
        self.settings.images.unwrap_or(by_name)
    }

    pub(super) fn price(&self) -> Option<Price> {
        self.settings.prices.get(self.model()).copied()
    }

    /// Asks for a word.
    pub(super) fn try_out(&self) -> Tried {
        let settings = &self.settings;
        let choices =
            Choices::new(&Offered { tools: &ToolSet::from_names([]), skills: None, scripts: None });
        let options = Options { max_tokens: Some(GREETING_TOKENS), ..self.options_with(choices) };
        let first = Dialect::first(settings.protocol, false, self.token_limit());
        let setup = Setup {
            dialect: Dialect { form: Form::Text, ..first },
            backoff: Backoff { retries: 0, ..Backoff::default() },
            waits: Waits { idle: GREETING_TIME, total: GREETING_TIME },
            ..self.setup(options)
        };
        let began = Instant::now();
        let answer = Remote::new(setup, self.sender()).greet();
        Tried { took: began.elapsed(), answer }
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Gets the key, where a command must be run for it.
    pub(super) fn fetch_key(&mut self) -> Result<(), Failure> {
        self.key.as_mut().map_or(Ok(()), Key::fetch)
    }

    pub(super) fn secrets(&self) -> Vec<String> {
        let headers = self.settings.headers.values();
        let key = self.key.iter().filter_map(Key::secret);
        headers.chain(key).map(|secret| secret.expose().to_owned()).collect()
    }

    pub(super) fn open(
        &self,
        runtime: &Runtime,
        offer: &Offer<'_>,
        tools: &ToolSet,
        run: &Run,
    ) -> Remote {
        let Self { settings, .. } = self;
        let memory = runtime.cache_folder().map(|cache| Memory::new(cache, self.identity()));
        let first = Dialect::first(settings.protocol, settings.stream, self.token_limit());
        let known = memory.as_ref().and_then(|memory| memory.recall(Timestamp::now()));
        let setup = Setup {
            dialect: known.unwrap_or(first),
            learned: Box::new(move |dialect| {
                memory.iter().for_each(|memory| memory.keep(dialect, Timestamp::now()));
            }),
            ..self.setup(self.options(offer, tools, run))
        };
        Remote::new(setup, self.sender())
    }

    /// How the model is asked, before anything is known about its server.
    fn setup(&self, options: Options) -> Setup {
        let settings = &self.settings;
        let random = RandomState::new();
        let mut drawn = 0_u64;
        Setup {
            wire: self.wire,
            options,
            protocol: settings.protocol,
            dialect: Dialect::first(settings.protocol, settings.stream, self.token_limit()),
            price: self.price(),
            waits: Waits {
                idle: Duration::from_secs(settings.idle_timeout_seconds),
                total: Duration::from_secs(settings.timeout_seconds),
            },
            sees: self.sees(),
            backoff: Backoff { retries: settings.max_retries, ..Backoff::default() },
            random: Box::new(move || {
                drawn += 1;
                random.hash_one(drawn) as f64 / u64::MAX as f64
            }),
            learned: Box::new(|_| {}),
        }
    }

    fn sender(&self) -> Sender {
        Sender::new(Connection {
            authorities: self.authorities.clone(),
            limit: Duration::from_secs(self.settings.connect_timeout_seconds),
        })
    }

    fn options(&self, offer: &Offer<'_>, tools: &ToolSet, run: &Run) -> Options {
        // What the user chose may be hidden from the model's choice and is still acted with.
        let chosen = run.invoked().into_iter().map(|skill| skill.name.as_str()).chain(run.skills());
        let chosen: Vec<&str> = chosen.collect();
        let listed: Vec<&Entry> = offer.skills().take(MAX_NAMED_SKILLS + 1).collect();
        let names = listed.iter().map(|entry| entry.name.as_str());
        let scripted = listed.iter().filter(|entry| has_scripts(entry));
        let skills = sorted(names.chain(chosen.iter().copied()));
        let scripts = sorted(scripted.map(|entry| entry.name.as_str()).chain(chosen));
        let is_short = (1..=MAX_NAMED_SKILLS).contains(&listed.len());
        let offered = Offered {
            tools,
            skills: is_short.then_some(&skills[..]),
            scripts: is_short.then_some(&scripts[..]),
        };
        self.options_with(Choices::new(&offered))
    }

    fn options_with(&self, choices: Choices) -> Options {
        Options {
            base_url: self.base_url.clone(),
            model: self.model().to_owned(),
            key: self.key.as_ref().and_then(Key::secret).cloned(),
            headers: self.headers(),
            max_tokens: self.settings.max_tokens.or_else(|| self.usual_max_tokens()),
            params: self.settings.params.clone(),
            choices,
        }
    }

    fn headers(&self) -> Vec<(String, Secret)> {
        let headers = self.settings.headers.iter();
        headers.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn model(&self) -> &str {
        self.settings.name.as_deref().unwrap_or_default()
    }

    /// What is found out about a server, it is found out about this.
    fn identity(&self) -> String {
        let ModelSettings { protocol, stream, .. } = self.settings;
        let asked = serde_json::json!([protocol, stream]);
        format!("{:?} {} {} {asked}", self.wire, self.base_url, self.model())
    }

    fn token_limit(&self) -> TokenLimit {
        match self.is_openai() {
            true => TokenLimit::MaxCompletionTokens,
            false => TokenLimit::MaxTokens,
        }
    }

    /// Small models sometimes never end. At OpenAI none do, and what they think counts, too.
    fn usual_max_tokens(&self) -> Option<u64> {
        (self.wire == Wire::OpenAi && !self.is_openai()).then_some(4_096)
    }

    fn is_openai(&self) -> bool {
        self.base_url.starts_with(openai::BASE_URL)
    }

    /// A budget that cannot be kept must not look as if it were.
    fn check_price(&self, runtime: &Runtime) -> Result<(), Failure> {
        let limited = runtime.layers.config.budget.max_cost_usd.is_some();
        if limited && !self.settings.prices.contains_key(self.model()) {
            let model = self.model();
            return Err(Failure::new(
                Exit::Usage,
                "NoPrice",
                format!("the cost has a limit (`budget.max_cost_usd`), but the price of `{model}` is unknown"),
            )
            .hint(format!("set `model.prices` to {{\"{model}\": {{\"input\": 1.0, \"output\": 5.0}}}}, in dollars for a million tokens")));
        }
        Ok(())
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "at {}, key from {key}", host(&self.base_url)),
            None => write!(f, "at {}, without a key", host(&self.base_url)),
        }
    }
}

fn authorities(runtime: &Runtime, settings: &ModelSettings) -> Result<Option<Vec<u8>>, Failure> {
    let Some(file) = &settings.ca_file else { return Ok(None) };
    let surroundings = &runtime.surroundings;
    let base = surroundings.home.as_deref().unwrap_or(surroundings.project());
    let file = expand(file, base, surroundings.home.as_deref());
    std::fs::read(&file).map(Some).map_err(|error| {
        let message = format!("cannot read `{}`: {error}", file.display());
        Failure::new(Exit::Usage, "InvalidConfiguration", message)
            .hint("set `model.ca_file` to a PEM file with certificates")
    })
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a skill may have scripts; a model that may run what is not there tries to.
fn has_scripts(entry: &Entry) -> bool {
    entry.source == Source::Builtin || entry.path.join("scripts").is_dir()
}

fn host(base_url: &str) -> &str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

fn check(base_url: &str, settings: &ModelSettings) -> Result<(), Failure> {
    let wrong = |message: String, hint: &str| {
        Err(Failure::new(Exit::Usage, "InvalidConfiguration", message).hint(hint))
    };
    let is_web = ["http://", "https://"].iter().any(|scheme| base_url.starts_with(scheme));
    let has_odd_part = base_url.contains(['@', '?', '#']) || base_url.contains(char::is_whitespace);
    if !is_web || has_odd_part || host(base_url).is_empty() {
        return wrong(
            "the base URL must be an `http` or `https` address without password, query or fragment"
                .to_owned(),
            "use the server's address, as in http://127.0.0.1:8080/v1; put the key into a variable",
        );
    }
    let reserved = settings.params.keys().find(|key| RESERVED_PARAMS.contains(&key.as_str()));
    if let Some(key) = reserved {
        let message = format!("you cannot set `model.params.{key}`: Skillful sets it itself");
        return wrong(message, "see `skillful schema config` for the settings of the model");
    }
    Ok(())
}
