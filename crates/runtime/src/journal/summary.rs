//! `run.json`: what a run did, in short, made from its events alone.

use agent::action::ActionKind;
use agent::budget::Spent;
use agent::changes::NotedChanges;
use agent::event::{ActionExecuted, Event, EventData, ResourceLoaded};
use agent::observation::{Observation, SelectedSkill};
use agent::outcome::{Status, StopReason};
use agent::request::Prepared;
use agent::setup::Setup;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The file of the summary.
pub(super) const SUMMARY: &str = "run.json";
/// The file of the answer.
pub(super) const ANSWER: &str = "final.md";

/// What a run did, in short.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSummary {
    /// The version of the format.
    pub v: u32,
    /// The run.
    pub run_id: String,
    /// The run that began it, if one did.
    pub parent: Option<String>,
    /// The run that it continues, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<String>,
    /// What the user wants.
    pub request: String,
    /// Who decides.
    pub model: Option<String>,
    /// How it ended; nothing while it goes on, or when it was cut off.
    pub status: Option<Status>,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// When it began.
    pub started: String,
    /// When it ended.
    pub ended: Option<String>,
    /// The last turn.
    pub turns: u32,
    /// Skills it loaded.
    pub skills: Vec<SkillUse>,
    /// Files and chunks of skills it loaded.
    pub resources: Vec<ResourceUse>,
    /// Tools and scripts it used.
    pub tools: Vec<ToolUse>,
    /// What became of the files it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesSummary>,
    /// Child runs it began.
    pub children: Vec<String>,
    /// What it used of its budget, with tokens and money.
    pub spent: Spent,
    /// The events it was made from.
    pub record: Option<Seal>,
}

/// A skill that a run loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillUse {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Its content.
    pub hash: String,
}

/// A file or a chunk of a skill that a run loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceUse {
    /// The skill.
    pub skill: String,
    /// The file's path or the chunk's name.
    pub resource: String,
}

/// A tool or script that a run used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// In which turn.
    pub turn: u32,
    /// The tool.
    pub tool: String,
    /// What it was used on.
    pub targets: Vec<String>,
    /// The error's code, if it failed.
    pub code: Option<String>,
    /// The exit code, if it is something that has one.
    pub exit_code: Option<i64>,
    /// What came of it, in short: the beginning and the end of what it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Where its whole output is kept, if it is too long for its event.
    pub output: Option<String>,
}

/// What became of the files that a run changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesSummary {
    /// What is in the run's layer alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<NotedChanges>,
    /// What came to the workspace, and is still there.
    pub applied: Vec<NotedChanges>,
    /// What was taken back.
    pub undone: Vec<NotedChanges>,
}

/// The end of a record, which tells whether anything was changed or added since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Seal {
    /// How many events there are.
    pub events: u64,
    /// SHA-256 of the last line.
    pub sha256: String,
}

impl RunSummary {
    pub(super) fn sealed(self, events: u64, sha256: &str) -> Self {
        Self { record: Some(Seal { events, sha256: sha256.to_owned() }), ..self }
    }

    /// The bytes of `run.json`.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).unwrap_or_default();
        json.push(b'\n');
        json
    }
}

/// The summary of these events.
pub fn summary(events: &[Event]) -> RunSummary {
    let mut summing = Summing::default();
    events.iter().for_each(|event| summing.add(event));
    summing.summary
}

/// A summary in the making: the end of a run costs no more when there were many events.
#[derive(Debug, Default)]
pub(super) struct Summing {
    pub(super) summary: RunSummary,
    /// What the current action was allowed to do: permission and patterns.
    acting: (String, Vec<String>),
}

