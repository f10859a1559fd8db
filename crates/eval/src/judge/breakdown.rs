//! Did the run break? What it did then says nothing about skills, so it must not pass for want of mistakes.

use agent::event::EventKind;

use crate::case::Case;
use crate::trace::Trace;

/// Why the run broke; nothing where it did not, or where that is what the case expects.
pub(super) fn judge(case: &Case, trace: &Trace<'_>) -> Option<String> {
    let stopped = trace.stop_reason();
    let is_broken = match stopped {
        "model_error" | "invalid_output" | "cut_off" => true,
        // Time that was spent on waiting for the model alone.
        "max_wall_seconds" => trace.of(EventKind::ModelResponse).next().is_none(),
        _ => false,
    };
    if !is_broken || case.expect.stop_reason.as_deref() == Some(stopped) {
        return None;
    }
    let last = trace.of(EventKind::Error).last();
    let reason = last.and_then(|event| event.data["message"].as_str());
    Some(match reason {
        Some(reason) => format!("the run broke (`{stopped}`): {reason}"),
        None => format!("the run broke (`{stopped}`)"),
    })
}
