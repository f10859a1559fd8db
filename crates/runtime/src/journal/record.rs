//! A run from its record: taken up again, or repeated and compared.
//!
//! A run is a function of its setup and its inputs, and both are in the events. What a run notes for the
//! same inputs must be what is recorded.

use std::borrow::Cow;

use agent::action::Action;
use agent::event::{Event, EventData, Happening, RunStarted, SentPrompt};
use agent::request::Prepared;
use agent::run::{CANCELLED, Run};
use agent::setup::{Provenance, Setup};
use agent::step::Input;
use basics::failure::{Exit, Explain};
use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::redact::is_redacted;

/// The first place where a run, repeated, is not what is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema, thiserror::Error)]
#[error(
    "event {seq} differs at `{path}`: the record has `{}`, the replay `{}`",
    render(expected),
    render(found)
)]
pub struct Difference {
    /// The event.
    pub seq: u64,
    /// Where in it, as a JSON pointer.
    pub path: String,
    /// What is recorded.
    pub expected: Value,
    /// What came of repeating it.
    pub found: Value,
}

fn render(value: &Value) -> String {
    basics::text::prefix(&value.to_string(), 200).to_owned()
}

/// What the run was told at an event, and how many milliseconds after its start.
pub fn input_of(event: &Event) -> Option<(Input, u64)> {
    let input = match &event.data {
        EventData::ModelResponse(response) => Input::Replied(response.reply.clone()),
        EventData::ActionValidated(validated) => Input::Prepared(validated.prepared()?.clone()),
        EventData::ApprovalGranted(answered) | EventData::ApprovalDenied(answered) => {
            Input::Answered(answered.answer.clone())
        }
        EventData::ActionExecuted(executed) => Input::Observed(executed.observation.clone()),
        EventData::QuestionAnswered(answered) => Input::QuestionAnswered(answered.answer.clone()),
        EventData::BudgetUpdated(updated) => Input::Resumed(updated.resumed.clone()?),
        EventData::Error(error) if error.code == CANCELLED => Input::Cancelled,
        _ => return None,
    };
    Some((input, event.data.elapsed_ms()?))
}

/// Why it cannot be said what a run began with.
#[derive(Debug, thiserror::Error)]
pub enum NoSetup {
    /// The event does not say it.
    #[error("event {seq} does not say how the run started")]
    Event {
        /// The event.
        seq: u64,
    },
    /// The list of skills is not the one that the model was shown.
    #[error("the list of skills changed after the run started")]
    Catalog,
}

/// What a run began with, from its first event; the catalog, which is not in it, is given.
pub fn setup_of(event: &Event, catalog: String) -> Result<Setup, NoSetup> {
    match &event.data {
        EventData::RunStarted(started) => {
            let RunStarted { setup, tools } = &**started;
            if !is_shown(&setup.facts, &catalog) {
                return Err(NoSetup::Catalog);
            }
            Ok(Setup { catalog, tools: tools.clone(), ..setup.clone() })
        }
        _ => Err(NoSetup::Event { seq: event.seq }),
    }
}

/// Whether a list of skills is the one that a model was shown. Older records do not say.
pub(super) fn is_shown(facts: &Provenance, catalog: &str) -> bool {
    let recorded = facts.catalog.as_ref().and_then(|shown| shown.sha256);
    recorded.is_none_or(|recorded| recorded == Sha256::of(catalog))
}

/// The run as it was when its record ended. What it noted last and could not record is what it notes first.
pub fn restore(setup: Setup, events: &[Event]) -> Result<Run, Difference> {
    let mut run = Run::start(setup);
    let mut recorded = events.iter();
    loop {
        let mut notes = run.take_notes().into_iter();
        while let Some(note) = notes.next() {
            if recorded.as_slice().first().is_some_and(|event| is_newer(&note, event)) {
                continue;
            }
            let Some(event) = recorded.next() else {
                run.put_back(std::iter::once(note).chain(notes).collect());
                return Ok(run);
            };
            compare(event, &note)?;
        }
        let Some(event) = recorded.as_slice().first() else { return Ok(run) };
        // What became of the changes afterwards is not the run's doing.
        if run.outcome().is_some() && event.data.is_epilogue() {
            recorded.next();
            continue;
        }
        let surplus = |why: &str| Difference {
            seq: event.seq,
            path: "/type".to_owned(),
            expected: event.data.kind().into(),
            found: why.into(),
        };
        let (input, elapsed) = input_of(event).ok_or_else(|| surplus("nothing happens here"))?;
        if let (Input::Prepared(prepared), Some(action)) = (&input, run.action()) {
            check_prepared(event, prepared, action)?;
        }
        run.advance(input, elapsed).map_err(|error| surplus(&error.to_string()))?;
    }
}

