//! What a case says: a request, where it is made, and what is expected of the run.

mod expected;
mod read;
mod standard;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::scripted::Script;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use expected::ExpectedContent;
pub use read::{CaseError, read, read_file};
pub use standard::{TriggerQuery, is_trigger_set, trigger_cases};

/// One request, and what is expected of the run that it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// A name that no other case of the suite has.
    pub id: String,
    /// What the user wants.
    pub input: String,
    /// Where it is wanted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub setup: Setup,
    /// What must come of it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expect: Expect,
    /// What it may use.
    #[serde(default, skip_serializing_if = "is_default")]
    pub constraints: Constraints,
    /// What the scripted model replies; without it the case needs a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mock: Option<Script>,
    /// Sentences that a model judges, at level 2 only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<String>,
}

/// The workspace and home that a case is run in; both are new and empty.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// Folders of skills, relative to the case or to the project.
    #[serde(skip_serializing_if = "is_default")]
    pub skill_roots: Vec<PathBuf>,
    /// Skills that are installed for the user first: folders or packs.
    #[serde(skip_serializing_if = "is_default")]
    pub preinstall_skills: Vec<PathBuf>,
    /// Packs whose installation must be refused and leave nothing behind.
    #[serde(skip_serializing_if = "is_default")]
    pub refused_skills: Vec<PathBuf>,
    /// Files that are copied to the workspace, inside the case's folder. A leading `inputs/` is left out there.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<PathBuf>,
    /// Settings that are stricter than the user's; those of `model` and `execution` are the user's alone.
    #[serde(skip_serializing_if = "is_default")]
    pub config: Map<String, Value>,
    /// What is approved beforehand, as with `run --approve`, inside the workspace; what the user denies stays denied.
    #[serde(skip_serializing_if = "is_default")]
    pub approve: Vec<String>,
    /// Whether medium risk is approved beforehand, as with `run --yes`.
    #[serde(skip_serializing_if = "is_default")]
    pub yes: bool,
    /// Whether what the run changes is applied, as with `run --apply`. Files are judged in the workspace then, and
    /// otherwise as the run has them in its layer.
    #[serde(skip_serializing_if = "is_default")]
    pub apply: bool,
    /// What the user answers to the run's questions, one after the other.
    #[serde(skip_serializing_if = "is_default")]
    pub answers: Vec<String>,
    /// Whether the model is told that nobody answers, as with `run --no-questions`.
    #[serde(skip_serializing_if = "is_default")]
    pub no_questions: bool,
    /// Messages of commits, the oldest first: with any, the workspace is a Git repository. The first commit has all
    /// files, the others have none.
    #[serde(skip_serializing_if = "is_default")]
    pub commits: Vec<String>,
    /// A skill that the user chooses.
    #[serde(skip_serializing_if = "is_default")]
    pub skill: Option<String>,
}

/// What must come of a run. What is not said is not checked, but for the promises that every run must keep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// At least one of these skills is loaded.
    #[serde(skip_serializing_if = "is_default")]
    pub skills_any_of: Vec<String>,
    /// All of these are.
    #[serde(skip_serializing_if = "is_default")]
    pub skills_all_of: Vec<String>,
    /// None of these is.
    #[serde(skip_serializing_if = "is_default")]
    pub skills_none_of: Vec<String>,
    /// What is done, and in which order.
    #[serde(skip_serializing_if = "is_default")]
    pub action_sequence_constraints: Vec<SequenceConstraint>,
    /// Codes that the model observes at least once each.
    #[serde(skip_serializing_if = "is_default")]
    pub error_codes: Vec<String>,
    /// What the answer is like.
    #[serde(skip_serializing_if = "is_default")]
    pub output: Output,
    /// What files are like afterwards.
    #[serde(skip_serializing_if = "is_default")]
    pub files: Vec<ExpectedFile>,
    /// Why the run stops.
    #[serde(skip_serializing_if = "is_default")]
    pub stop_reason: Option<String>,
}

/// One rule about what was carried out, named by the type of the action, the tool or the type of the event. A pattern
/// after a colon says more: `run_command:git log *`, `write_file:*.md`, `changes_applied:notes.txt`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum SequenceConstraint {
    /// One occurs.
    MustOccur {
        /// Which.
        must_occur: String,
        /// The first one comes before the first of these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// The first one comes after the first of these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
    },
    /// One never occurs.
    Forbid {
        /// Which.
        forbid: String,
    },
    /// One occurs at most so often.
    Max {
        /// How often.
        max: usize,
        /// Which.
        of: String,
    },
    /// One occurs at least so often.
    Min {
        /// How often.
        min: usize,
        /// Which.
        of: String,
    },
}

