//! A model that replies what a script says: for evals, tests and demonstrations, offline and the same every time.
//!
//! Invariant: a reply depends on the script and the prompt alone, but for tries that failed since the last reply. Which
//! turn it is, is counted in the conversation, so a run that is resumed by another process goes on where it was.
//!
//! ```
//! use skillful_model::scripted::{Script, Scripted};
//!
//! let script = Script::parse(
//!     r#"{
//!         "turns": [
//!             {"text": "not JSON: the run asks again"},
//!             {"action": {"type": "final_answer", "payload": {"content": "done"}}, "fault": {"kind": "delay", "milliseconds": 20}}
//!         ],
//!         "streaming": {"enabled": true, "chunk_bytes": 12}
//!     }"#,
//! )?;
//! let _model = Scripted::new(&script)?;
//! # Ok::<(), skillful_model::scripted::ScriptError>(())
//! ```

mod script;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use agent::context::{Message, Prompt, Role};
use agent::model::{Cancel, Model};
use agent::reply::Reply;

pub use script::{Fault, Script, ScriptError, Streaming, Turn};

use crate::decision::{estimated_usage, reply};
use crate::failure::{Again, CallError};
use crate::remote::Backoff;
use crate::status::{Head, refused};

/// A model that replies what a script says, one turn a call.
#[derive(Clone, Debug)]
pub struct Scripted {
    turns: Vec<Play>,
    subagents: BTreeMap<String, Vec<Play>>,
    chunk_bytes: usize,
    backoff: Backoff,
    /// Since the last reply.
    failures: usize,
}

/// A turn that was checked.
#[derive(Clone, Debug)]
struct Play {
    text: String,
    fault: Option<Fault>,
}

impl Scripted {
    /// A model for a script whose turns make sense.
    pub fn new(script: &Script) -> Result<Self, ScriptError> {
        let plays = |path: &str, turns: &[Turn]| -> Result<Vec<Play>, ScriptError> {
            let numbered = turns.iter().enumerate();
            numbered.map(|(place, turn)| Play::new(turn, format!("{path}[{place}]"))).collect()
        };
        let subagents = script.subagents.iter();
        let streaming = &script.streaming;
        Ok(Self {
            turns: plays("turns", &script.turns)?,
            subagents: subagents
                .map(|(skill, turns)| {
                    Ok((skill.clone(), plays(&format!("subagents.{skill}"), turns)?))
                })
                .collect::<Result<_, ScriptError>>()?,
            chunk_bytes: if streaming.enabled { streaming.chunk_bytes.get() } else { usize::MAX },
            backoff: Backoff::default(),
            failures: 0,
        })
    }

    /// The same model, asked again so often after a failure that may pass.
    pub fn with_retries(self, retries: u32) -> Self {
        Self { backoff: Backoff { retries, ..self.backoff }, ..self }
    }

    /// The turns for this conversation: its own, where it is a subagent's that has some.
    fn turns(&self, prompt: &Prompt<'_>) -> &[Play] {
        let preloaded = own(prompt).get(1).and_then(|message| skill_in_context(&message.text));
        preloaded.and_then(|skill| self.subagents.get(skill)).unwrap_or(&self.turns)
    }
}

