//! Secrets are taken out of what a run is told, so that neither its record nor a prompt has them.
//!
//! It happens before an input reaches the run, so a replay, which feeds the recorded inputs, is exact.
//!
//! Invariants: the time is linear in the text; what was redacted once stays as it is.

mod filtered;
mod patterns;
mod streamed;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{Arc, PoisonError, RwLock};

use agent::observation::Observation;
use agent::question::QuestionAnswer;
use agent::reply::Reply;
use agent::request::{Prepared, Refusal};
use agent::step::Input;
use basics::failure::{Exit, Explain};
pub(crate) use filtered::{Filtered, Passed};
use permission::Answer;
use regex::{Captures, Regex, RegexBuilder};
use serde_json::{Map, Value};
pub use streamed::Streamed;

use patterns::{ASSIGNMENT, TOKENS, is_secret_name, looks_random, looks_secret};

/// The shortest value that counts as a secret: shorter ones are found in innocent words.
const SHORTEST: usize = 8;
/// A value of small letters alone counts from this length on: shorter ones are words, `production` or
/// `completed`.
const SHORTEST_WORD: usize = 12;
/// What somebody said is a secret counts from this length on, whatever it looks like.
const SHORTEST_ANSWER: usize = 4;

/// Takes secrets out of texts. What one learns is known to its clones, too.
#[derive(Clone)]
pub struct Redactor {
    rules: Vec<(Regex, Rule)>,
    known: Arc<RwLock<Arc<Known>>>,
}

/// What is known to be secret, word for word.
#[derive(Default)]
struct Known {
    /// The longest first, in case one begins with another.
    secrets: Vec<String>,
    /// Any of them.
    pattern: Option<Regex>,
}

impl Known {
    fn new(mut secrets: Vec<String>) -> Result<Self, InvalidPattern> {
        secrets.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then(one.cmp(other)));
        secrets.dedup();
        let literals: Vec<String> = secrets.iter().map(|secret| regex::escape(secret)).collect();
        let pattern = match literals.is_empty() {
            true => None,
            false => Some(compile(&literals.join("|"))?),
        };
        Ok(Self { secrets, pattern })
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // It knows secrets.
        f.debug_struct("Redactor").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}

/// What is done about what a pattern finds.
#[derive(Clone, Copy)]
enum Rule {
    /// All of it goes; the word stands for it.
    All(&'static str),
    Token,
    Assignment,
}

impl Rule {
    /// What stands for what was found; nothing if that is no secret after all.
    fn replacement(self, found: &Captures<'_>) -> Option<String> {
        match self {
            Self::All(kind) => (!found[0].is_empty()).then(|| mark(kind)),
            Self::Token => token(found),
            Self::Assignment => {
                let is_secret = found.name("call").is_none() && looks_secret(&found["value"]);
                is_secret.then(|| format!("{}{}", &found["name"], mark("assignment")))
            }
        }
    }
}

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("cannot use the pattern `{pattern}`")]
pub struct InvalidPattern {
    /// The pattern.
    pub pattern: String,
    /// Why.
    pub source: regex::Error,
}

