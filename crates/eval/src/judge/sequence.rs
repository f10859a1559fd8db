//! Was the right thing done, in the right order?

use agent::event::{Event, EventData, Initiator};

use super::{Checks, Dimension};
use crate::case::{Case, SequenceConstraint};
use crate::trace::{Step, Trace, is_delta};

/// What every run promises.
pub(super) fn promises(trace: &Trace<'_>, checks: &mut Checks) {
    checks.promise(Dimension::Sequence, "events are in order", out_of_order(trace.events));
    checks.promise(Dimension::Sequence, "every event makes sense", garbled(trace.events));
    checks.promise(Dimension::Sequence, "one action per turn", crowded_turns(trace));
    checks.promise(
        Dimension::Sequence,
        "every action went through its stages in order",
        skipped_stages(trace),
    );
}

pub(super) fn judge(case: &Case, trace: &Trace<'_>, checks: &mut Checks) {
    promises(trace, checks);
    for constraint in &case.expect.action_sequence_constraints {
        let (result, events) = constrained(constraint, trace);
        checks.add(Dimension::Sequence, result, events);
    }
    for code in &case.expect.error_codes {
        let seen = trace.events.iter().find(|event| match &event.data {
            EventData::ObservationRecorded(recorded) => recorded.code.as_ref() == Some(code),
            _ => false,
        });
        let result = match seen {
            Some(_) => Ok(format!("`{code}` was observed")),
            None => Err(format!("`{code}` should have been observed")),
        };
        checks.add(Dimension::Sequence, result, seen.map(|event| event.seq));
    }
}

type Wrong = Vec<(String, Vec<u64>)>;

/// Numbers count up by one, and turns never go back.
fn out_of_order(events: &[Event]) -> Wrong {
    let stored: Vec<&Event> = events.iter().filter(|event| !is_delta(event)).collect();
    let mut wrong = Wrong::new();
    for pair in stored.windows(2) {
        let [before, after] = pair else { continue };
        if before.seq.checked_add(1) != Some(after.seq) {
            wrong.push((
                format!("event {} follows event {}", after.seq, before.seq),
                vec![after.seq],
            ));
        } else if after.turn < before.turn {
            let message = format!("turn {} continues after turn {} began", after.turn, before.turn);
            wrong.push((message, vec![after.seq]));
        }
    }
    wrong
}

/// Whoever judges would take what cannot be understood for something that never happened.
fn garbled(events: &[Event]) -> Wrong {
    let garbled =
        |event: &&Event| matches!(&event.data, EventData::Unknown(unknown) if unknown.is_garbled());
    let wrong = events.iter().filter(garbled).map(|event| {
        let message = format!("event {} is not a valid `{}`", event.seq, event.data.kind());
        (message, vec![event.seq])
    });
    wrong.collect()
}

/// The model decides once a turn; what the user chose beforehand is not its decision.
fn crowded_turns(trace: &Trace<'_>) -> Wrong {
    let decided = |step: &&Step<'_>| step.planned.data.initiator == Initiator::Model;
    let steps: Vec<&Step<'_>> = trace.steps.iter().filter(decided).collect();
    let crowded = steps.chunk_by(|a, b| a.turn() == b.turn()).filter(|turn| turn.len() > 1);
    crowded
        .map(|turn| {
            let message = format!("{} actions in turn {}", turn.len(), turn[0].turn());
            (message, turn.iter().map(|step| step.seq()).collect())
        })
        .collect()
}

/// Planned, validated, executed: in this order and in the same turn.
fn skipped_stages(trace: &Trace<'_>) -> Wrong {
    let mut wrong = Wrong::new();
    for event in trace.events {
        let is_stage =
            matches!(event.data, EventData::ActionValidated(_) | EventData::ActionExecuted(_));
        let is_it = |own: &Event| std::ptr::eq(own, event);
        let belongs = |step: &Step<'_>| {
            step.turn() == event.turn
                && (step.validated.iter().any(|own| is_it(own.event))
                    || step.executed.is_some_and(|own| is_it(own.event)))
        };
        if is_stage && !trace.steps.iter().any(belongs) {
            wrong.push((
                format!("event {} belongs to no action of its turn", event.seq),
                vec![event.seq],
            ));
        }
    }
    for step in &trace.steps {
        if let (Some(executed), false) = (step.executed, step.is_let_through()) {
            let message = format!("`{}` was done without being validated", step.kind());
            wrong.push((message, vec![step.seq(), executed.event.seq]));
        }
    }
    wrong
}

fn constrained(
    constraint: &SequenceConstraint,
    trace: &Trace<'_>,
) -> (Result<String, String>, Vec<u64>) {
    let places = |name: &str| trace.places(name);
    match constraint {
        SequenceConstraint::MustOccur { must_occur, before, after } => {
            let own = places(must_occur);
            let Some(first) = own.first().copied() else {
                return (Err(format!("`{must_occur}` should have been done")), own);
            };
            for (other, is_before) in [(before, true), (after, false)] {
                let Some(other) = other else { continue };
                let place = places(other).first().copied();
                let right = match (place, is_before) {
                    (Some(place), true) => first < place,
                    (Some(place), false) => first > place,
                    // Before something that never came is early enough.
                    (None, is_before) => is_before,
                };
                if !right {
                    let word = if is_before { "before" } else { "after" };
                    let message = format!("`{must_occur}` should have been done {word} `{other}`");
                    return (Err(message), [Some(first), place].into_iter().flatten().collect());
                }
            }
            (Ok(format!("`{must_occur}` was done")), vec![first])
        }
        SequenceConstraint::Forbid { forbid } => {
            let own = places(forbid);
            let result = match own.is_empty() {
                true => Ok(format!("`{forbid}` was not done")),
                false => Err(format!("`{forbid}` was done, but is forbidden")),
            };
            (result, own)
        }
        SequenceConstraint::Max { max, of } => {
            counted(of, places(of), |n| n <= *max, "at most", *max)
        }
        SequenceConstraint::Min { min, of } => {
            counted(of, places(of), |n| n >= *min, "at least", *min)
        }
    }
}

fn counted(
    name: &str,
    places: Vec<u64>,
    holds: impl Fn(usize) -> bool,
    word: &str,
    limit: usize,
) -> (Result<String, String>, Vec<u64>) {
    let count = places.len();
    let result = match holds(count) {
        true => Ok(format!("`{name}` was done {count} times")),
        false => Err(format!("`{name}` was done {count} times, {word} {limit} were expected")),
    };
    (result, places)
}