impl Model for Scripted {
    fn decide(
        &mut self,
        prompt: &Prompt<'_>,
        cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Reply {
        let turns = self.turns(prompt);
        let number = own(prompt).iter().filter(|message| is_call(message)).count();
        let Some(Play { text, fault }) = turn(turns, number, self.failures).cloned() else {
            let asked = turns.len().max(number + self.failures) + 1;
            let message = format!("turn {asked} was asked for, the script has {}", turns.len());
            return failed("ScriptEnded", message);
        };
        if let Some(Fault::Delay { milliseconds }) = fault {
            wait(milliseconds, cancel);
        }
        let error = fault.as_ref().and_then(|fault| fault.error(&text));
        let sent = match fault {
            Some(Fault::HttpError { .. }) => 0,
            Some(Fault::CutStream { after_bytes }) => text.len().min(after_bytes),
            _ => text.len(),
        };
        stream(&text.as_bytes()[..sent], self.chunk_bytes, cancel, delta);
        if cancel.requested() {
            return failed("Cancelled", "the call was cancelled".to_owned());
        }
        if let Some(error) = error {
            self.failures += 1;
            let failures = u32::try_from(self.failures).unwrap_or(u32::MAX);
            return self.backoff.reply("the scripted model", &error, failures, 1.0);
        }
        self.failures = 0;
        reply(&text, estimated_usage(prompt, &text))
    }
}

/// The turn for a call, after so many that left a trace in the conversation and so many that failed since.
fn turn(turns: &[Play], number: usize, failures: usize) -> Option<&Play> {
    turns.split_inclusive(|play| !play.may_pass()).nth(number)?.get(failures)
}

impl Play {
    /// Whether it is a failure after which the model is asked again.
    fn may_pass(&self) -> bool {
        let error = self.fault.as_ref().and_then(|fault| fault.error(&self.text));
        error.is_some_and(|error| error.again() != Again::Never)
    }
}

impl Fault {
    /// What a real model's failure would be taken for; nothing where there is a reply.
    fn error(&self, text: &str) -> Option<CallError> {
        match self {
            Self::Delay { .. } | Self::BadJson => None,
            Self::CutStream { after_bytes } => {
                let sent = text.len().min(*after_bytes);
                Some(CallError::Broken { reason: format!("the reply ends after {sent} bytes") })
            }
            Self::HttpError { status, message, retry_after } => {
                let head = Head {
                    status: *status,
                    retry_after: retry_after.map(|seconds| seconds.to_string()),
                    location: None,
                };
                let said = message.as_deref().unwrap_or("so the script says");
                Some(refused(&head, said.as_bytes(), jiff::Timestamp::UNIX_EPOCH))
            }
        }
    }
}

/// The messages of this run, which may continue another: from its request on.
fn own<'a>(prompt: &Prompt<'a>) -> &'a [Message] {
    let is_request = |message: &Message| message.text.starts_with("=== Request [");
    &prompt.messages[prompt.messages.iter().rposition(is_request).unwrap_or(0)..]
}

/// Whether a message is the trace of an earlier call: a decision, or the answer to a reply that was none.
fn is_call(message: &Message) -> bool {
    message.role == Role::Assistant || message.text.starts_with("[Correction] ")
}

/// The skill whose text a message brings along from the start of a run.
fn skill_in_context(text: &str) -> Option<&str> {
    let (label, _) = text.strip_prefix("=== Skill ")?.split_once('\n')?;
    Some(label.rsplit_once(" [")?.0)
}

fn failed(code: &str, message: String) -> Reply {
    Reply::failed(code, message)
}

/// Waits, unless somebody wants to stop.
fn wait(milliseconds: u64, cancel: &Cancel) {
    const PATIENCE: Duration = Duration::from_millis(10);
    let (began, whole) = (Instant::now(), Duration::from_millis(milliseconds));
    while let Some(left) = whole.checked_sub(began.elapsed())
        && !left.is_zero()
        && !cancel.requested()
    {
        std::thread::sleep(left.min(PATIENCE));
    }
}

/// Hands a text over as a network would: split at any byte, in pieces that are whole characters.
fn stream(bytes: &[u8], size: usize, cancel: &Cancel, delta: &mut dyn FnMut(&str)) {
    let mut waiting = Vec::new();
    for piece in bytes.chunks(size) {
        if cancel.requested() {
            return;
        }
        waiting.extend_from_slice(piece);
        let whole = waiting.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !whole.is_empty() {
            delta(whole);
        }
        waiting.drain(..whole.len());
    }
}

#[cfg(test)]
mod tests;
