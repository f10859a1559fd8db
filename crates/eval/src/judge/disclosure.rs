//! Was anything read before it was asked for and let through?

use agent::event::EventKind;
use serde_json::Value;

use super::{Checks, Dimension};
use crate::trace::{Step, Trace, skill_name};

pub(super) fn judge(trace: &Trace<'_>, checks: &mut Checks) {
    checks.promise(
        Dimension::Disclosure,
        "no skill's text without its selection",
        unselected(trace),
    );
    checks.promise(Dimension::Disclosure, "no resource without an action for it", unasked(trace));
    checks.promise(Dimension::Disclosure, "nothing was read before it was validated", early(trace));
}

type Wrong = Vec<(String, Vec<u64>)>;

/// Skills that are in the context from the start: the whole record of a run says so in its first event.
fn is_preloaded(trace: &Trace<'_>, name: &str) -> bool {
    let preloaded = trace.setup().and_then(|setup| setup["preloaded"].as_array());
    preloaded.into_iter().flatten().any(|one| one["skill"]["name"] == name)
}

fn selects(step: &Step<'_>, name: &str) -> bool {
    let named = |skill: &Value| skill["name"] == name;
    step.kind() == "select_skills"
        && step.payload()["skills"].as_array().is_some_and(|skills| skills.iter().any(named))
}

fn let_through(step: &Step<'_>) -> bool {
    step.validated.iter().any(|event| event.data["ok"] == true)
}

fn unselected(trace: &Trace<'_>) -> Wrong {
    let loaded = trace.of(EventKind::SkillLoaded);
    loaded
        .filter_map(|event| {
            let name = skill_name(event)?;
            let selected = trace.steps.iter().any(|step| {
                selects(step, name) && step.planned.seq < event.seq && let_through(step)
            });
            (!selected && !is_preloaded(trace, name)).then(|| {
                (
                    format!("the text of `{name}` was read, but the skill was not selected before"),
                    vec![event.seq],
                )
            })
        })
        .collect()
}

fn unasked(trace: &Trace<'_>) -> Wrong {
    let loaded = trace.of(EventKind::ResourceLoaded);
    loaded
        .filter_map(|event| {
            let asks = |step: &Step<'_>| {
                matches!(step.kind(), "load_resource" | "load_chunk")
                    && step.planned.turn == event.turn
                    && step.planned.seq < event.seq
                    && let_through(step)
            };
            let asked = trace.steps.iter().any(asks);
            (!asked).then(|| {
                (
                    "a resource was read without an action that asked for it".to_owned(),
                    vec![event.seq],
                )
            })
        })
        .collect()
}

/// Reading is carrying out: both must come after the validation.
fn early(trace: &Trace<'_>) -> Wrong {
    trace
        .steps
        .iter()
        .filter_map(|step| {
            let executed = step.executed?;
            let validated = step
                .validated
                .iter()
                .filter(|event| event.data["ok"] == true)
                .map(|event| event.seq)
                .max();
            let is_early = validated.is_none_or(|validated| validated > executed.seq);
            is_early.then(|| {
                (
                    format!("`{}` was carried out before it was validated", step.kind()),
                    vec![executed.seq],
                )
            })
        })
        .collect()
}