/// What the answer is like.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// It holds all of these texts.
    #[serde(skip_serializing_if = "is_default")]
    pub contains_all: Vec<String>,
    /// It holds one of these, where there are any.
    #[serde(skip_serializing_if = "is_default")]
    pub contains_any: Vec<String>,
    /// It holds none of these.
    #[serde(skip_serializing_if = "is_default")]
    pub not_contains: Vec<String>,
    /// A regular expression finds something in it.
    #[serde(skip_serializing_if = "is_default")]
    pub regex: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "is_default")]
    pub format: Option<Format>,
    /// It is JSON that this schema allows.
    #[serde(skip_serializing_if = "is_default")]
    pub json_schema: Option<Value>,
}

/// What an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Any text.
    Text,
    /// Any text that is not empty.
    Markdown,
    /// A JSON document.
    Json,
}

/// What a file is like after the run: in the workspace where the case applies the changes, else in the run's layer over
/// it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFile {
    /// Where.
    pub path: PathBuf,
    /// Where it is judged, if not where the case says.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Whether it is there.
    #[serde(default = "yes")]
    pub exists: bool,
    /// Its SHA-256, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// It is JSON that this schema allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Value>,
}

/// Where files are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the run's layer over the workspace: as they would be if all changes were applied.
    Layer,
    /// In the workspace itself.
    Workspace,
}

impl Case {
    /// Where its files are judged, if nothing else is said.
    pub fn place(&self) -> Place {
        if self.setup.apply { Place::Workspace } else { Place::Layer }
    }
}

fn yes() -> bool {
    true
}

/// What a case does not say is not written either.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a run may use.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Constraints {
    /// Turns.
    #[serde(skip_serializing_if = "is_default")]
    pub max_turns: Option<u32>,
    /// Calls of tools, scripts included.
    #[serde(skip_serializing_if = "is_default")]
    pub max_tool_calls: Option<u32>,
    /// Runs of scripts.
    #[serde(skip_serializing_if = "is_default")]
    pub max_script_runs: Option<u32>,
    /// Seconds that a script may take.
    #[serde(skip_serializing_if = "is_default")]
    pub max_script_seconds: Option<u64>,
    /// Seconds.
    #[serde(skip_serializing_if = "is_default")]
    pub max_wall_seconds: Option<u64>,
    /// Tools that are off, and must not have run.
    #[serde(skip_serializing_if = "is_default")]
    pub deny_tools: Vec<String>,
}

/// A case, and where its relative paths begin.
#[derive(Debug, Clone, PartialEq)]
pub struct Located {
    /// The case.
    pub case: Case,
    /// The suite: the name of the folder or file that holds it.
    pub suite: String,
    /// The file that says it.
    pub file: PathBuf,
    /// The SHA-256 of that file.
    pub sha256: String,
    /// The folder that its paths begin in.
    pub folder: PathBuf,
    /// Where folders and packs are that the case names and a [shelf](crate::shelf) has.
    pub brought: BTreeMap<PathBuf, PathBuf>,
    /// For a query of a trigger set, whether it should trigger its skill.
    pub should_trigger: Option<bool>,
}

impl Located {
    /// Suite and name, which together are unique.
    pub fn name(&self) -> String {
        format!("{}/{}", self.suite, self.case.id)
    }

    /// Whether the case has a folder to itself, with inputs that are meant for it alone.
    pub fn has_folder(&self) -> bool {
        self.file.file_stem().is_some_and(|stem| stem == "case")
    }

    /// The folders of skills and the packs that the case names.
    pub fn references(&self) -> impl Iterator<Item = &Path> {
        let Setup { skill_roots, preinstall_skills, refused_skills, .. } = &self.case.setup;
        skill_roots.iter().chain(preinstall_skills).chain(refused_skills).map(PathBuf::as_path)
    }

    /// A path of the case: on the shelf, below its folder, or below `elsewhere` where there is none.
    pub fn resolve(&self, path: &Path, elsewhere: &Path) -> PathBuf {
        if let Some(taken) = self.brought.get(path) {
            return taken.clone();
        }
        let own = self.folder.join(path);
        if own.exists() { own } else { elsewhere.join(path) }
    }
}
