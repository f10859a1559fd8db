//! What a model can decide to do.

#[cfg(test)]
mod tests;

use std::fmt;

use basics::skill::Source;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use permission::Tool;

use crate::freeform::Freeform;
use crate::plan::PlanUpdate;
use crate::question::QuestionOption;

/// One thing to do next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Load the bodies of skills.
    SelectSkills {
        /// Which ones.
        skills: Vec<SkillRef>,
        /// Why these.
        #[serde(default)]
        reason: String,
    },
    /// Find skills that the catalog does not show.
    SearchSkills {
        /// What is needed, in words.
        query: String,
        /// How many to show.
        #[serde(default)]
        limit: Option<usize>,
    },
    /// Read one file of a selected skill.
    LoadResource {
        /// The skill.
        skill: SkillRef,
        /// The file, relative to the skill's folder.
        relative_path: String,
        /// The heading of the section that matters.
        #[serde(default)]
        section_hint: Option<String>,
    },
    /// Load one chunk of a selected skill.
    LoadChunk {
        /// The skill.
        skill: SkillRef,
        /// The chunk.
        chunk_id: String,
    },
    /// Run a script of a selected skill.
    RunScript {
        /// The skill.
        skill: SkillRef,
        /// The script, relative to the skill's folder.
        relative_path: String,
        /// Its arguments.
        #[serde(default)]
        args: Vec<String>,
        /// What it reads from standard input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdin: Option<String>,
    },
    /// Use a tool.
    CallTool {
        /// Its name.
        tool: String,
        /// Its parameters.
        #[serde(default)]
        params: Value,
        /// The skill that it is done for; without one, whichever loaded skill may use the tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<SkillRef>,
    },
    /// Read back what was shortened, or what was too long to be shown.
    ReadObservation {
        /// The number of an observation, or where its whole content is kept.
        #[serde(rename = "ref")]
        reference: String,
        /// Characters to pass over.
        #[serde(default)]
        offset: Option<usize>,
        /// Only lines that match this regular expression.
        #[serde(default)]
        pattern: Option<String>,
    },
    /// Ask the user something.
    AskUser {
        /// The question.
        question: String,
        /// Answers to choose from; none where any text will do.
        #[serde(default)]
        options: Vec<QuestionOption>,
        /// Whether several may be chosen.
        #[serde(default)]
        multiple: bool,
        /// Whether the answer is a secret, such as a password.
        #[serde(default)]
        secret: bool,
    },
    /// Put what was changed so far to the user now, not only at the end.
    ApplyChanges {
        /// Files and folders; everything outside of `.git` if none is named.
        #[serde(default)]
        paths: Vec<String>,
        /// Why now.
        #[serde(default)]
        reason: String,
    },
    /// Answer, and end the run.
    FinalAnswer {
        /// The answer.
        content: String,
    },
}

/// A type of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActionKind {
    /// Load the bodies of skills.
    SelectSkills,
    /// Find skills that the catalog does not show.
    SearchSkills,
    /// Read one file of a selected skill.
    LoadResource,
    /// Load one chunk of a selected skill.
    LoadChunk,
    /// Run a script of a selected skill.
    RunScript,
    /// Use a tool.
    CallTool,
    /// Read back what was shortened, or what was too long to be shown.
    ReadObservation,
    /// Ask the user something.
    AskUser,
    /// Put what was changed so far to the user.
    ApplyChanges,
    /// Answer, and end the run.
    FinalAnswer,
}

impl ActionKind {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SelectSkills => "select_skills",
            Self::SearchSkills => "search_skills",
            Self::LoadResource => "load_resource",
            Self::LoadChunk => "load_chunk",
            Self::RunScript => "run_script",
            Self::CallTool => "call_tool",
            Self::ReadObservation => "read_observation",
            Self::AskUser => "ask_user",
            Self::ApplyChanges => "apply_changes",
            Self::FinalAnswer => "final_answer",
        }
    }
}