impl Redactor {
    /// Knows the usual tokens, `secrets` of the environment, and what the configured `patterns` match.
    pub fn new<'t>(
        secrets: impl IntoIterator<Item = &'t str>,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, InvalidPattern> {
        let secrets = secrets.into_iter().map(str::trim).filter(|secret| is_distinctive(secret));
        let known = Known::new(secrets.flat_map(spellings).collect())?;
        let mut rules = Vec::new();
        for pattern in patterns {
            rules.push((compile(pattern)?, Rule::All("configured")));
        }
        rules.push((compile(TOKENS)?, Rule::Token));
        rules.push((compile(ASSIGNMENT)?, Rule::Assignment));
        Ok(Self { rules, known: Arc::new(RwLock::new(Arc::new(known))) })
    }

    /// Takes this out of everything from now on; says whether it can, since what is very short is found everywhere, and
    /// what is huge cannot be looked for.
    pub fn learn(&self, secret: &str) -> bool {
        let secret = secret.trim();
        if secret.chars().count() < SHORTEST_ANSWER {
            return false;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let secrets = known.secrets.iter().cloned().chain(spellings(secret)).collect();
        let Ok(more) = Known::new(secrets) else { return false };
        *known = Arc::new(more);
        true
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The text without its secrets; each is replaced by `[redacted:KIND]`.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut clean = Cow::Borrowed(text);
        if let Some(pattern) = &self.known().pattern {
            replace(&mut clean, pattern, |_| Some(mark("environment")));
        }
        for (pattern, rule) in &self.rules {
            replace(&mut clean, pattern, |found| rule.replacement(found));
        }
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

    /// Content that is kept beside the record, without secrets; what is not text in it is left as it is.
    pub(crate) fn content<'c>(&self, content: &'c [u8]) -> Cow<'c, [u8]> {
        let mut clean: Option<Vec<u8>> = None;
        let mut done = 0;
        for chunk in content.utf8_chunks() {
            let end = done + chunk.valid().len();
            if let Cow::Owned(text) = self.text(chunk.valid()) {
                clean.get_or_insert_with(|| content[..done].to_vec()).extend(text.into_bytes());
            } else if let Some(clean) = &mut clean {
                clean.extend(&content[done..end]);
            }
            done = end + chunk.invalid().len();
            if let Some(clean) = &mut clean {
                clean.extend(chunk.invalid());
            }
        }
        clean.map_or(Cow::Borrowed(content), Cow::Owned)
    }

    /// A mark in `written` that stands for a secret in `present`, the text that it would replace.
    pub(crate) fn lost<'t>(&self, present: &str, written: &'t str) -> Option<&'t str> {
        let clean = self.text(present);
        let marks = written.match_indices(MARK).filter_map(|(start, _)| {
            let end = written[start..].find(']')?;
            Some(&written[start..=start + end])
        });
        let mut marks = marks.filter(|mark| {
            let count = |text: &str| text.matches(*mark).count();
            count(written) > count(present) && count(&clean) > count(present)
        });
        marks.next()
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
                let found = map
                    .iter_mut()
                    .fold(false, |found, (key, value)| self.entry(key, value) | found);
                self.keys(map) | found
            }
            _ => false,
        }
    }

    /// Models put secrets into names, too.
    fn keys(&self, map: &mut Map<String, Value>) -> bool {
        if map.keys().all(|key| matches!(self.text(key), Cow::Borrowed(_))) {
            return false;
        }
        for (key, value) in std::mem::take(map) {
            map.insert(self.text(&key).into_owned(), value);
        }
        true
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
    let is_word = secret.bytes().all(|byte| byte.is_ascii_lowercase());
    secret.len() >= if is_word { SHORTEST_WORD } else { SHORTEST }
}

/// A secret as it is, and as it stands in JSON.
fn spellings(secret: &str) -> Vec<String> {
    let quoted = Value::from(secret).to_string();
    let inner = quoted[1..quoted.len() - 1].to_owned();
    if inner == secret { vec![inner] } else { vec![secret.to_owned(), inner] }
}

/// How what stands for a secret begins.
const MARK: &str = "[redacted:";

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Whether something in a text stands, or may stand, for a secret.
pub(crate) fn is_redacted(text: &str) -> bool {
    text.contains(MARK)
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
            Input::Replied(Reply::failed(code, message))
        }
        Input::Prepared(_) => Input::Prepared(Prepared::Refused { refusal }),
        Input::Answered(_) => Input::Answered(Answer::Reject { message: Some(refusal.message) }),
        Input::Observed(_) => Input::Observed(Observation::failed(&refusal)),
        Input::QuestionAnswered(_) => {
            Input::QuestionAnswered(QuestionAnswer::No(Some(refusal.message)))
        }
        Input::Cancelled => Input::Cancelled,
        Input::Resumed(terms) => Input::Resumed(terms.clone()),
    }
}

impl Explain for InvalidPattern {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn code(&self) -> &'static str {
        "InvalidConfiguration"
    }

    fn hint(&self) -> Cow<'static, str> {
        "use the syntax of Rust's `regex`, without look-around and back references".into()
    }
}
