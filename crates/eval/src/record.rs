//! From a recorded run to a case that repeats it.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use agent::action::{Action, Decision};
use agent::event::{Event, EventData};
use agent::reply::Reply;
use agent::request::Prepared;
use model::scripted::{Script, Turn};
use serde_json::{Value, json};

use crate::case::{Case, Constraints, Expect, Output, SequenceConstraint, Setup};
use crate::trace::Trace;

/// A case that makes the same decisions and expects the same to come of them.
pub fn case_of(id: &str, events: &[Event]) -> Case {
    let trace = Trace::new(events);
    let setup = trace.setup();
    let skills: Vec<String> = trace.skills().into_iter().map(str::to_owned).collect();
    let mut occurred: Vec<String> = Vec::new();
    for step in trace.executed() {
        let name = step.name().to_owned();
        if !occurred.contains(&name) {
            occurred.push(name);
        }
    }
    let first_line =
        trace.answer().and_then(|answer| answer.lines().find(|line| !line.trim().is_empty()));
    Case {
        id: id.to_owned(),
        input: setup.map_or_else(String::new, |setup| setup.request.clone()),
        setup: Setup {
            files: inputs(&trace),
            approve: approvals(&trace),
            skill: setup.and_then(|setup| Some(setup.invoked.as_ref()?.name.clone())),
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
    let replies = trace.of(|data| match data {
        EventData::ModelResponse(response) => Some(&response.reply),
        _ => None,
    });
    let said = |text: Option<&String>| Turn {
        text: Some(text.map_or("a reply that was no decision", String::as_str).to_owned()),
        ..Turn::default()
    };
    replies
        .map(|reply| match reply.data {
            Reply::Decided { decision, .. } => decided(decision),
            Reply::Invalid { raw, .. } => said(raw.text.as_ref()),
            Reply::Failed { .. } => said(None),
        })
        .collect()
}

fn decided(decision: &Decision) -> Turn {
    Turn {
        action: Some(json!(decision.action)),
        plan_update: decision.plan_update.as_ref().map(|update| json!(update)),
        diagnostics: decision.diagnostics.as_ref().map(|said| json!(said)),
        ..Turn::default()
    }
}

/// What had to be let through, by a rule, an answer or the command line.
fn approvals(trace: &Trace<'_>) -> Vec<String> {
    let mut approvals: Vec<String> = Vec::new();
    for step in trace.executed().filter(|step| step.granted.is_some() || step.is("run_script")) {
        let Some(tool) = step.action().tool() else { continue };
        let prepared = step.validated.iter().filter_map(|validated| validated.data.prepared());
        for pattern in prepared.filter_map(Prepared::request).flat_map(|request| &request.patterns)
        {
            let approval = format!("{tool}:{pattern}");
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
        let named: Vec<&str> = match step.action() {
            Action::RunScript { args, .. } => args.iter().map(String::as_str).collect(),
            Action::CallTool { params, .. } => {
                params.get("path").and_then(Value::as_str).into_iter().collect()
            }
            _ => Vec::new(),
        };
        for text in named {
            let path = PathBuf::from(text);
            if path.is_relative() && !text.starts_with('-') && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}
