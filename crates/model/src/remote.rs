//! A model behind a network: one call is one request.
//!
//! What failed and may succeed later comes back with how long to wait; whoever drives the run waits and asks again, so
//! that every try is on record. What a server was found to understand is kept for the next call.

use std::time::Duration;

use agent::budget::Usage;
use agent::context::{Context, Prompt};
use agent::model::{Cancel, Model};
use agent::reply::Reply;
use basics::failure::Explain;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answered, Tokens};
use crate::decision::{Problem, estimated_usage, settle};
use crate::decoder::Decoder;
use crate::dialect::{Dialect, Protocol};
use crate::failure::CallError;
use crate::request::{HttpRequest, Options};
use crate::send::{Sender, Waits};
use crate::{anthropic, openai};

pub use crate::retry::Backoff;

/// Which interface a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Chat Completions.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
}

impl Wire {
    /// The request for the next decision.
    pub fn request(self, prompt: &Prompt<'_>, options: &Options, dialect: Dialect) -> HttpRequest {
        match self {
            Self::OpenAi => openai::request(prompt, options, dialect),
            Self::Anthropic => anthropic::request(prompt, options, dialect),
        }
    }

    /// Reads the answer.
    pub fn decoder(self, dialect: Dialect) -> Decoder {
        match self {
            Self::OpenAi => openai::decoder(dialect),
            Self::Anthropic => anthropic::decoder(dialect),
        }
    }
}

/// What a model costs, in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that are read.
    pub input: f64,
    /// Tokens that are written.
    pub output: f64,
    /// Tokens that are read from a cache; as others, if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Tokens that are written to a cache; as others that are read, if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What this many tokens cost.
    pub fn cost(&self, tokens: Tokens) -> f64 {
        let plain = tokens.input.saturating_sub(tokens.cached).saturating_sub(tokens.cache_written);
        let parts = [
            (plain, self.input),
            (tokens.cached, self.cached_input.unwrap_or(self.input)),
            (tokens.cache_written, self.cache_write.unwrap_or(self.input)),
            (tokens.output, self.output),
        ];
        parts.iter().map(|(count, price)| *count as f64 * price).sum::<f64>() / 1e6
    }
}

/// What a model behind a network is made of.
pub struct Setup {
    /// Which interface it has.
    pub wire: Wire,
    /// Who is asked, and with what.
    pub options: Options,
    /// How it is to say what it decides.
    pub protocol: Protocol,
    /// What to begin with: a guess, or what was found out earlier.
    pub dialect: Dialect,
    /// What it costs, where that is known.
    pub price: Option<Price>,
    /// Whether it can be shown pictures.
    pub sees: bool,
    /// How long an answer may take.
    pub waits: Waits,
    /// How often and when to ask again.
    pub backoff: Backoff,
    /// Numbers from 0 to 1.
    pub random: Box<dyn FnMut() -> f64>,
    /// Is told what was found out about the server.
    pub learned: Box<dyn FnMut(Dialect)>,
}

impl Setup {
    /// How long this answer may take.
    fn waits(&self, prompt: &Prompt<'_>) -> Waits {
        let total = self.waits.total.min(prompt.limits.time.unwrap_or(Duration::MAX));
        // An answer in one piece comes when all of it is there.
        let idle = if self.dialect.stream { self.waits.idle } else { total };
        Waits { idle, total }
    }
}

/// A model behind a network.
pub struct Remote {
    setup: Setup,
    sender: Sender,
    /// Failures and refusals since the last answer.
    failures: u32,
    refusals: u32,
    /// Whether the model has called a tool.
    calls_tools: bool,
    /// What was last told to be known.
    known: Dialect,
}

/// Each part of a request can be refused once.
const MAX_REFUSALS: u32 = 6;

impl Remote {
    /// A model that is asked through `sender`.
    pub fn new(setup: Setup, sender: Sender) -> Self {
        let known = setup.dialect;
        Self { setup, sender, failures: 0, refusals: 0, calls_tools: false, known }
    }

