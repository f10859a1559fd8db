//! Reading back what a run was told before: what was shortened since, or was too long to be shown.
//!
//! Invariant: only observations of this run and what is kept for them can be read, so nothing that the model has not
//! been told of.

use std::borrow::Cow;
use std::collections::BTreeMap;

use agent::event::EventData;
use agent::observation::Observation;
use agent::request::Refusal;
use basics::sha256::Sha256;
use regex::RegexBuilder;
use serde_json::Value;

use super::{Workbench, io_error};
use crate::journal::Journal;

/// Bytes that a pattern may take when it is understood; a stranger may have written it.
const PATTERN: usize = 1 << 20;

impl Workbench<'_> {
    pub(super) fn read_back(
        &self,
        reference: &str,
        offset: usize,
        pattern: Option<&str>,
        journal: &Journal,
    ) -> Result<Observation, Refusal> {
        let whole = find(reference, journal)?;
        let length = whole.chars().count();
        let text = match pattern {
            Some(pattern) => matching(&unfold(&whole), pattern)?,
            None => whole,
        };
        let rest = text.char_indices().nth(offset).map_or("", |(start, _)| &text[start..]);
        if rest.is_empty() {
            let found = match pattern {
                Some(_) if text.is_empty() => "no line matches",
                _ => "there is nothing there",
            };
            return Ok(Observation::of(format!("{found}; the text has {length} characters")));
        }
        let shown = basics::text::prefix(rest, self.limits.excerpt_chars);
        if shown.len() == rest.len() {
            return Ok(Observation::of(shown));
        }
        let next = offset + shown.chars().count();
        Ok(Observation::of(format!(
            "{shown}\n[… goes on at offset {next} of {}]",
            text.chars().count()
        )))
    }
}

/// The whole content that a reference leads to.
fn find(reference: &str, journal: &Journal) -> Result<String, Refusal> {
    let events = journal.events().map_err(|error| io_error(&error))?;
    let mut done = None;
    for event in &events {
        let recorded = match &event.data {
            EventData::ActionExecuted(executed) => {
                done = Some(&executed.observation);
                continue;
            }
            EventData::ObservationRecorded(recorded) => recorded,
            _ => continue,
        };
        // What was refused was never done, and has no content.
        let Some(observation) = done.take() else { continue };
        let is_meant = reference.trim() == recorded.number.to_string();
        match kept_names(observation).find(|(name, _)| is_meant || *name == reference) {
            Some((name, sha256)) => {
                let bytes = journal.stored(name, sha256).map_err(|error| io_error(&error))?;
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
            None if is_meant => return Ok(observation.text.clone()),
            None => {}
        }
    }
    Err(Refusal::new(
        "NotFound",
        format!("this run has no content for `{}`", basics::text::for_terminal(reference)),
        "name the number of an observation, or the `storage_ref` that came with one",
    ))
}

/// Where the whole content of an observation is kept.
fn kept_names(observation: &Observation) -> impl Iterator<Item = (&str, Option<Sha256>)> {
    let streams = [&observation.facts.stdout, &observation.facts.stderr].into_iter().flatten();
    let streams = streams.filter_map(|stream| Some((stream.name.as_deref()?, Some(stream.sha256))));
    let loaded = observation.loaded.iter().filter_map(|loaded| loaded.storage_ref());
    let stored = observation.storage_ref.as_deref().into_iter().chain(loaded);
    streams.chain(stored.map(|name| (name, None)))
}

/// A result of a tool is one line of JSON: the lines are in its texts.
fn unfold(text: &str) -> Cow<'_, str> {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, Value>>(text) else {
        return Cow::Borrowed(text);
    };
    let texts = fields.values().filter_map(Value::as_str).filter(|text| text.contains('\n'));
    match texts.collect::<Vec<_>>().join("\n") {
        lines if lines.is_empty() => Cow::Borrowed(text),
        lines => Cow::Owned(lines),
    }
}

/// The lines that match, with their numbers.
fn matching(text: &str, pattern: &str) -> Result<String, Refusal> {
    let pattern = RegexBuilder::new(pattern).size_limit(PATTERN).build().map_err(|error| {
        Refusal::new(
            "InvalidAction",
            format!("the pattern cannot be understood: {error}"),
            "write a regular expression, or leave the pattern out",
        )
    })?;
    let lines = text.lines().zip(1_usize..).filter(|(line, _)| pattern.is_match(line));
    Ok(lines.map(|(line, number)| format!("{number}: {line}\n")).collect())
}
