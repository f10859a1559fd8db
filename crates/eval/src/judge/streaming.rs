//! Was what was shown early the same as what came in the end?

use agent::event::{AssistantDelta, EventData};

use super::{Checks, Dimension};
use crate::case::Case;
use crate::trace::{Of, Trace};

/// Deltas are shown, not stored, so a record from the disk has none: then there is nothing to judge.
pub(super) fn judge(case: &Case, trace: &Trace<'_>, is_live: bool, checks: &mut Checks) {
    let Some(answer) = trace.answer().filter(|_| trace.stop_reason() == "final_answer") else {
        return;
    };
    let last_turn = trace.events.iter().map(|event| event.turn).max().unwrap_or(0);
    let deltas = trace.of(|data| match data {
        EventData::AssistantDelta(delta) => Some(delta),
        _ => None,
    });
    let deltas: Vec<Of<'_, AssistantDelta>> =
        deltas.filter(|delta| delta.event.turn == last_turn).collect();
    let streaming =
        case.mock.as_ref().map(|script| script.streaming).filter(|s| s.enabled && is_live);
    if deltas.is_empty() && streaming.is_none() {
        return;
    }
    let shown: String = deltas.iter().map(|delta| delta.data.content.as_str()).collect();
    let place = deltas.last().map(|delta| delta.event.seq);
    let result = match shown == answer {
        true => Ok("what was streamed is the answer".to_owned()),
        false => {
            let same = shown.chars().zip(answer.chars()).take_while(|(a, b)| a == b).count();
            Err(format!("what was streamed differs from the answer after {same} characters"))
        }
    };
    checks.add(Dimension::Streaming, result, place);
    if streaming.is_some_and(|streaming| answer.len() > 2 * streaming.chunk_bytes.get()) {
        let result = match deltas.len() {
            0 | 1 => Err("the answer came in one piece, not as it was written".to_owned()),
            pieces => Ok(format!("the answer came in {pieces} pieces")),
        };
        checks.add(Dimension::Streaming, result, place);
    }
}
