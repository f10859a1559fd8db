//! Was anything read before it was asked for and let through?

use agent::action::Action;
use agent::event::{Event, EventData};

use super::{Checks, Dimension};
use crate::trace::{Step, Trace};

pub(super) fn judge(trace: &Trace<'_>, checks: &mut Checks) {
    checks.promise(
        Dimension::Disclosure,
        "no skill was read before it was selected",
        unselected(trace),
    );
    checks.promise(Dimension::Disclosure, "no resource was read without an action", unasked(trace));
    checks.promise(Dimension::Disclosure, "nothing was read before it was validated", early(trace));
}

type Wrong = Vec<(String, Vec<u64>)>;

/// Skills that are in the context from the start: the whole record of a run says so in its first event.
fn is_preloaded(trace: &Trace<'_>, name: &str) -> bool {
    let preloaded = trace.setup().map_or(&[][..], |setup| &setup.preloaded);
    preloaded.iter().any(|one| one.skill.name == name)
}

fn selects(step: &Step<'_>, name: &str) -> bool {
    match step.action() {
        Action::SelectSkills { skills, .. } => skills.iter().any(|skill| skill.name == name),
        _ => false,
    }
}

fn unselected(trace: &Trace<'_>) -> Wrong {
    let wrong = trace.loaded().filter_map(|loaded| {
        let (name, seq) = (&loaded.data.skill.name, loaded.event.seq);
        let selects =
            |step: &Step<'_>| selects(step, name) && step.seq() < seq && step.is_let_through();
        let is_right = trace.steps.iter().any(selects) || is_preloaded(trace, name);
        (!is_right).then(|| {
            let message =
                format!("the text of `{name}` was read, but the skill was not selected first");
            (message, vec![seq])
        })
    });
    wrong.collect()
}

fn unasked(trace: &Trace<'_>) -> Wrong {
    let is_resource = |event: &&Event| matches!(event.data, EventData::ResourceLoaded(_));
    let wrong = trace.events.iter().filter(is_resource).filter_map(|event| {
        let asks = |step: &Step<'_>| {
            matches!(step.action(), Action::LoadResource { .. } | Action::LoadChunk { .. })
                && step.turn() == event.turn
                && step.seq() < event.seq
                && step.is_let_through()
        };
        (!trace.steps.iter().any(asks)).then(|| {
            let message = "a resource was read, but no action asked for it";
            (message.to_owned(), vec![event.seq])
        })
    });
    wrong.collect()
}

/// Reading is carrying out: both must come after the validation.
fn early(trace: &Trace<'_>) -> Wrong {
    let wrong = trace.steps.iter().filter_map(|step| {
        let executed = step.executed?.event.seq;
        let passed = step.validated.iter().filter(|validated| validated.data.is_ok());
        let validated = passed.map(|validated| validated.event.seq).max();
        let is_early = validated.is_none_or(|validated| validated > executed);
        is_early.then(|| {
            let message = format!("`{}` was carried out before it was validated", step.kind());
            (message, vec![executed])
        })
    });
    wrong.collect()
}
