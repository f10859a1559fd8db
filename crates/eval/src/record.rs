//! From a recorded run to a case that repeats it.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use agent::event::{Event, EventKind};
use model::scripted::{Script, Turn};
use serde_json::Value;

use crate::case::{Case, Constraints, Expect, Output, SequenceConstraint, Setup};
use crate::trace::Trace;

/// A case that makes the same decisions and expects the same to come of them.
pub fn case_of(id: &str, events: &[Event]) -> Case {
    let trace = Trace::new(events);
    let setup = trace.setup();
    let skills: Vec<String> = trace.skills().into_iter().map(str::to_owned).collect();
    let mut occurred: Vec<String> = Vec::new();
    for step in trace.executed() {
        let name = step.tool().unwrap_or(step.kind()).to_owned();
        if !occurred.contains(&name) {
            occurred.push(name);
        }
    }
    let first_line =
        trace.answer().and_then(|answer| answer.lines().find(|line| !line.trim().is_empty()));
    Case {
        id: id.to_owned(),
        input: setup.and_then(|setup| setup["request"].as_str()).unwrap_or_default().to_owned(),
        setup: Setup {
            files: inputs(&trace),
            approve: approvals(&trace),
            skill: setup.and_then(|setup| setup["invoked"]["name"].as_str()).map(str::to_owned),
            ..Setup::default()
        },
        expect: Expect {
            skills_all_of: skills,
            action_sequence_constraints: order(&occurred),
            output: Output {
                contains_all: first_line.map(str::to_owned).into_iter().collect(),
                ..Output::default()
            },
            stop_reason: Some(trace.stop_reason().to_owned()),
            ..Expect::default()
        },
        constraints: Constraints::default(),
        mock: Some(Script { turns: turns(&trace), ..Script::default() }),
        assertions: Vec::new(),
    }
}

/// Each thing that was done, before the next new one.
fn order(occurred: &[String]) -> Vec<SequenceConstraint> {
    let next = occurred.iter().skip(1).cloned().map(Some).chain([None]);
    let pairs = occurred.iter().zip(next);
    pairs
        .map(|(name, before)| SequenceConstraint::MustOccur {
            must_occur: name.clone(),
            before,
            after: None,
        })
        .collect()
}

/// What the model decided, call by call; what it said that was no decision stays what it was.
fn turns(trace: &Trace<'_>) -> Vec<Turn> {
    let replies = trace.of(EventKind::ModelResponse).map(|event| &event.data["reply"]);
    replies
        .map(|reply| {
            let given = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
            match given(&reply["decision"]["action"]) {
                Some(action) => Turn {
                    action: Some(action),
                    plan_update: given(&reply["decision"]["plan_update"]),
                    diagnostics: given(&reply["decision"]["diagnostics"]),
                    ..Turn::default()
                },
                None => {
                    let said =
                        reply["raw"]["text"].as_str().unwrap_or("a reply that was no decision");
                    Turn { text: Some(said.to_owned()), ..Turn::default() }
                }
            }
        })
        .collect()
}

/// What had to be let through, by a rule, an answer or the command line.
fn approvals(trace: &Trace<'_>) -> Vec<String> {
    let mut approvals: Vec<String> = Vec::new();
    for step in trace.executed().filter(|step| step.granted.is_some() || step.is("run_script")) {
        let Some(tool) = step.tool() else { continue };
        let request = step.validated.iter().map(|event| &event.data["prepared"]["request"]);
        for pattern in request.filter_map(|request| request["patterns"].as_array()).flatten() {
            let approval = format!("{tool}:{}", pattern.as_str().unwrap_or("*"));
            if !approvals.contains(&approval) {
                approvals.push(approval);
            }
        }
    }
    approvals
}

/// Relative paths that the actions named: what may have to be there again.
fn inputs(trace: &Trace<'_>) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for step in &trace.steps {
        let payload = step.payload();
        let arguments = payload["args"].as_array().into_iter().flatten();
        for text in arguments.chain([&payload["params"]["path"]]).filter_map(Value::as_str) {
            let path = PathBuf::from(text);
            if path.is_relative() && !text.starts_with('-') && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}
