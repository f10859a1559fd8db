//! The conversation with the model: what it has been told, in an order that providers can cache.
//!
//! Invariant: the conversation only grows at its end. Two things change earlier bytes: the run state,
//! which is not part of it, and a compaction, which shortens observations and nothing else, the newest last.

mod links;
mod rules;

#[cfg(test)]
mod tests;

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::observation::{Observation, Picture};

pub use links::Told;
pub use rules::{LATEST as LATEST_RULES, system_text};

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The run.
    User,
    /// The model.
    Assistant,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// What is left of it after a compaction; nothing for what is never shortened.
    #[serde(skip)]
    short: Option<String>,
    /// A picture that comes with it.
    #[serde(skip)]
    pub picture: Option<Picture>,
    /// What it is, for whoever shortens the conversation.
    #[serde(skip)]
    part: Part,
    /// The run it is from, counted from 0.
    #[serde(skip)]
    link: u32,
}

impl Message {
    /// The message as the record has it.
    pub(crate) fn recorded(&self) -> Self {
        let (role, text) = (self.role, self.text.clone());
        Self { role, text, short: None, picture: None, part: Part::default(), link: 0 }
    }
}

/// What a message is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Part {
    Request,
    Decision,
    Answer,
    /// The text of these skills.
    Loaded(Vec<String>),
    Observed,
    /// What an earlier run did, in one line.
    Folded,
    #[default]
    Remark,
}

/// What is sent to the model.
#[derive(Debug, Clone)]
pub struct Prompt<'run> {
    /// Rules, protocol and catalog.
    pub system: &'run str,
    /// The conversation so far.
    pub messages: &'run [Message],
    /// Plan and budget, sent last.
    pub state: String,
    /// Which try this is within the turn, counted from 1.
    pub attempt: u32,
    /// SHA-256 over all of it.
    pub sha256: basics::sha256::Sha256,
    /// Its length in characters.
    pub chars: usize,
    /// What came of the action before, which the conversation ends with.
    pub last: Option<&'run Observation>,
    /// How much the reply may take.
    pub limits: Limits,
}

/// How much a reply may take; without a word about it, as much as it likes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Tokens that may still be written.
    pub output_tokens: Option<u64>,
    /// Time that is left for it.
    pub time: Option<Duration>,
}

/// The conversation with the model.
#[derive(Debug, Clone)]
pub struct Context {
    system: String,
    messages: Vec<Message>,
    chars: usize,
    /// Over everything said so far, so that a turn costs no more when there were many before it.
    hash: Sha256,
    fence: String,
    /// The runs of the conversation, this one last.
    runs: Vec<String>,
}

/// A share of the limit: a compaction begins above the first and goes on to the second.
const FULL: (usize, usize) = (3, 4);
const ROOMY: (usize, usize) = (1, 2);

/// Characters of an observation that are worth showing.
const LEAST: usize = 200;

impl Context {
    /// A conversation that begins with rules and a request.
    pub fn new(run_id: &str, system: String, request: &str) -> Self {
        // Nobody who wrote a skill or a file can know this run's mark.
        let mark = Sha256::digest(run_id.as_bytes());
        let fence =
            mark.iter().take(6).fold("mark-".to_owned(), |text, byte| format!("{text}{byte:02x}"));
        let mut context = Self::empty(fence, system);
        context.runs.push(run_id.to_owned());
        context.request(request);
        context
    }

    fn empty(fence: String, system: String) -> Self {
        let mut hash = Sha256::new();
        hash.update(system.as_bytes());
        let chars = system.chars().count();
        Self { system, messages: Vec::new(), chars, hash, fence, runs: Vec::new() }
    }

    fn request(&mut self, request: &str) {
        let request = self.block("Request", request);
        self.push(Role::User, request, None, Part::Request);
    }

    /// The place of this run in the conversation.
    fn link(&self) -> u32 {
        self.runs.len().saturating_sub(1) as u32
    }

    /// Untrusted text between marks that it cannot hold.
    fn block(&self, label: &str, text: &str) -> String {
        let fence = &self.fence;
        let inner = text.replace(fence.as_str(), "mark-removed");
        let label = basics::text::one_line(label);
        format!("=== {label} [{fence}] ===\n{}\n=== end [{fence}] ===", inner.trim_end())
    }

