//! Is a record what was written? Every edit, deletion and reordering shows; a kill is no edit.

use std::path::Path;

use agent::conversation::Link;
use agent::event::{Event, EventData};
use agent::observation::{Facts, Loaded, Observation};
use agent::outcome::StopReason;
use basics::run_id::RunId;
use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use state::{Folder, StateError};

use super::chain::{Checked, check};
use super::child::children;
use super::error::JournalError;
use super::index::{INDEX, index_hash};
use super::lines::{Files, SEALS, Texts};
use super::owner::{Origin, Owner};
use super::record::is_shown;
use super::record_folder::RecordFolder;
use super::summary::{ANSWER, RunSummary, SUMMARY, summary};
use super::{CATALOG, content, limits};

/// What became of a record since it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verification {
    /// Whether it is what was written.
    pub ok: bool,
    /// Who wrote it.
    pub origin: Origin,
    /// How many events it has.
    pub events: u64,
    /// Events at the end that only the chain vouches for, because a power failure took their hashes.
    pub unsealed: u64,
    /// Bytes after the last event: the beginning of one that was cut off, and does not count.
    pub torn_bytes: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something in a record that is not what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The event, where it is about one.
    pub seq: Option<u64>,
    /// What sort of problem it is.
    pub kind: ProblemKind,
    /// What is wrong, in words.
    pub message: String,
}

/// What can be wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A line is no event.
    Unreadable,
    /// An event is not where its number belongs.
    Order,
    /// An event is not the one that was written.
    Changed,
    /// An event does not follow the one before it.
    Chain,
    /// An event that was written is not there.
    Missing,
    /// What follows the last event is not the beginning of another.
    Tail,
    /// The hashes of the events are not what was written.
    Seal,
    /// A text that an event refers to is not there, or not the same.
    Reference,
    /// Another file of the run does not agree with the events.
    File,
}

impl Problem {
    pub(super) fn new(seq: Option<u64>, kind: ProblemKind, message: impl Into<String>) -> Self {
        Self { seq, kind, message: message.into() }
    }

    /// The same in the record of the parent.
    fn of_child(self, id: &str) -> Self {
        self.of("child", id)
    }

    /// The same in the record of a run that continues this one.
    fn of_earlier(self, id: &str) -> Self {
        self.of("earlier", id)
    }

    fn of(self, which: &str, id: &str) -> Self {
        let place = self.seq.map_or(String::new(), |seq| format!(", event {seq}"));
        let message = format!("{which} run `{id}`{place}: {}", self.message);
        Self { seq: None, message, ..self }
    }
}

/// Looks at everything in a run's folder that the events vouch for.
///
/// That includes its child runs, and the runs that it continues.
pub fn verify(folder: &Path, owner: Option<&Owner>) -> Result<Verification, JournalError> {
    let place = RecordFolder::open(folder)?;
    let Examined { mut verification, continues, .. } = examine(&place, owner)?;
    let (mut next, mut before) = (continues, place.name().into_owned());
    while let Some(Link { run, event, .. }) = next {
        let missing = |message: String| Problem::new(None, ProblemKind::Missing, message);
        // Names sort by time: whoever goes back in time arrives.
        let earlier = run.parse::<RunId>().ok().filter(|id| id.as_str() < before.as_str());
        let found = earlier.map(|id| place.beside(&id).and_then(|place| examine(&place, owner)));
        let Examined { verification: found, hashes, continues } = match found {
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                let message = format!("the earlier run `{run}` cannot be read: {error}");
                verification.add([missing(message)]);
                break;
            }
            None => {
                verification.add([missing(format!("`{run}` is no earlier run"))]);
                break;
            }
        };
        verification.origin = verification.origin.max(found.origin);
        verification.add(found.problems.into_iter().map(|problem| problem.of_earlier(&run)));
        if !hashes.contains(&event.to_string()) {
            let message =
                format!("the earlier run `{run}` is not what it was when it was continued");
            verification.add([Problem::new(None, ProblemKind::Changed, message)]);
        }
        (next, before) = (continues, run);
    }
    Ok(verification)
}

impl Verification {
    fn add(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.problems.extend(problems);
        self.ok = self.problems.is_empty();
    }
}

/// A record that was looked at.
struct Examined {
    verification: Verification,
    /// The hashes of its events.
    hashes: Vec<String>,
    /// The run that it continues.
    continues: Option<Link>,
}

