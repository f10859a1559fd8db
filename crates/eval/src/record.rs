//! From a recorded run to a case that repeats it.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use agent::action::{Action, Decision};
use agent::event::{Event, EventData};
use agent::question::QuestionAnswer;
use agent::reply::Reply;
use model::scripted::{Script, Turn};
use permission::Mode;
use serde_json::{Map, Value, json};

use crate::case::{Case, Constraints, Expect, Output, SequenceConstraint, Setup};
use crate::trace::{Step, Trace};

/// A case that makes the same decisions and expects the same to come of them.
pub fn case_of(id: &str, events: &[Event]) -> Case {
    let trace = Trace::new(events);
    let setup = trace.setup();
    let skills: Vec<String> = trace.skills().into_iter().map(str::to_owned).collect();
    let mut occurred: Vec<String> = Vec::new();
    for step in trace.executed() {
        let name = step.full_name();
        if !occurred.contains(&name) {
            occurred.push(name);
        }
    }
    let changed = ["changes_applied", "changes_made"].into_iter();
    occurred.extend(changed.filter(|name| happened(&trace, name)).take(1).map(str::to_owned));
    let answers = answers(&trace);
    let first_line =
        trace.answer().and_then(|answer| answer.lines().find(|line| !line.trim().is_empty()));
    Case {
        id: id.to_owned(),
        input: setup.map_or_else(String::new, |setup| setup.request.clone()),
        setup: Setup {
            files: inputs(&trace),
            config: mode(setup.map(|setup| setup.mode).unwrap_or_default()),
            approve: approvals(&trace),
            yes: trace.executed().any(is_unclear),
            apply: happened(&trace, "changes_applied"),
            no_questions: answers.is_empty() && happened(&trace, "question_answered"),
            answers,
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
            // Only the planner knows that it could not do the work; replies from a file just answer.
            stop_reason: Some(match trace.stop_reason() {
                "no_result" => "final_answer".to_owned(),
                reason => reason.to_owned(),
            }),
            ..Expect::default()
        },
        constraints: Constraints::default(),
        mock: Some(Script { turns: turns(&trace), ..Script::default() }),
        assertions: Vec::new(),
    }
}

/// Whether there is an event of this type.
fn happened(trace: &Trace<'_>, kind: &str) -> bool {
    trace.events.iter().any(|event| event.data.kind() == kind)
}

/// A case may only be stricter than its user.
fn mode(mode: Mode) -> Map<String, Value> {
    let is_stricter = mode.strictness() > Mode::default().strictness();
    is_stricter.then(|| ("mode".to_owned(), json!(mode))).into_iter().collect()
}

/// No rule allows a command line that cannot be understood.
fn is_unclear(step: &Step<'_>) -> bool {
    step.command().is_some_and(|line| !shell::read(line).is_clear())
}

/// What the user said to questions. Nobody is asked at a limit while a case runs.
fn answers(trace: &Trace<'_>) -> Vec<String> {
    let answered = trace.of(|data| match data {
        EventData::QuestionAnswered(answered) => Some(&answered.answer),
        _ => None,
    });
    answered
        .filter_map(|answer| match answer.data {
            QuestionAnswer::Said(words) => Some(words.join(", ")),
            // Nobody wrote down what it was.
            QuestionAnswer::Kept(_) => Some("a secret".to_owned()),
            QuestionAnswer::CarryOut(mode) => Some(mode.name().to_owned()),
            QuestionAnswer::No(None) => Some("no".to_owned()),
            QuestionAnswer::No(Some(why)) => Some(format!("no {why}")),
            QuestionAnswer::Nobody | QuestionAnswer::GoOn => None,
        })
        .collect()
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

/// What stands for a reply that was no decision, and whose text was not kept.
const NO_DECISION: &str = r#"{"action": "a reply that was no decision"}"#;

/// What the model decided, call by call; what it said that was no decision stays what it was.
fn turns(trace: &Trace<'_>) -> Vec<Turn> {
    let replies = trace.of(|data| match data {
        EventData::ModelResponse(response) => Some(&response.reply),
        _ => None,
    });
    let said = |text: Option<&String>| Turn {
        text: Some(text.map_or(NO_DECISION, String::as_str).to_owned()),
        ..Turn::default()
    };
    replies
        .map(|reply| match reply.data {
            Reply::Decided { decision, .. } => decided(decision),
            Reply::Invalid { raw, answer, .. } => said(raw.text.as_ref().or(answer.as_ref())),
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
    let needs = |step: &&Step<'_>| step.granted.is_some() || step.action().runs_program();
    for step in trace.executed().filter(needs) {
        let Some(tool) = step.action().tool() else { continue };
        for pattern in step.request().into_iter().flat_map(|request| &request.patterns) {
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
        let named: Vec<String> = match (step.action(), step.command()) {
            (Action::RunScript { args, .. }, _) => args.clone(),
            (_, Some(line)) => {
                let commands = shell::read(line).commands.into_iter();
                commands.flat_map(|command| command.words.into_iter().skip(1)).collect()
            }
            (Action::CallTool { params, .. }, None) => {
                params.get("path").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
            }
            _ => Vec::new(),
        };
        for text in named {
            let path = PathBuf::from(&text);
            if path.is_relative() && !text.starts_with('-') && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}
