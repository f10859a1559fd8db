//! Whatever is decided and however it is wrapped, it is read back; whatever is read, nothing panics.

use agent::action::{Action, Decision, SkillRef};
use agent::plan::{Op, PatchOp, Plan, PlanStep, PlanUpdate, StepStatus};
use agent::question::QuestionOption;
use basics::skill::Source;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

use super::super::*;

fn skill() -> impl Strategy<Value = SkillRef> {
    (any::<String>(), option::of(select(Source::ALL.to_vec())))
        .prop_map(|(name, source)| SkillRef { name, source })
}

fn choice() -> impl Strategy<Value = QuestionOption> {
    (any::<String>(), option::of(any::<String>()))
        .prop_map(|(label, description)| QuestionOption { label, description })
}

/// Any JSON, with numbers that do not depend on how floats are read.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<i16>().prop_map(|number| Value::from(f64::from(number) / 4.0)),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::from),
        ]
    })
}

fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    btree_map(any::<String>(), value, 0..4).prop_map(|members| members.into_iter().collect())
}

/// Any action.
pub(crate) fn action() -> impl Strategy<Value = Action> {
    let text = any::<String>;
    prop_oneof![
        (vec(skill(), 0..3), text())
            .prop_map(|(skills, reason)| Action::SelectSkills { skills, reason }),
        (text(), option::of(any::<u32>())).prop_map(|(query, limit)| Action::SearchSkills {
            query,
            limit: limit.map(|limit| limit as usize)
        }),
        (skill(), text(), option::of(text())).prop_map(|(skill, relative_path, section_hint)| {
            Action::LoadResource { skill, relative_path, section_hint }
        }),
        (skill(), text()).prop_map(|(skill, chunk_id)| Action::LoadChunk { skill, chunk_id }),
        (skill(), text(), vec(text(), 0..3), option::of(text())).prop_map(
            |(skill, relative_path, args, stdin)| Action::RunScript {
                skill,
                relative_path,
                args,
                stdin
            }
        ),
        (text(), object(json().prop_filter("null is none", |value| !value.is_null()))).prop_map(
            |(tool, params)| Action::CallTool { tool, params: params.into(), skill: None }
        ),
        text().prop_map(|command| Action::CallTool {
            tool: "run_command".to_owned(),
            params: serde_json::json!({"command": command, "needs": {"network": [command]}}),
            skill: None,
        }),
        (text(), vec(choice(), 0..3), any::<bool>(), any::<bool>()).prop_map(
            |(question, options, multiple, secret)| Action::AskUser {
                question,
                options,
                multiple,
                secret
            }
        ),
        (vec(text(), 0..3), text())
            .prop_map(|(paths, reason)| Action::ApplyChanges { paths, reason }),
        text().prop_map(|content| Action::FinalAnswer { content }),
    ]
}

fn plan_update() -> impl Strategy<Value = PlanUpdate> {
    let statuses = vec![
        StepStatus::Pending,
        StepStatus::InProgress,
        StepStatus::Completed,
        StepStatus::Blocked,
        StepStatus::Skipped,
    ];
    let step = (any::<String>(), any::<String>(), select(statuses))
        .prop_map(|(id, title, status)| PlanStep { id, title, status });
    let plan = (any::<String>(), vec(step, 0..3), vec(any::<String>(), 0..2), object(json()))
        .prop_map(|(goal, steps, assumptions, constraints)| Plan {
            goal,
            steps,
            assumptions,
            constraints: constraints.iter().map(|(k, v)| (k.clone(), Freeform::of(v))).collect(),
        });
    let op = (select(vec![Op::Set, Op::Add, Op::Remove, Op::Move]), any::<String>(), json())
        .prop_map(|(op, path, value)| PatchOp { op, path, value: Freeform::of(&value) });
    prop_oneof![
        plan.prop_map(|plan| PlanUpdate::Replace { plan }),
        vec(op, 0..3).prop_map(|ops| PlanUpdate::Patch { ops }),
    ]
}

/// Any decision.
pub(crate) fn decision() -> impl Strategy<Value = Decision> {
    let diagnostics = option::of(json().prop_filter("null is none", |said| !said.is_null()));
    (action(), option::of(plan_update()), diagnostics).prop_map(|(action, plan_update, said)| {
        Decision { action, plan_update, diagnostics: said.map(|said| Freeform::of(&said)) }
    })
}

/// Text around an object, before and after, that says nothing.
pub(crate) fn noise() -> impl Strategy<Value = (String, String)> {
    let before = select(vec![
        "",
        "\n ",
        "```json\n",
        "```\n",
        "<think>{\"a\": 1}</think>",
        "<thinking>so \" what {</thinking>\n\n",
        "Sure, I will do {this}:\n",
        "no {\"x\": 1}, but </think>",
        "[",
    ]);
    let after = select(vec!["", " \n", "\n```", " Done.", "} \"", "]"]);
    (vec(before, 0..3).prop_map(|parts| parts.concat()), after.prop_map(str::to_owned))
}

proptest! {
    #[test]
    fn a_decision_in_noise_is_read_back(decision in decision(), (before, after) in noise()) {
        let text = format!("{before}{}{after}", text_of(&decision));
        prop_assert_eq!(parse(&text), Ok(Understood { decision, plan_problem: None }));
    }

    #[test]
    fn a_decision_written_over_lines_is_read_back(decision in decision()) {
        let text = serde_json::to_string_pretty(&decision).unwrap();
        prop_assert_eq!(parse(&text), Ok(Understood { decision, plan_problem: None }));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn a_damaged_decision_is_read_or_refused(decision in decision(), at in any::<prop::sample::Index>(), with in "[\\x00-\\x7f]{0,3}") {
        let mut text = text_of(&decision);
        let place = text.floor_char_boundary(at.index(text.len()));
        let end = text.ceil_char_boundary(place + 1);
        text.replace_range(place..end, &with);
        if let Err(problem) = parse(&text) {
            prop_assert!(problem.for_model().len() < 1_000, "{}", problem);
        }
    }
}