fn examine(place: &RecordFolder, owner: Option<&Owner>) -> Result<Examined, JournalError> {
    let files = Files::read(place)?;
    let checked = check(&files);
    let mut origin = checked.origin(&files, owner, &place.name());
    let Checked { lines, mut problems, hashes, unsealed, torn_bytes } = checked;
    let unsigned = owner.zip(files.seals.as_ref());
    let unsigned = unsigned.and_then(|(owner, seals)| seals.unsigned(owner, &place.name()));
    if let Some(seq) = unsigned.filter(|_| problems.is_empty()) {
        let message = format!("a signature in `{SEALS}` changed");
        problems.push(Problem::new(Some(seq), ProblemKind::Seal, message));
    }
    let run = place.own();
    let mut texts = Texts::new(run);
    let mut streams = limits::STREAMS;
    let mut whole = Vec::with_capacity(lines.len());
    for line in lines {
        let seq = line.seq;
        match texts.attach(line) {
            Ok(event) => {
                problems.extend(check_stored(run, &event, &mut streams));
                whole.push(event);
            }
            Err(error) => {
                let message = error.to_string();
                problems.push(Problem::new(Some(seq), ProblemKind::Reference, message));
            }
        }
    }
    let begun: Vec<Begun> = whole.iter().filter_map(Begun::of).collect();
    // With an event missing or unreadable, nothing can be said about what is made from all of them.
    let mut failed = Vec::new();
    if problems.is_empty() {
        let checks = [
            check_summary(run, &whole, &hashes),
            check_answer(run, &whole),
            check_index(run, &whole),
            check_catalog(run, &whole),
        ];
        failed.extend(checks.into_iter().filter_map(Result::err));
    }
    let continues = whole.first().and_then(|event| match &event.data {
        EventData::RunStarted(started) => started.setup.continues.clone(),
        _ => None,
    });
    // A family of large records would not fit into memory.
    drop((whole, files));
    let mut of_children = Children { owner, origin, problems: Vec::new() };
    of_children.check(place, begun)?;
    origin = of_children.origin;
    problems.extend(of_children.problems);
    problems.extend(failed.into_iter().map(|text| Problem::new(None, ProblemKind::File, text)));
    let verification = Verification {
        ok: problems.is_empty(),
        origin,
        events: hashes.len() as u64,
        unsealed: unsealed as u64,
        torn_bytes: torn_bytes as u64,
        problems,
    };
    Ok(Examined { verification, hashes, continues })
}

/// A child run, as its parent tells of it.
struct Begun {
    seq: u64,
    id: String,
    /// The hash of its last event.
    ended: Option<String>,
}

impl Begun {
    fn of(event: &Event) -> Option<Self> {
        let EventData::ActionExecuted(executed) = &event.data else { return None };
        let Facts { child_run, child_record, .. } = &executed.observation.facts;
        Some(Self {
            seq: event.seq,
            id: child_run.clone()?,
            ended: child_record.map(|hash| hash.to_string()),
        })
    }
}

/// What the child runs of a run add to it.
struct Children<'o> {
    owner: Option<&'o Owner>,
    /// A run is only as much the user's as all of its child runs.
    origin: Origin,
    problems: Vec<Problem>,
}

impl Children<'_> {
    /// Child runs are what was written, and ended as the parent was told.
    fn check(&mut self, place: &RecordFolder, begun: Vec<Begun>) -> Result<(), JournalError> {
        let mut present = children(place)?;
        for Begun { seq, id, ended } in begun {
            let index = present.iter().position(|child| child.as_str() == id);
            let Some(child) = index.map(|index| present.remove(index)) else {
                let message = format!("there is no child run `{id}`");
                self.problems.push(Problem::new(Some(seq), ProblemKind::Missing, message));
                continue;
            };
            let Examined { verification: found, hashes, .. } =
                examine(&place.beside(&child)?, self.owner)?;
            if found.ok && ended.is_some() && ended.as_ref() != hashes.last() {
                let message = format!("the child run `{id}` has another end than recorded");
                self.problems.push(Problem::new(Some(seq), ProblemKind::Changed, message));
            }
            self.add(found, &id);
        }
        // One that an interruption cut off.
        for child in present {
            let found = examine(&place.beside(&child)?, self.owner)?.verification;
            self.add(found, child.as_str());
        }
        Ok(())
    }

    fn add(&mut self, found: Verification, id: &str) {
        self.origin = self.origin.max(found.origin);
        self.problems.extend(found.problems.into_iter().map(|problem| problem.of_child(id)));
    }
}