    fn push(&mut self, role: Role, text: String, short: Option<String>, part: Part) {
        self.chars += text.chars().count();
        Self::absorb(&mut self.hash, role, &text);
        let link = self.link();
        self.messages.push(Message { role, text, short, picture: None, part, link });
    }

    fn rehash(&mut self) {
        self.hash = Sha256::new();
        self.hash.update(self.system.as_bytes());
        self.messages
            .iter()
            .for_each(|message| Self::absorb(&mut self.hash, message.role, &message.text));
    }

    fn absorb(hash: &mut Sha256, role: Role, text: &str) {
        hash.update([match role {
            Role::User => 1,
            Role::Assistant => 2,
        }]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }

    /// What the model decided.
    pub fn decided(&mut self, action_json: String) {
        self.push(Role::Assistant, action_json, None, Part::Decision);
    }

    /// What it answered.
    pub(crate) fn answered(&mut self, action_json: String) {
        self.push(Role::Assistant, action_json, None, Part::Answer);
    }

    /// A remark of the run itself.
    pub fn remark(&mut self, text: String) {
        self.push(Role::User, text, None, Part::Remark);
    }

    /// What came of an action; `short` says where the whole is kept.
    pub fn observed(&mut self, label: &str, text: &str, short: String) {
        let block = self.block(label, text);
        let short = (short.chars().count() < block.chars().count()).then_some(short);
        self.push(Role::User, block, short, Part::Observed);
    }

    /// A picture that belongs to what was told last.
    pub fn pictured(&mut self, picture: Option<Picture>) {
        if let Some(last) = self.messages.last_mut() {
            last.picture = picture;
        }
    }

    /// The text of skills, which stays as long as the conversation.
    pub fn loaded(&mut self, label: &str, text: &str, skills: Vec<String>) {
        let block = self.block(label, text);
        self.push(Role::User, block, None, Part::Loaded(skills));
    }

    /// Characters of the conversation.
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Shortens old observations when the conversation nears `limit`, and what earlier runs were told where that is
    /// not enough; says how many places.
    pub fn compact(&mut self, limit: usize) -> usize {
        match self.chars <= limit / FULL.1 * FULL.0 {
            true => 0,
            false => self.shorten(limit),
        }
    }

    /// The same at once.
    pub(crate) fn shorten(&mut self, limit: usize) -> usize {
        // Whoever asked for something should see it, so the newest stays whole as far as it fits at all.
        let newest = self.messages.iter().rposition(|message| message.short.is_some());
        let mut shortened = 0;
        for (place, message) in self.messages.iter_mut().enumerate() {
            let enough = if Some(place) == newest { limit } else { limit / ROOMY.1 * ROOMY.0 };
            if self.chars <= enough {
                continue;
            }
            let Some(short) = message.short.take() else { continue };
            message.picture = None;
            let others = self.chars - message.text.chars().count();
            if Some(place) == newest {
                message.text = cut(&message.text, &short, limit.saturating_sub(others));
                // What is cut now makes way when something newer comes.
                message.short = (message.text != short).then_some(short);
            } else {
                message.text = short;
            }
            self.chars = others + message.text.chars().count();
            shortened += 1;
        }
        shortened += self.shorten_links(limit / ROOMY.1 * ROOMY.0);
        if shortened > 0 {
            self.rehash();
        }
        shortened
    }

    /// What to send now.
    pub fn prompt(&self, state: String, attempt: u32) -> Prompt<'_> {
        let mut hash = self.hash.clone();
        Self::absorb(&mut hash, Role::User, &state);
        Prompt {
            system: &self.system,
            messages: &self.messages,
            chars: self.chars + state.chars().count(),
            sha256: hash.into(),
            attempt,
            state,
            last: None,
            limits: Limits::default(),
        }
    }
}

/// As much of a block as there is room for, with its end and where the whole is; that alone where there is none.
fn cut(block: &str, short: &str, room: usize) -> String {
    let end = block.lines().next_back().unwrap_or_default();
    let rest = format!("\n{short}\n{end}");
    match room.saturating_sub(rest.chars().count()) {
        0..LEAST => short.to_owned(),
        room => format!("{}{rest}", basics::text::prefix(block, room)),
    }
}
