//! `run.json`: what a run did, in short, made from its events alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::Spent;
use crate::event::{Event, EventKind, VERSION};
use crate::outcome::{Status, StopReason};

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
    /// Where its whole output is kept, if it is too long for its event.
    pub output: Option<String>,
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
        let data = &event.data;
        let summary = &mut self.summary;
        summary.turns = event.turn;
        if summary.status == Some(Status::Blocked) {
            (summary.status, summary.stop_reason, summary.ended) = (None, None, None);
        }
        match event.kind {
            EventKind::RunStarted => self.start(event),
            EventKind::SkillLoaded => {
                let skill = &data["skill"];
                let (name, source, hash) =
                    (text(&skill["name"]), text(&skill["source"]), text(&skill["hash"]));
                summary.skills.push(SkillUse { name, source, hash });
            }
            EventKind::ResourceLoaded => {
                let resource = data.get("path").or_else(|| data.get("chunk"));
                let resource = resource.map(text).unwrap_or_default();
                summary.resources.push(ResourceUse { skill: text(&data["skill"]), resource });
            }
            EventKind::ActionValidated => {
                let request = &data["prepared"]["request"];
                self.acting = (text(&request["permission"]), read(&request["patterns"]));
            }
            EventKind::ActionExecuted => self.executed(event),
            EventKind::ApprovalRequired => {
                let reason = StopReason::ApprovalRequired;
                self.end(event, Some(reason.status()), Some(reason));
            }
            EventKind::BudgetUpdated => summary.spent = read(&data["spent"]),
            EventKind::RunFinished => {
                summary.spent = read(&data["spent"]);
                self.end(event, read(&data["status"]), read(&data["stop_reason"]));
            }
            _ => {}
        }
    }

    fn start(&mut self, event: &Event) {
        let setup = &event.data["setup"];
        let fact = |name: &str| setup["facts"][name].as_str().map(str::to_owned);
        self.summary = RunSummary {
            v: VERSION,
            run_id: event.run_id.clone(),
            parent: fact("parent"),
            request: text(&setup["request"]),
            model: fact("model"),
            started: event.ts.clone(),
            ..RunSummary::default()
        };
    }

    fn executed(&mut self, event: &Event) {
        let observation = &event.data["observation"];
        let facts = &observation["facts"];
        self.summary.children.extend(facts["child_run"].as_str().map(str::to_owned));
        let (tool, targets) = std::mem::take(&mut self.acting);
        if !matches!(event.data["action"].as_str(), Some("call_tool" | "run_script")) {
            return;
        }
        self.summary.tools.push(ToolUse {
            turn: event.turn,
            tool,
            targets,
            code: observation["code"].as_str().map(str::to_owned),
            exit_code: facts["exit_code"].as_i64(),
            output: observation["storage_ref"].as_str().map(str::to_owned),
        });
    }

    fn end(&mut self, event: &Event, status: Option<Status>, stop_reason: Option<StopReason>) {
        self.summary.status = status;
        self.summary.stop_reason = stop_reason;
        self.summary.ended = Some(event.ts.clone());
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn read<T: serde::de::DeserializeOwned + Default>(value: &Value) -> T {
    T::deserialize(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