impl Summing {
    pub(super) fn add(&mut self, event: &Event) {
        let summary = &mut self.summary;
        summary.turns = event.turn;
        if summary.status == Some(Status::Blocked) {
            (summary.status, summary.stop_reason, summary.ended) = (None, None, None);
        }
        match &event.data {
            EventData::RunStarted(started) => self.start(event, &started.setup),
            EventData::SkillLoaded(loaded) => {
                let SelectedSkill { name, source, hash, .. } = &loaded.skill;
                summary.skills.push(SkillUse {
                    name: name.clone(),
                    source: source.to_string(),
                    hash: hash.0.clone(),
                });
            }
            EventData::ResourceLoaded(loaded) => {
                let (skill, resource) = match &**loaded {
                    ResourceLoaded::Chunk { skill, chunk, .. } => (skill, chunk),
                    ResourceLoaded::File(file) => (&file.skill, &file.path),
                };
                let (skill, resource) = (skill.clone(), resource.clone());
                summary.resources.push(ResourceUse { skill, resource });
            }
            EventData::ActionValidated(validated) => {
                let request = validated.prepared().and_then(Prepared::request);
                self.acting = request.map_or_else(Default::default, |request| {
                    (request.permission.to_string(), request.patterns.clone())
                });
            }
            EventData::ActionExecuted(executed) => self.executed(event.turn, executed),
            EventData::ApprovalRequired(_) => {
                let reason = StopReason::ApprovalRequired;
                self.end(event, reason.status(), reason);
            }
            EventData::QuestionAsked(_) => {
                let reason = StopReason::ApprovalRequired;
                self.end(event, reason.status(), reason);
            }
            EventData::ChangesMade(made) => {
                summary.changes.get_or_insert_default().kept =
                    Some(made.changes.clone()).filter(|changes| !changes.is_empty());
            }
            EventData::ChangesApplied(applied) => {
                let changes = summary.changes.get_or_insert_default();
                changes.applied.push(applied.changes.clone());
            }
            EventData::ChangesUndone(undone) => {
                let changes = summary.changes.get_or_insert_default();
                changes.applied.retain(|applied| applied.name != undone.changes.name);
                changes.undone.push(undone.changes.clone());
            }
            EventData::BudgetUpdated(updated) => summary.spent = updated.spent,
            EventData::RunFinished(finished) => {
                summary.spent = finished.spent;
                self.end(event, finished.status, finished.stop_reason);
            }
            _ => {}
        }
    }

    fn start(&mut self, event: &Event, setup: &Setup) {
        self.summary = RunSummary {
            v: event.v,
            run_id: event.run_id.clone(),
            parent: setup.facts.parent.clone(),
            continues: setup.continues.as_ref().map(|link| link.run.clone()),
            request: setup.request.clone(),
            model: setup.facts.model.clone(),
            started: event.ts.clone(),
            ..RunSummary::default()
        };
    }

    fn executed(&mut self, turn: u32, executed: &ActionExecuted) {
        let Observation { code, facts, storage_ref, .. } = &executed.observation;
        self.summary.children.extend(facts.child_run.clone());
        let (tool, targets) = std::mem::take(&mut self.acting);
        if !matches!(executed.action, ActionKind::CallTool | ActionKind::RunScript) {
            return;
        }
        // Summaries of version 1 had none, and are compared byte for byte.
        let summary = (self.summary.v > 1).then(|| key_output(&executed.observation.text));
        self.summary.tools.push(ToolUse {
            turn,
            tool,
            targets,
            code: code.clone(),
            exit_code: facts.exit_code.map(i64::from),
            summary: summary.filter(|text| !text.is_empty()),
            output: storage_ref.clone(),
        });
    }

    fn end(&mut self, event: &Event, status: Status, stop_reason: StopReason) {
        self.summary.status = Some(status);
        self.summary.stop_reason = Some(stop_reason);
        self.summary.ended = Some(event.ts.clone());
    }
}

/// Characters of each stream's beginning and end that a summary holds.
const HEAD: usize = 160;
const TAIL: usize = 60;

/// What a script wrote, or what a tool came to, in short.
fn key_output(text: &str) -> String {
    let result: Value = serde_json::from_str(text).unwrap_or_default();
    let streams = ["stdout", "stderr"].map(|stream| result[stream].as_str());
    match streams {
        [None, None] => ends(text),
        streams => {
            let written = streams.into_iter().flatten().map(ends);
            written.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}

/// The beginning and the end of a text, as far as there is more.
fn ends(text: &str) -> String {
    let text = text.trim();
    let chars = text.chars().count();
    if chars <= HEAD + TAIL {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(chars - TAIL).collect();
    format!("{} […] {tail}", basics::text::prefix(text, HEAD))
}

#[cfg(test)]
mod tests;
