//! `events.jsonl` as lines: which are complete, and what is in them.

use std::path::Path;

use agent::event::Event;
use basics::sha256::Sha256;
use serde::Deserialize;
use state::{Folder, StateError};

use super::detach::{DEPTH, Reference, Unattached, attach};
use super::error::JournalError;
use super::line::Line;
use super::record_folder::RecordFolder;
use super::{content, limits, seal::Seals};
pub(super) use agent::stored::EVENTS;

/// The file of a run's events.
/// The file of their hashes.
pub(super) const SEALS: &str = "events.seal";

/// The record of a run as it is on disk.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) events: Vec<u8>,
    /// Nothing if there is no such file.
    pub(super) seals: Option<Seals>,
}

impl Files {
    pub(super) fn read(place: &RecordFolder) -> Result<Self, JournalError> {
        // The seals first: a process that is writing adds to the events after them.
        let seals = match place.own().read(SEALS, limits::SEALS) {
            Ok(bytes) => Some(Seals::parse(&bytes)),
            Err(error) if error.is_missing() => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Self { events: read_events(place)?, seals })
    }
}

/// The bytes of `events.jsonl`.
pub(super) fn read_events(place: &RecordFolder) -> Result<Vec<u8>, JournalError> {
    let bytes =
        place.own().read(EVENTS, limits::EVENTS).map_err(|error| match error.is_missing() {
            true => JournalError::NotFound { folder: place.path().to_owned() },
            false => JournalError::from(error),
        })?;
    match weight(&bytes) <= limits::WEIGHT {
        true => Ok(bytes),
        false => Err(JournalError::TooHeavy { folder: place.path().to_owned() }),
    }
}

/// How many bytes of memory events take at most that have this text.
fn weight(text: &[u8]) -> u64 {
    let (mut weight, mut quoted, mut escaped) = (0_u64, false, false);
    for byte in text {
        weight += match byte {
            _ if escaped => 1,
            // An event, or a piece of nothing that is told apart from one.
            b'\n' => 400,
            // The first node of a map, the first room of a list, one more in either.
            b'{' if !quoted => 700,
            b'[' if !quoted => 150,
            b',' if !quoted => 120,
            _ => 1,
        };
        match byte {
            // No text goes on in the next line.
            b'\n' => (quoted, escaped) = (false, false),
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ => {}
        }
    }
    weight
}

/// Complete lines, and what follows the last newline.
pub(super) fn split(bytes: &[u8]) -> (Vec<&[u8]>, &[u8]) {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let (complete, torn) = bytes.split_at(end);
    let mut lines: Vec<&[u8]> = complete.split(|byte| *byte == b'\n').collect();
    // What follows the last newline is in `torn`.
    lines.pop();
    (lines, torn)
}

/// Why a text is no event.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoEvent {
    #[error("it is nested too deep")]
    TooDeep,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl NoEvent {
    /// Whether the text can be the beginning of an event, as a kill leaves it.
    pub(super) fn is_cut_off(&self) -> bool {
        matches!(self, Self::Json(error) if error.is_eof())
    }
}

/// One line, with references in its data.
pub(super) fn parse(line: &[u8]) -> Result<Line, NoEvent> {
    // Strangers can put anything into a file, and reading is recursive.
    if depth(line) > DEPTH + 8 {
        return Err(NoEvent::TooDeep);
    }
    let mut reader = serde_json::Deserializer::from_slice(line);
    // What fits into a model's reply is a few levels deeper here; the usual limit would be too low.
    reader.disable_recursion_limit();
    let line = Line::deserialize(&mut reader)?;
    reader.end()?;
    Ok(line)
}

/// How deep a JSON text is nested.
fn depth(text: &[u8]) -> usize {
    let (mut now, mut deepest): (usize, usize) = (0, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => now += 1,
            b'}' | b']' if !quoted => now = now.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

/// The events of a run, with their whole data. What another process is writing may be missing at the end.
pub fn read(folder: &Path) -> Result<Vec<Event>, JournalError> {
    read_at(&RecordFolder::open(folder)?)
}

/// The events of a run up to the one with this hash, each of which follows the one before.
pub fn read_until(folder: &Path, event: &Sha256) -> Result<Vec<Event>, JournalError> {
    let place = RecordFolder::open(folder)?;
    let bytes = read_events(&place)?;
    let (lines, _) = split(&bytes);
    let hashes: Vec<Sha256> = lines.iter().map(Sha256::of).collect();
    let other = || JournalError::OtherEnd { run_id: place.name().into_owned() };
    let end = hashes.iter().position(|hash| hash == event).ok_or_else(other)? + 1;
    let events = attached(&place, &lines[..end])?;
    let mut before = String::new();
    for (event, hash) in events.iter().zip(&hashes) {
        if event.prev != before {
            return Err(other());
        }
        before = hash.to_string();
    }
    Ok(events)
}

/// The same of a run whose folder is open.
pub(super) fn read_at(place: &RecordFolder) -> Result<Vec<Event>, JournalError> {
    let bytes = read_events(place)?;
    attached(place, &split(&bytes).0)
}

fn attached(place: &RecordFolder, lines: &[&[u8]]) -> Result<Vec<Event>, JournalError> {
    let mut texts = Texts::new(place.own());
    let events = lines.iter().zip(1..).map(|(line, seq)| {
        let folder = || place.path().to_owned();
        let damaged = |message| JournalError::Damaged { folder: folder(), seq, message };
        let line = parse(line).map_err(|error| damaged(error.to_string()))?;
        texts.attach(line).map_err(|error| damaged(error.to_string()))
    });
    events.collect()
}

/// An event with nothing in place of its long texts.
pub(super) fn without_texts(line: Line) -> Result<Event, Unattached> {
    let data = attach(line.data, &mut |_| Ok(String::new()))?;
    read_line(Line { data, ..line })
}

fn read_line(line: Line) -> Result<Event, Unattached> {
    line.read().map_err(|error| Unattached::Malformed(error.to_string()))
}

/// The long texts of a record: many events can refer to one text, so all of them together have a limit.
pub(super) struct Texts<'a> {
    run: &'a Folder,
    left: u64,
}

impl<'a> Texts<'a> {
    pub(super) fn new(run: &'a Folder) -> Self {
        Self { run, left: limits::TOGETHER }
    }

    /// An event with its long texts back in place.
    pub(super) fn attach(&mut self, line: Line) -> Result<Event, Unattached> {
        let data = attach(line.data, &mut |reference| self.fetch(reference))?;
        read_line(Line { data, ..line })
    }

    fn fetch(&mut self, reference: &Reference) -> Result<String, Unattached> {
        let Reference { name, sha256, chars } = reference;
        if !content::is_named(name, sha256) {
            return Err(Unattached::Malformed(name.clone()));
        }
        let missing = |error: StateError| Unattached::Missing {
            name: name.clone(),
            why: error.cause.to_string(),
        };
        let bytes = content::read(self.run, name).map_err(missing)?;
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or(Unattached::TooMuch { limit: limits::TOGETHER })?;
        let changed = || Unattached::Changed { name: name.clone() };
        if Sha256::of(&bytes) != *sha256 {
            return Err(changed());
        }
        let text = String::from_utf8(bytes).map_err(|_| changed())?;
        if text.chars().count() as u64 == *chars { Ok(text) } else { Err(changed()) }
    }
}

#[cfg(test)]
mod tests;
