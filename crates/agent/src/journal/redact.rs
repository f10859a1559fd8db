//! Secrets are taken out of what a run is told, so that neither its record nor a prompt has them.
//!
//! It happens before an input reaches the run, so a replay, which feeds the recorded inputs, is exact.
//!
//! Invariants: the time is linear in the text; what was redacted once stays as it is.

mod patterns;
mod streamed;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use regex::{Captures, Regex, RegexBuilder};
use serde_json::Value;
use tools::permission::Answer;

use crate::step::{Input, Observation, Prepared, Refusal, Reply};
pub use streamed::Streamed;

use patterns::{ASSIGNMENT, TOKENS, is_secret_name, looks_random, looks_secret};

/// The shortest value that counts as a secret: shorter ones are found in innocent words.
const SHORTEST: usize = 8;
/// A value of small letters alone counts from this length on: shorter ones are words, `production` or
/// `completed`.
const SHORTEST_WORD: usize = 20;

/// Takes secrets out of texts.
#[derive(Clone)]
pub struct Redactor {
    tokens: Regex,
    assignment: Regex,
    /// With the word that stands for what they find.
    given: Vec<(Regex, &'static str)>,
    /// What is known to be secret, word for word.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It knows secrets.
        f.debug_struct("Redactor").field("patterns", &self.given.len()).finish_non_exhaustive()
    }
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("the pattern `{pattern}` cannot be used")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// Why.
    pub source: regex::Error,
}

impl InvalidPattern {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "write it in the syntax of Rust's `regex`, which has no look-around and no back references"
    }
}

impl Redactor {
    /// Knows the usual tokens, `secrets` of the environment, and what the configured `patterns` match.
    pub fn new<'t>(
        secrets: impl IntoIterator<Item = &'t str>,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, InvalidPattern> {
        let mut secrets: Vec<&str> =
            secrets.into_iter().map(str::trim).filter(|secret| is_distinctive(secret)).collect();
        // The longest first, in case one begins with another.
        secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        let secrets: Vec<String> = secrets.into_iter().map(str::to_owned).collect();
        let literals: Vec<String> = secrets.iter().map(|secret| regex::escape(secret)).collect();
        let mut given = Vec::new();
        if !literals.is_empty() {
            given.push((compile(&literals.join("|"))?, "environment"));
        }
        for pattern in patterns {
            given.push((compile(pattern)?, "configured"));
        }
        Ok(Self { tokens: compile(TOKENS)?, assignment: compile(ASSIGNMENT)?, given, secrets })
    }

    /// The text without its secrets; each is replaced by `[redacted:KIND]`.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        for (pattern, kind) in &self.given {
            replace(&mut clean, pattern, |found| (!found[0].is_empty()).then(|| mark(kind)));
        }
        replace(&mut clean, &self.tokens, token);
        replace(&mut clean, &self.assignment, |found| {
            looks_secret(&found["value"])
                .then(|| format!("{}{}", &found["name"], mark("assignment")))
        });
        clean
    }

    /// The same for a text that arrives in pieces.
    pub fn streamed(&self) -> Streamed<'_> {
        Streamed::new(self)
    }

    /// An input without secrets in any of its texts.
    pub fn apply(&self, input: Input) -> Input {
        let Ok(mut value) = serde_json::to_value(&input) else { return withheld(&input) };
        match self.value(&mut value) {
            false => input,
            // A configured pattern can match a word that the input's structure needs.
            true => serde_json::from_value(value).unwrap_or_else(|_| withheld(&input)),
        }
    }

    /// An observation without secrets in any of its texts.
    pub(crate) fn observation(&self, observation: Observation) -> Observation {
        match self.apply(Input::Observed(observation)) {
            Input::Observed(observation) => observation,
            _ => unreachable!("an observation stays one"),
        }
    }

    /// Content that is kept beside the record, without secrets; what is not text is left as it is.
    pub(crate) fn content<'c>(&self, content: &'c [u8]) -> Cow<'c, [u8]> {
        match std::str::from_utf8(content).map(|text| self.text(text)) {
            Ok(Cow::Owned(clean)) => Cow::Owned(clean.into_bytes()),
            _ => Cow::Borrowed(content),
        }
    }

    /// Takes secrets out of every text in a value; says whether there were any.
    pub fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => false,
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
            },
            Value::Array(items) => {
                items.iter_mut().fold(false, |found, item| self.value(item) | found)
            }
            Value::Object(map) => {
                map.iter_mut().fold(false, |found, (key, value)| self.entry(key, value) | found)
            }
            _ => false,
        }
    }

    /// What stands beside `password` is one, where it looks like it.
    fn entry(&self, key: &str, value: &mut Value) -> bool {
        match value {
            Value::String(text) if is_secret_name(key) && looks_secret(text) => {
                *text = mark("assignment");
                true
            }
            value => self.value(value),
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, InvalidPattern> {
    RegexBuilder::new(pattern)
        .size_limit(16 << 20)
        .build()
        .map_err(|source| InvalidPattern { pattern: pattern.to_owned(), source })
}

fn is_distinctive(secret: &str) -> bool {
    let is_word = secret.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'_' | b'-'));
    secret.len() >= if is_word { SHORTEST_WORD } else { SHORTEST }
}

fn mark(kind: &str) -> String {
    format!("[redacted:{kind}]")
}

/// Replaces what a pattern finds, where `with` has something to replace it with.
fn replace(
    text: &mut Cow<'_, str>,
    pattern: &Regex,
    with: impl Fn(&Captures<'_>) -> Option<String>,
) {
    let mut clean: Option<String> = None;
    let mut done = 0;
    for found in pattern.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        let Some(replacement) = with(&found) else { continue };
        let clean = clean.get_or_insert_default();
        clean.push_str(&text[done..whole.start()]);
        clean.push_str(&replacement);
        done = whole.end();
    }
    if let Some(mut clean) = clean {
        clean.push_str(&text[done..]);
        *text = Cow::Owned(clean);
    }
}

/// What stands for a token; nothing if it only looks like one from afar.
fn token(found: &Captures<'_>) -> Option<String> {
    if let Some(key) = found.name("sk_key") {
        return looks_random(key.as_str()).then(|| mark("api_key"));
    }
    let kinds = [
        "private_key",
        "github_token",
        "gitlab_token",
        "aws_key",
        "slack_token",
        "google_key",
        "jwt",
    ];
    if let Some(kind) = kinds.into_iter().find(|kind| found.name(kind).is_some()) {
        return Some(mark(kind));
    }
    // Around these, what is no secret stays.
    if let (Some(word), Some(bearer)) = (found.name("bearer_word"), found.name("bearer")) {
        return looks_secret(bearer.as_str())
            .then(|| format!("{}{}", word.as_str(), mark("bearer")));
    }
    let user = found.name("url_user")?.as_str();
    Some(format!("{user}{}@", mark("url_password")))
}

/// What the run is told when redacting would leave nothing it can understand.
fn withheld(input: &Input) -> Input {
    let refusal = Refusal::new(
        "Redacted",
        "a configured pattern for secrets matches what the run needs to go on",
        "make the pattern match less",
    );
    match input {
        Input::Replied(_) => {
            let Refusal { code, message, .. } = refusal;
            Input::Replied(Reply::Failed { code, message, retry_after_ms: None })
        }
        Input::Prepared(_) => Input::Prepared(Prepared::Refused { refusal }),
        Input::Answered(_) => Input::Answered(Answer::Reject { message: Some(refusal.message) }),
        Input::Observed(_) => Input::Observed(Observation::failed(&refusal)),
        Input::Cancelled => Input::Cancelled,
    }
}
