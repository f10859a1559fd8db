//! What came of an action: what the model is told, and what the record has besides.

use std::sync::Arc;

use basics::sha256::Sha256;
use basics::skill::{LoadReport, RunMode, Source};
use permission::SkillHash;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::budget::Spent;
use crate::changes::NotedChanges;
use crate::request::Refusal;

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// What the model is told.
    pub text: String,
    /// The error's code, if it failed.
    #[serde(default)]
    pub code: Option<String>,
    /// What the record says of it besides.
    #[serde(default, deserialize_with = "or_default")]
    pub facts: Facts,
    /// Where the whole content is kept, when `text` is a part of it.
    #[serde(default)]
    pub storage_ref: Option<String>,
    /// What entered the context with it.
    #[serde(default)]
    pub loaded: Vec<Loaded>,
    /// What a child run used.
    #[serde(default)]
    pub spent: Option<Spent>,
    /// What the run's layer holds by now, where that is something else than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Box<NotedChanges>>,
    /// What was applied to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<Box<NotedChanges>>,
    /// A picture that a model which can see is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Box<Image>>,
    /// The picture itself, as long as the process lasts that looked at it.
    #[serde(skip)]
    pub picture: Option<Picture>,
}

impl Observation {
    /// Something that went wrong.
    pub fn failed(refusal: &Refusal) -> Self {
        Self {
            text: format!("{}: {}\nHint: {}", refusal.code, refusal.message, refusal.hint),
            code: Some(refusal.code.clone()),
            ..Self::of("")
        }
    }

    /// Something that went well.
    pub fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            code: None,
            facts: Facts::default(),
            storage_ref: None,
            loaded: Vec::new(),
            spent: None,
            changes: None,
            applied: None,
            image: None,
            picture: None,
        }
    }
}

/// A picture in the form that providers want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// What it is, such as `image/png`.
    pub media_type: String,
    /// Its bytes in base64.
    pub base64: Arc<str>,
}

/// A picture, kept beside the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// What it is, such as `image/png`.
    pub media_type: String,
    /// Where it is kept, relative to the run's folder.
    #[serde(rename = "ref")]
    pub name: String,
    /// Its SHA-256.
    pub sha256: Sha256,
    /// Its bytes.
    pub bytes: u64,
}

/// What the record says of an action besides what the model is told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The child run that did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_run: Option<String>,
    /// SHA-256 of the last event of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child_record: Option<Sha256>,
    /// The exit code of a program that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What a program wrote to standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdout: Option<Stream>,
    /// What a program wrote to standard error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stream>,
    /// Whatever else is known: durations, limits, sizes. Nothing is decided by it.
    #[serde(flatten)]
    pub more: Details,
}

/// What a program wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stream {
    /// How much.
    pub bytes: u64,
    /// Where it is kept, relative to the run's folder; nowhere if it is empty.
    #[serde(rename = "ref")]
    pub name: Option<String>,
    /// Its SHA-256.
    pub sha256: Sha256,
}

/// Details for people who read the record; the program does not look at them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Details(Map<String, Value>);

impl Details {
    /// The fields of something.
    pub fn of(something: &impl Serialize) -> Self {
        match serde_json::to_value(something) {
            Ok(Value::Object(fields)) => Self(fields),
            _ => Self::default(),
        }
    }
}

/// Reads null as the default.
pub(crate) fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Something that entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Loaded {
    /// A skill's body.
    Skill(SelectedSkill),
    /// A file of a skill.
    Resource(LoadedFile),
    /// A chunk of a skill.
    Chunk {
        /// The skill.
        skill: String,
        /// The chunk.
        id: String,
        /// What was read and handed over; earlier versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<LoadReport>>,
    },
}

impl Loaded {
    /// The skill whose text it is; nothing for a file that may be shortened.
    pub fn skill_name(&self) -> Option<&str> {
        match self {
            Self::Skill(skill) => Some(&skill.name),
            Self::Chunk { skill, .. } => Some(skill),
            Self::Resource(_) => None,
        }
    }

    /// Where the whole text is kept, when what entered is a part of it.
    pub fn storage_ref(&self) -> Option<&str> {
        let report = match self {
            Self::Skill(skill) => Some(&skill.report),
            Self::Resource(file) => Some(&file.report),
            Self::Chunk { report, .. } => report.as_deref(),
        };
        report?.storage_ref.as_deref()
    }
}

/// A file of a skill that entered the context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedFile {
    /// The skill.
    pub skill: String,
    /// The file.
    pub path: String,
    /// What was read and handed over.
    pub report: LoadReport,
}

/// A skill the run may act for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedSkill {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// Its content.
    pub hash: SkillHash,
    /// The tools it may use, where it says so.
    pub allowed_tools: Option<Vec<String>>,
    /// The commands it may run, as patterns, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_commands: Option<Vec<String>>,
    /// In the conversation or in a child run.
    pub run_mode: RunMode,
    /// What was read and handed over.
    pub report: LoadReport,
}
