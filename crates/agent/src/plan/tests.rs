use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn plan() -> Plan {
    serde_json::from_value(json!({"goal": "g", "steps": [
        {"id": "s1", "title": "one", "status": "pending"}, {"id": "s2", "title": "two", "status": "in_progress"}],
        "assumptions": ["a"], "constraints": {"k": 1}}))
    .unwrap()
}

fn patched(ops: Value) -> Result<Plan, PlanError> {
    let update = serde_json::from_value(json!({"mode": "patch", "ops": ops})).unwrap();
    Plan::updated(Some(&plan()), &update)
}

#[test]
fn each_change_does_what_it_says() {
    let ids = |plan: &Plan| plan.steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
    let status =
        patched(json!([{"op": "set", "path": "/steps/s2/status", "value": "completed"}])).unwrap();
    assert_eq!(status.steps[1].status, StepStatus::Completed);
    let title = patched(json!([{"op": "set", "path": "/steps/s1/title", "value": "uno"}])).unwrap();
    assert_eq!(title.steps[0].title, "uno");
    let added =
        patched(json!([{"op": "add", "path": "/steps/s3", "value": {"title": "three"}}])).unwrap();
    assert_eq!(ids(&added), ["s1", "s2", "s3"]);
    let removed = patched(json!([{"op": "remove", "path": "/steps/s1"}])).unwrap();
    assert_eq!(ids(&removed), ["s2"]);
    let moved = patched(json!([{"op": "move", "path": "/steps/s1", "value": "s2"}])).unwrap();
    assert_eq!(ids(&moved), ["s2", "s1"]);
    let first = patched(json!([{"op": "move", "path": "/steps/s2"}])).unwrap();
    assert_eq!(ids(&first), ["s2", "s1"]);
    let goal = patched(json!([{"op": "set", "path": "/goal", "value": "h"}])).unwrap();
    assert_eq!(goal.goal, "h");
    let assumed = patched(json!([{"op": "add", "path": "/assumptions", "value": "b"}, {"op": "remove", "path": "/assumptions/0"}])).unwrap();
    assert_eq!(assumed.assumptions, ["b"]);
    let constrained =
        patched(json!([{"op": "set", "path": "/constraints/k", "value": 2}])).unwrap();
    assert_eq!(constrained.constraints["k"], Freeform::of(&2));
}

#[test]
fn what_does_not_fit_is_refused_with_its_reason() {
    let cases = [
        (
            json!([{"op": "set", "path": "/steps/s9/status", "value": "completed"}]),
            PlanError::NoSuchStep("s9".to_owned()),
        ),
        (
            json!([{"op": "add", "path": "/steps/s1", "value": {"title": "again"}}]),
            PlanError::DuplicateStep("s1".to_owned()),
        ),
        (
            json!([{"op": "set", "path": "/nowhere", "value": 1}]),
            PlanError::BadPath("/nowhere".to_owned()),
        ),
        (
            json!([{"op": "remove", "path": "/assumptions/7"}]),
            PlanError::BadPath("/assumptions/7".to_owned()),
        ),
        (json!([{"op": "move", "path": "/goal"}]), PlanError::BadPath("/goal".to_owned())),
    ];
    for (ops, error) in cases {
        assert_eq!(patched(ops), Err(error));
    }
    assert!(matches!(
        patched(json!([{"op": "set", "path": "/steps/s1/status", "value": "finished"}])),
        Err(PlanError::BadValue { .. })
    ));
    let update = PlanUpdate::Patch { ops: Vec::new() };
    assert_eq!(Plan::updated(None, &update), Err(PlanError::NoPlan));
}

fn any_op() -> impl Strategy<Value = PatchOp> {
    let op = prop_oneof![Just(Op::Set), Just(Op::Add), Just(Op::Remove), Just(Op::Move)];
    let path = prop_oneof![
        Just("/steps/s1".to_owned()),
        Just("/steps/s2/status".to_owned()),
        Just("/steps/s3".to_owned()),
        Just("/steps".to_owned()),
        Just("/goal".to_owned()),
        Just("/assumptions/0".to_owned()),
        Just("/constraints/x".to_owned()),
        "[/a-z0-9]{0,12}"
    ];
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!("s2")),
        Just(json!("completed")),
        Just(json!({"id": "s1", "title": "t"})),
        Just(json!({"title": "t"})),
        Just(json!([]))
    ];
    (op, path, value).prop_map(|(op, path, value)| PatchOp {
        op,
        path,
        value: Freeform::of(&value),
    })
}

proptest! {
    #[test]
    fn any_change_keeps_ids_unique_and_a_refused_one_changes_nothing(ops in prop::collection::vec(any_op(), 0..8)) {
        let before = plan();
        if let Ok(after) = Plan::updated(Some(&before), &PlanUpdate::Patch { ops }) {
            let mut ids: Vec<&str> = after.steps.iter().map(|step| step.id.as_str()).collect();
            ids.sort_unstable();
            let count = ids.len();
            ids.dedup();
            prop_assert_eq!(ids.len(), count);
        }
        prop_assert_eq!(before, plan());
    }
}
