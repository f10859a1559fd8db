//! Did the run break? What it did then says nothing about skills, so it must not pass for want of mistakes.

use agent::event::EventData;

use crate::case::Case;
use crate::trace::Trace;

/// Why the run broke; nothing where it did not, or where that is what the case expects.
pub(super) fn judge(case: &Case, trace: &Trace<'_>) -> Option<String> {
    let stopped = trace.stop_reason();
    let is_broken = match stopped {
        "model_error" | "invalid_output" | "cut_off" => true,
        // Time that was spent on waiting for the model alone.
        "max_wall_seconds" => {
            let replied = |data: &EventData| matches!(data, EventData::ModelResponse(_));
            !trace.events.iter().any(|event| replied(&event.data))
        }
        _ => false,
    };
    if !is_broken || case.expect.stop_reason.as_deref() == Some(stopped) {
        return None;
    }
    let mut errors = trace.events.iter().rev().filter_map(|event| match &event.data {
        EventData::Error(error) => Some(&error.message),
        _ => None,
    });
    Some(match errors.next() {
        Some(reason) => format!("the run broke (`{stopped}`): {reason}"),
        None => format!("the run broke (`{stopped}`)"),
    })
}