/// `run.json` is made from the events, byte for byte.
fn check_summary(run: &Folder, events: &[Event], hashes: &[String]) -> Result<(), String> {
    let Some(bytes) = existing(SUMMARY, run.read(SUMMARY, limits::SUMMARY))? else {
        return Ok(());
    };
    let written: RunSummary =
        serde_json::from_slice(&bytes).map_err(|error| format!("`{SUMMARY}`: {error}"))?;
    let differs = || format!("`{SUMMARY}` does not match the events");
    // A run that was taken up again has more events than its last summary speaks of.
    let seal = written.record.ok_or_else(differs)?;
    let count = usize::try_from(seal.events).map_err(|_| differs())?;
    let last = count.checked_sub(1).and_then(|last| hashes.get(last)).ok_or_else(differs)?;
    let expected = summary(&events[..count]).sealed(seal.events, last);
    if expected.to_json() != bytes {
        return Err(differs());
    }
    if expected.stop_reason.is_some_and(|reason| reason != StopReason::ApprovalRequired)
        && existing(ANSWER, content::read(run, ANSWER))?.is_none()
    {
        return Err(format!("`{ANSWER}` is missing"));
    }
    Ok(())
}

/// `final.md` is the answer.
fn check_answer(run: &Folder, events: &[Event]) -> Result<(), String> {
    let Some(bytes) = existing(ANSWER, content::read(run, ANSWER))? else { return Ok(()) };
    let end = events.iter().rfind(|event| !event.data.is_epilogue());
    match end.map(|event| &event.data) {
        Some(EventData::RunFinished(end)) if end.answer.as_bytes() == bytes => Ok(()),
        _ => Err(format!("`{ANSWER}` does not match the run's answer")),
    }
}

/// `index.json` is the index that the run began with.
fn check_index(run: &Folder, events: &[Event]) -> Result<(), String> {
    let Some(EventData::RunStarted(started)) = events.first().map(|event| &event.data) else {
        return Ok(());
    };
    let Some(hash) = &started.setup.facts.index_hash else { return Ok(()) };
    match existing(INDEX, run.read_shared(INDEX, limits::INDEX))? {
        Some(bytes) if index_hash(&bytes) == *hash => Ok(()),
        Some(_) => Err(format!("`{INDEX}` does not match the index at the start of the run")),
        None => Err(format!("`{INDEX}` is missing")),
    }
}

fn check_catalog(run: &Folder, events: &[Event]) -> Result<(), String> {
    let Some(EventData::RunStarted(started)) = events.first().map(|event| &event.data) else {
        return Ok(());
    };
    let catalog = existing(CATALOG, run.read(CATALOG, limits::CATALOG))?.unwrap_or_default();
    match is_shown(&started.setup.facts, &String::from_utf8_lossy(&catalog)) {
        true => Ok(()),
        false => Err(format!("`{CATALOG}` is not the list that the model was shown")),
    }
}

/// The content of a file of the run, if there is one.
fn existing(name: &str, read: Result<Vec<u8>, StateError>) -> Result<Option<Vec<u8>>, String> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(format!("cannot read `{name}`: {}", error.cause)),
    }
}

/// What results refer to is there, and what it was.
fn check_stored(run: &Folder, event: &Event, left: &mut u64) -> Vec<Problem> {
    let problems = stored(&event.data).into_iter().filter_map(|(name, sha256)| {
        let message = match content::hash(run, name, left) {
            Err(error) => format!("cannot read `{name}`: {}", error.cause),
            Ok(hash) if is_content(name, sha256, hash) => return None,
            Ok(_) => format!("`{name}` changed after it was saved"),
        };
        Some(Problem::new(Some(event.seq), ProblemKind::Reference, message))
    });
    problems.collect()
}

/// What an event refers to, and its hash, where that is not in its name.
fn stored(data: &EventData) -> Vec<(&str, Option<Sha256>)> {
    match data {
        EventData::ActionExecuted(executed) => {
            let Observation { storage_ref, facts, loaded, image, .. } = &executed.observation;
            let loaded = loaded.iter().filter_map(Loaded::storage_ref);
            let kept = storage_ref.as_deref().into_iter().chain(loaded).map(|name| (name, None));
            let streams = [&facts.stdout, &facts.stderr].into_iter().flatten();
            let streams =
                streams.filter_map(|stream| Some((stream.name.as_deref()?, Some(stream.sha256))));
            let image = image.iter().map(|image| (image.name.as_str(), Some(image.sha256)));
            kept.chain(streams).chain(image).collect()
        }
        EventData::ChangesMade(made) => vec![(&made.changes.name, Some(made.changes.sha256))],
        EventData::ChangesApplied(applied) => {
            vec![(&applied.changes.name, Some(applied.changes.sha256))]
        }
        EventData::ChangesUndone(undone) => {
            vec![(&undone.changes.name, Some(undone.changes.sha256))]
        }
        _ => Vec::new(),
    }
}

/// Whether a file with this hash is the one meant, as far as its name or its recorded hash tells.
pub(super) fn is_content(name: &str, recorded: Option<Sha256>, actual: Sha256) -> bool {
    let text = actual.to_string();
    let named = content::digits(name).is_none_or(|digits| text.starts_with(digits));
    named && recorded.is_none_or(|recorded| recorded == actual)
}
