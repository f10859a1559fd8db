//! The planner's plan: always the same three steps.

use agent::freeform::Freeform;
use agent::plan::{Op, PatchOp, Plan, PlanStep, PlanUpdate, StepStatus};
use basics::text::{one_line, prefix};

const STEPS: [(&str, &str); 3] = [
    ("skill", "Load the skill that fits"),
    ("script", "Run the script that it documents"),
    ("answer", "Answer"),
];

/// The plan itself for the first decision, else how it changes.
pub(super) fn update(request: &str, statuses: [StepStatus; 3], has_plan: bool) -> PlanUpdate {
    let steps = STEPS.into_iter().zip(statuses);
    if has_plan {
        let ops = steps.map(|((id, _), status)| PatchOp {
            op: Op::Set,
            path: format!("/steps/{id}/status"),
            value: Freeform::of(&status),
        });
        return PlanUpdate::Patch { ops: ops.collect() };
    }
    let steps = steps.map(|((id, title), status)| PlanStep {
        id: id.to_owned(),
        title: title.to_owned(),
        status,
    });
    let goal = prefix(&one_line(request), 200).to_owned();
    PlanUpdate::Replace { plan: Plan { goal, steps: steps.collect(), ..Plan::default() } }
}