    /// Asks for a word, in the plainest way that the server understands, and says what that used.
    pub fn greet(&mut self) -> Result<Usage, CallError> {
        let context = Context::new("greeting", String::new(), "Reply with the word OK.");
        let prompt = context.prompt(String::new(), 1);
        loop {
            match self.ask(&prompt, &Cancel::default(), &mut |_| {}) {
                Ok(answered) => return Ok(self.usage(&prompt, &answered)),
                Err(error) => match self.lower(&error) {
                    Some((lower, _)) => self.setup.dialect = lower,
                    None => return Err(error),
                },
            }
        }
    }

    fn ask(
        &mut self,
        prompt: &Prompt<'_>,
        cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Result<Answered, CallError> {
        let Setup { wire, options, dialect, .. } = &self.setup;
        let request = wire.request(prompt, options, *dialect);
        let mut decoder = wire.decoder(*dialect);
        self.sender.send(&request, self.setup.waits(prompt), cancel, &mut |bytes| {
            decoder.push(bytes, delta)?;
            Ok(decoder.progress())
        })?;
        decoder.finish(delta)
    }

    fn answered(&mut self, prompt: &Prompt<'_>, answered: Answered) -> Reply {
        (self.failures, self.refusals) = (0, 0);
        self.calls_tools |= answered.called;
        // One that calls tools may still write its answer as text.
        if let (false, Some(lower)) =
            (self.calls_tools, self.setup.dialect.after_text(self.setup.protocol))
        {
            self.setup.dialect = lower;
        }
        if self.setup.dialect != self.known {
            self.known = self.setup.dialect;
            (self.setup.learned)(self.known);
        }
        let usage = self.usage(prompt, &answered);
        let cut = |problem| if answered.cut { Problem::CutOff } else { problem };
        settle(answered.decision.map_err(cut), &answered.text, usage)
    }

    fn usage(&self, prompt: &Prompt<'_>, answered: &Answered) -> Usage {
        let (tokens, estimated) = match answered.tokens {
            Some(tokens) => (tokens, false),
            None => {
                let Usage { input_tokens: input, output_tokens: output, .. } =
                    estimated_usage(prompt, &answered.text);
                (Tokens { input, output, ..Tokens::default() }, true)
            }
        };
        Usage {
            input_tokens: tokens.input,
            cached_tokens: tokens.cached,
            output_tokens: tokens.output,
            cost_usd: self.setup.price.map(|price| price.cost(tokens)),
            estimated,
        }
    }

    fn failed(&mut self, error: &CallError) -> Reply {
        let host = self.host();
        if let Some((lower, message)) = self.lower(error) {
            self.setup.dialect = lower;
            return Reply::Failed {
                code: error.code().to_owned(),
                message: format!("`{host}` {message}; asking in another way"),
                retry_after_ms: Some(0),
                summary: None,
            };
        }
        self.failures += 1;
        let random = (self.setup.random)();
        self.setup.backoff.reply(&format!("`{host}`"), error, self.failures, random)
    }

    /// Another way to ask, where this one was refused.
    fn lower(&mut self, error: &CallError) -> Option<(Dialect, String)> {
        let Setup { dialect, protocol, .. } = &self.setup;
        let lower = match error {
            CallError::Refused { message, .. } => dialect.after_refusal(*protocol, message),
            // Tools take room in the conversation.
            CallError::ContextTooLong { .. } => dialect.after_text(*protocol),
            _ => None,
        }?;
        self.refusals += 1;
        (self.refusals <= MAX_REFUSALS).then(|| (lower, error.to_string()))
    }

    fn host(&self) -> String {
        let url = &self.setup.options.base_url;
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default().to_owned()
    }
}

impl Model for Remote {
    fn can_see(&self) -> bool {
        self.setup.sees
    }

    fn decide(
        &mut self,
        prompt: &Prompt<'_>,
        cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Reply {
        match self.ask(prompt, cancel, delta) {
            Ok(answered) => self.answered(prompt, answered),
            Err(error) => self.failed(&error),
        }
    }
}

#[cfg(test)]
mod tests;