impl fmt::Display for ActionKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl Action {
    /// Its type.
    pub fn kind(&self) -> ActionKind {
        match self {
            Self::SelectSkills { .. } => ActionKind::SelectSkills,
            Self::SearchSkills { .. } => ActionKind::SearchSkills,
            Self::LoadResource { .. } => ActionKind::LoadResource,
            Self::LoadChunk { .. } => ActionKind::LoadChunk,
            Self::RunScript { .. } => ActionKind::RunScript,
            Self::CallTool { .. } => ActionKind::CallTool,
            Self::ReadObservation { .. } => ActionKind::ReadObservation,
            Self::AskUser { .. } => ActionKind::AskUser,
            Self::ApplyChanges { .. } => ActionKind::ApplyChanges,
            Self::FinalAnswer { .. } => ActionKind::FinalAnswer,
        }
    }

    /// The tool that it calls: its own name for a script.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::RunScript { .. } => Some(ActionKind::RunScript.name()),
            Self::CallTool { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// Whether it runs a program, which a budget counts.
    pub fn runs_program(&self) -> bool {
        match self {
            Self::RunScript { .. } => true,
            Self::CallTool { tool, .. } => tool == Tool::RunCommand.name(),
            _ => false,
        }
    }

    /// The skill it is about, where it is about one that must have been selected.
    pub fn skill(&self) -> Option<&SkillRef> {
        match self {
            Self::LoadResource { skill, .. }
            | Self::LoadChunk { skill, .. }
            | Self::RunScript { skill, .. } => Some(skill),
            _ => None,
        }
    }

    /// A short line for people and for the record of what was done.
    pub fn summary(&self) -> String {
        let text = match self {
            Self::SelectSkills { skills, .. } => {
                skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>().join(", ")
            }
            Self::SearchSkills { query, .. } => query.clone(),
            Self::LoadResource { skill, relative_path, section_hint, .. } => {
                let section =
                    section_hint.as_deref().map(|hint| format!(" {hint}")).unwrap_or_default();
                format!("{}/{relative_path}{section}", skill.name)
            }
            Self::LoadChunk { skill, chunk_id } => format!("{} {chunk_id}", skill.name),
            Self::RunScript { skill, relative_path, args, .. } => {
                format!("{}/{relative_path} {}", skill.name, args.join(" "))
            }
            Self::CallTool { tool, params, .. } => {
                let target =
                    ["path", "url", "command", "id"].iter().find_map(|key| params.get(*key));
                match target {
                    Some(Value::String(target)) => format!("{tool} {target}"),
                    _ => tool.clone(),
                }
            }
            Self::ReadObservation { reference, .. } => reference.clone(),
            Self::AskUser { question, .. } => question.clone(),
            Self::ApplyChanges { paths, .. } => paths.join(", "),
            Self::FinalAnswer { .. } => String::new(),
        };
        let text = basics::text::one_line(&text);
        format!("{} {}", self.kind(), basics::text::prefix(&text, 200)).trim_end().to_owned()
    }
}

/// A skill by its name, and its source where several have that name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct SkillRef {
    /// The name.
    pub name: String,
    /// The source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
}

impl<'de> Deserialize<'de> for SkillRef {
    /// Models also write the bare name.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Name(String),
            Reference {
                name: String,
                #[serde(default)]
                source: Option<Source>,
            },
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Name(name) => Self { name, source: None },
            Written::Reference { name, source } => Self { name, source },
        })
    }
}

impl SkillRef {
    /// A skill by its name alone.
    pub fn from_name(name: impl Into<String>) -> Self {
        Self { name: name.into(), source: None }
    }
}

/// What a model answers in one turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// How the plan changes.
    #[serde(default)]
    pub plan_update: Option<PlanUpdate>,
    /// Whatever else the model wants to say; kept, never acted on.
    #[serde(default)]
    pub diagnostics: Option<Freeform>,
}
