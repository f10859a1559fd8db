//! Reading back what a run was told before: what was shortened since, or was too long to be shown.
//!
//! Invariant: only observations of this run and of those that it continues can be read, with what is kept for them, and
//! the answers of those; so nothing that the model has not been told of.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use agent::conversation::Link;
use agent::event::{Event, EventData};
use agent::observation::Observation;
use agent::request::Refusal;
use basics::sha256::Sha256;
use regex::RegexBuilder;
use serde_json::Value;

use super::{Workbench, io_error};
use crate::journal::{self, Journal, JournalError};

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
        let whole = find(reference.trim(), journal)?;
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

/// The whole content that a reference leads to, in this run or in an earlier one of the conversation.
fn find(reference: &str, journal: &Journal) -> Result<String, Refusal> {
    let failed = |error: JournalError| io_error(&error);
    let stored = |name: &str, sha256| journal.stored(name, sha256);
    let events = journal.events().map_err(failed)?;
    if let Some(found) = find_in(reference, &events, stored).map_err(failed)? {
        return Ok(found);
    }
    // Each says which one it continues, and where that one ended then.
    let runs = journal.folder().parent().unwrap_or(Path::new("."));
    let mut link = continues(&events);
    while let Some(Link { run, event, .. }) = link {
        let folder = runs.join(&run);
        let events = journal::read_until(&folder, &event).map_err(failed)?;
        if reference == run
            && let Some(answer) = events.iter().rev().find_map(answer)
        {
            return Ok(answer.to_owned());
        }
        let stored = |name: &str, sha256| journal::stored(&folder, name, sha256);
        if let Some(found) = find_in(reference, &events, stored).map_err(failed)? {
            return Ok(found);
        }
        link = continues(&events).filter(|next| next.run < run);
    }
    Err(Refusal::new(
        "NotFound",
        format!("this run has no content for `{}`", basics::text::for_terminal(reference)),
        "name the number of an observation, or the `storage_ref` that came with one",
    ))
}

/// The run that these events continue.
fn continues(events: &[Event]) -> Option<Link> {
    match &events.first()?.data {
        EventData::RunStarted(started) => started.setup.continues.clone(),
        _ => None,
    }
}

fn answer(event: &Event) -> Option<&str> {
    match &event.data {
        EventData::RunFinished(finished) => Some(&finished.answer),
        _ => None,
    }
}

/// The same in one record.
fn find_in(
    reference: &str,
    events: &[Event],
    stored: impl Fn(&str, Option<Sha256>) -> Result<Vec<u8>, JournalError>,
) -> Result<Option<String>, JournalError> {
    let mut done = None;
    for event in events {
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
        let is_meant = reference == recorded.number.to_string();
        match kept_names(observation).find(|(name, _)| is_meant || *name == reference) {
            Some((name, sha256)) => {
                return Ok(Some(String::from_utf8_lossy(&stored(name, sha256)?).into_owned()));
            }
            None if is_meant => return Ok(Some(observation.text.clone())),
            None => {}
        }
    }
    Ok(None)
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
