//! Was no more used than allowed?

use agent::budget::Budget;
use agent::event::EventData;
use agent::question::QuestionAnswer;

use super::{Checks, Dimension};
use crate::case::Case;
use crate::trace::Trace;

pub(super) fn judge(case: &Case, trace: &Trace<'_>, checks: &mut Checks) {
    let constraints = &case.constraints;
    // Beyond a limit of its own, a run goes on where the user says so.
    let budget = trace.setup().map(|setup| &setup.budget).filter(|_| !is_extended(trace));
    let own = |limit: fn(&Budget) -> u32| budget.map(|budget| u64::from(limit(budget)));
    let is_turn = |data: &EventData| matches!(data, EventData::TurnStarted(_));
    let turns = trace.events.iter().filter(|event| is_turn(&event.data)).count() as u64;
    let tools = trace.executed().filter(|step| step.action().tool().is_some()).count() as u64;
    let scripts = trace.executed().filter(|step| step.action().runs_program()).count() as u64;
    let limits = [
        ("turns", turns, constraints.max_turns.map(u64::from), own(|budget| budget.max_turns)),
        (
            "tool calls",
            tools,
            constraints.max_tool_calls.map(u64::from),
            own(|budget| budget.max_tool_calls),
        ),
        (
            "script runs",
            scripts,
            constraints.max_script_runs.map(u64::from),
            own(|budget| budget.max_script_runs),
        ),
    ];
    for (what, used, wanted, given) in limits {
        let Some(limit) = wanted.into_iter().chain(given).min() else { continue };
        let result = match used <= limit {
            true => Ok(format!("{used} of {limit} {what}")),
            false => Err(format!("{used} {what}, at most {limit} are allowed")),
        };
        checks.add(Dimension::Budget, result, []);
    }
    if let Some(limit) = constraints.max_wall_seconds {
        let taken = super::Cost::of(trace).milliseconds;
        let result = match taken <= limit.saturating_mul(1_000) {
            true => Ok(format!("within {limit} s")),
            false => Err(format!("took {taken} ms, at most {limit} s are allowed")),
        };
        checks.add(Dimension::Budget, result, []);
    }
}

fn is_extended(trace: &Trace<'_>) -> bool {
    trace.events.iter().any(|event| match &event.data {
        EventData::QuestionAnswered(answered) => answered.answer == QuestionAnswer::GoOn,
        _ => false,
    })
}