/// Repeats a run and compares everything it notes: actions, prompts, budgets, the answer.
pub fn replay(setup: Setup, events: &[Event]) -> Result<(), Difference> {
    restore(setup, events).map(|_| ())
}

/// Whether a note has no place in a record of version 1: what was loaded already was not noted to be valid there.
fn is_newer(note: &Happening, next: &Event) -> bool {
    next.v == 1
        && matches!(next.data, EventData::ObservationRecorded(_))
        && matches!(&note.data, EventData::ActionValidated(validated) if validated.is_ok())
}

/// What was prepared is what was planned. A record has both without their secrets.
fn check_prepared(event: &Event, prepared: &Prepared, planned: &Action) -> Result<(), Difference> {
    let Some(request) = prepared.request().filter(|request| request.action != *planned) else {
        return Ok(());
    };
    let (planned, prepared) = (json!(planned), json!(request.action));
    if is_redacted(&planned.to_string()) || is_redacted(&prepared.to_string()) {
        return Ok(());
    }
    let (inner, expected, found) = first_difference(&prepared, &planned);
    let path = format!("/data/prepared/request/action{inner}");
    Err(Difference { seq: event.seq, path, expected, found })
}

fn compare(event: &Event, note: &Happening) -> Result<(), Difference> {
    let (path, expected, found) = if event.data.kind() != note.data.kind() {
        ("/type".to_owned(), json!(event.data.kind()), json!(note.data.kind()))
    } else if event.turn != note.turn {
        ("/turn".to_owned(), json!(event.turn), json!(note.turn))
    } else if !is_same(event, note) {
        first_difference(&json!(event.data), &json!(note.data))
    } else {
        return Ok(());
    };
    Err(Difference { seq: event.seq, path, expected, found })
}

/// Whether a note says what was recorded.
///
/// Records of version 1 do not have the rules that the model was given. These have changed since, so how long a
/// prompt was cannot be compared, and neither can its hash.
fn is_same(event: &Event, note: &Happening) -> bool {
    event.data == note.data
        || event.v == 1 && without_sizes(event.data.clone()) == without_sizes(note.data.clone())
}

/// What happened, without what follows from the length of the rules.
fn without_sizes(mut data: EventData) -> EventData {
    match &mut data {
        EventData::TurnStarted(started) => started.budget.context_chars = 0,
        EventData::ModelRequest(request) => {
            let messages = request.prompt.messages;
            request.prompt = SentPrompt { sha256: Sha256::of(""), chars: 0, messages, text: None };
            request.estimated_tokens = 0;
        }
        EventData::BudgetUpdated(updated) => {
            updated.left.context_chars = 0;
            updated.spent.context_chars = 0;
        }
        EventData::ContextCompacted(compacted) => compacted.chars = 0,
        EventData::RunFinished(finished) => finished.spent.context_chars = 0,
        _ => {}
    }
    data
}

/// The innermost first place where two values differ; what is missing counts as null.
fn first_difference(expected: &Value, found: &Value) -> (String, Value, Value) {
    let inner = match (expected, found) {
        (Value::Object(left), Value::Object(right)) => left
            .keys()
            .chain(right.keys())
            .find(|key| left.get(*key) != right.get(*key))
            .map(|key| (escaped(key), left.get(key), right.get(key))),
        (Value::Array(left), Value::Array(right)) => (0..left.len().max(right.len()))
            .find(|place| left.get(*place) != right.get(*place))
            .map(|place| (place.to_string(), left.get(place), right.get(place))),
        _ => None,
    };
    match inner {
        None => (String::new(), expected.clone(), found.clone()),
        Some((key, Some(left), Some(right))) => {
            let (path, expected, found) = first_difference(left, right);
            (format!("/{key}{path}"), expected, found)
        }
        Some((key, left, right)) => (
            format!("/{key}"),
            left.cloned().unwrap_or_default(),
            right.cloned().unwrap_or_default(),
        ),
    }
}

/// A key in a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

impl Explain for Difference {
    fn exit(&self) -> Exit {
        Exit::Refused
    }

    fn code(&self) -> &'static str {
        "RecordMismatch"
    }

    fn hint(&self) -> Cow<'static, str> {
        "`skillful runs verify RUN` shows whether the record changed; if not, another version of Skillful wrote it".into()
    }
}
