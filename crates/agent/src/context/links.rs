//! What was told over several runs: how it goes from one to the next, and how it becomes shorter.

use serde_json::{Value, json};

use super::{Context, Message, Part, Role};
use crate::conversation::{StaleSkill, Staleness};

/// Characters of a text in an earlier decision or answer that stay when it is shortened.
const BEGINNING: usize = 80;
/// What is folded into a line of its own first.
const STEPS: [Part; 3] = [Part::Decision, Part::Observed, Part::Remark];

/// Everything that was told so far, observations shortened.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    messages: Vec<Message>,
    fence: String,
    runs: Vec<String>,
}

impl Told {
    /// Takes back the text of skills that are not what they were; answers with the names of all that were in it.
    pub(crate) fn forget(&mut self, stale: &[StaleSkill]) -> Vec<String> {
        let mut forgotten: Vec<String> = Vec::new();
        for message in &mut self.messages {
            let Part::Loaded(names) = &message.part else { continue };
            if !names.iter().any(|name| stale.iter().any(|skill| skill.name == *name)) {
                continue;
            }
            forgotten.extend(names.iter().cloned());
            message.text = format!("[The text of {} was here]", names.join(", "));
            message.part = Part::Remark;
        }
        forgotten
    }
}

impl Context {
    /// Everything that was told so far, for a run that continues this one.
    pub(crate) fn told(&self) -> Told {
        let mut messages = self.messages.clone();
        for message in &mut messages {
            message.picture = None;
            if let Some(short) = message.short.take() {
                message.text = short;
            }
        }
        Told { messages, fence: self.fence.clone(), runs: self.runs.clone() }
    }

    /// A conversation that goes on after `told` with other rules and the next request.
    pub(crate) fn continued(told: Told, run_id: &str, system: String, request: &str) -> Self {
        let mut context = Self::empty(told.fence, system);
        context.runs = told.runs;
        context.messages = told.messages;
        context.chars +=
            context.messages.iter().map(|message| message.text.chars().count()).sum::<usize>();
        context.rehash();
        context.runs.push(run_id.to_owned());
        context.request(request);
        context
    }

    /// Says which skills are not what they were.
    pub(crate) fn stale(&mut self, stale: &[StaleSkill]) {
        for StaleSkill { name, state } in stale {
            self.remark(match state {
                Staleness::Changed => format!(
                    "[The skill {name} changed since it was loaded. Select it again before you use it.]"
                ),
                Staleness::Gone => format!("[The skill {name} cannot be used any more.]"),
            });
        }
    }

    /// Shortens what earlier runs were told until it has `room`, the oldest first; says how many places.
    ///
    /// Requests and skills stay, and so does the last answer.
    pub(super) fn shorten_links(&mut self, room: usize) -> usize {
        let current = self.link();
        let mut shortened = 0;
        for place in 0..self.messages.len() {
            if self.chars <= room {
                return shortened;
            }
            let message = &self.messages[place];
            let text = match message.part {
                Part::Answer if message.link + 1 < current => {
                    let run = &self.runs[message.link as usize];
                    abridged_answer(&message.text, run)
                }
                Part::Decision if message.link < current => abridged(&message.text),
                _ => continue,
            };
            shortened += self.exchange(place, text);
        }
        for parts in [&STEPS[..], &[Part::Folded, Part::Answer]] {
            while self.chars > room {
                let Some(folded) = self.fold_oldest(parts) else { break };
                shortened += folded;
            }
        }
        shortened
    }

    /// Puts these parts of the oldest run that has any into one line; the last answer stays.
    fn fold_oldest(&mut self, parts: &[Part]) -> Option<usize> {
        let current = self.link();
        let is_old = |message: &Message| match message.part {
            Part::Answer => message.link + 1 < current,
            _ => message.link < current,
        };
        let is_meant = |message: &&Message| parts.contains(&message.part) && is_old(message);
        // A line is not folded for its own sake.
        let oldest = self
            .messages
            .iter()
            .filter(is_meant)
            .find(|message| message.part != Part::Folded)?
            .link;
        let is_meant = |message: &Message| is_meant(&message) && message.link == oldest;
        let first = self.messages.iter().position(is_meant)?;
        let folded: Vec<&Message> =
            self.messages.iter().filter(|message| is_meant(message)).collect();
        let run = &self.runs[oldest as usize];
        let line = match folded.iter().any(|message| message.part == Part::Answer) {
            true => format!(
                "[What run {run} did and answered is left out here; read_observation \"{run}\" shows the answer]"
            ),
            false => format!("[What run {run} did is left out here{}]", numbers(&folded)),
        };
        let count = folded.len();
        let mut place = 0;
        self.messages.retain_mut(|message| {
            place += 1;
            if place - 1 == first {
                message.text.clone_from(&line);
                message.role = Role::User;
                message.part = Part::Folded;
                return true;
            }
            !is_meant(message)
        });
        self.chars = self.system.chars().count()
            + self.messages.iter().map(|message| message.text.chars().count()).sum::<usize>();
        Some(count)
    }

    /// Puts a shorter text into the place of another.
    fn exchange(&mut self, place: usize, text: String) -> usize {
        let message = &mut self.messages[place];
        let (old, new) = (message.text.chars().count(), text.chars().count());
        if new >= old {
            return 0;
        }
        message.text = text;
        self.chars = self.chars - old + new;
        1
    }
}

/// How these observations can be read back.
fn numbers(folded: &[&Message]) -> String {
    let seen: Vec<&str> = folded.iter().filter_map(|message| number(message)).collect();
    match (seen.first(), seen.last()) {
        (Some(first), Some(last)) => {
            format!("; read_observation \"{first}\" to \"{last}\" show what came of it")
        }
        _ => String::new(),
    }
}

/// The number of an observation, from its line.
fn number(message: &Message) -> Option<&str> {
    if message.part != Part::Observed {
        return None;
    }
    let rest = message.text.split_once("Observation ")?.1;
    let number = rest.split(' ').next()?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// A decision with the beginnings of its texts.
fn abridged(decision: &str) -> String {
    match serde_json::from_str::<Value>(decision) {
        Ok(mut value) => {
            cut(&mut value, "…");
            value.to_string()
        }
        Err(_) => decision.to_owned(),
    }
}

fn cut(value: &mut Value, end: &str) {
    match value {
        Value::String(text) if text.chars().count() > BEGINNING => {
            *text = format!("{}{end}", basics::text::prefix(text, BEGINNING));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| cut(item, end)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut(field, end)),
        _ => {}
    }
}

/// The beginning of an answer, and how to read the rest of it.
fn abridged_answer(answer: &str, run: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(answer) else { return answer.to_owned() };
    cut(&mut value, &format!("… [shortened; read_observation \"{run}\" shows it]"));
    json!(value).to_string()
}
