//! The open standard's own files: `evals/evals.json` of a skill, and sets of trigger queries.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Case, Constraints, Expect, Located, Setup};

/// A skill's `evals/evals.json`.
#[derive(Deserialize)]
pub(super) struct StandardFile {
    skill_name: Option<String>,
    evals: Vec<StandardEval>,
}

/// One task of it; what else it may say is the author's business.
#[derive(Deserialize)]
struct StandardEval {
    id: Option<Value>,
    prompt: String,
    expected_output: Option<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default, alias = "expectations")]
    assertions: Vec<String>,
}

/// A request, and whether the skill should be chosen for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriggerQuery {
    /// The request.
    pub query: String,
    /// Whether the skill should be chosen.
    pub should_trigger: bool,
}

/// Whether a document is a set of trigger queries.
pub fn is_trigger_set(document: &Value) -> bool {
    let queries = document.as_array().filter(|queries| !queries.is_empty());
    queries.is_some_and(|queries| queries.iter().all(|one| one.get("query").is_some()))
}

/// The skill whose folder holds `path`, and the name of that folder.
fn skill_of(path: &Path) -> Option<(PathBuf, String)> {
    let folder = path.ancestors().skip(1).find(|folder| folder.join("SKILL.md").is_file())?;
    let folder = folder.canonicalize().ok()?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    Some((folder, name))
}

pub(super) fn cases(path: &Path, sha256: &str, file: StandardFile) -> Vec<Located> {
    let skill = skill_of(path);
    let name = file.skill_name.or(skill.as_ref().map(|(_, name)| name.clone()));
    let folder = skill.as_ref().map(|(folder, _)| folder.clone());
    let numbered = file.evals.into_iter().enumerate();
    numbered
        .map(|(place, eval)| {
            let id = match eval.id {
                Some(Value::String(id)) => id,
                Some(id) => id.to_string(),
                None => (place + 1).to_string(),
            };
            let expected = eval.expected_output.map(|text| format!("The answer fits this: {text}"));
            let case = Case {
                id,
                input: eval.prompt,
                setup: Setup { files: eval.files, ..installed(folder.as_deref()) },
                expect: Expect {
                    skills_any_of: name.iter().cloned().collect(),
                    ..Expect::default()
                },
                constraints: Constraints::default(),
                mock: None,
                assertions: expected.into_iter().chain(eval.assertions).collect(),
            };
            located(path, sha256, case, name.as_deref(), folder.as_deref())
        })
        .collect()
}

/// A case for each query of a set in the folder of the skill it is about.
pub(super) fn trigger_set(path: &Path, sha256: &str, queries: Vec<TriggerQuery>) -> Vec<Located> {
    let (folder, name) = skill_of(path).unzip();
    // A file outside of any skill is named after the one it is about.
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or(stem.filter(|stem| stem != "triggers"));
    trigger_cases(path, sha256, name, folder, queries)
}

/// A case for each query of a set about the skill called `name`, which is installed from `folder` first.
pub fn trigger_cases(
    path: &Path,
    sha256: &str,
    name: Option<String>,
    folder: Option<PathBuf>,
    queries: Vec<TriggerQuery>,
) -> Vec<Located> {
    let numbered = queries.into_iter().enumerate();
    numbered
        .map(|(place, TriggerQuery { query, should_trigger })| {
            let named: Vec<String> = name.iter().cloned().collect();
            let expect = if should_trigger {
                Expect { skills_any_of: named, ..Expect::default() }
            } else {
                Expect { skills_none_of: named, ..Expect::default() }
            };
            let case = Case {
                id: format!("query-{}", place + 1),
                input: query,
                setup: installed(folder.as_deref()),
                expect,
                // The first decision is all that is asked for.
                constraints: Constraints { max_turns: Some(1), ..Constraints::default() },
                mock: None,
                assertions: Vec::new(),
            };
            let located = located(path, sha256, case, name.as_deref(), folder.as_deref());
            Located { should_trigger: Some(should_trigger), ..located }
        })
        .collect()
}

fn installed(skill: Option<&Path>) -> Setup {
    Setup { preinstall_skills: skill.map(Path::to_owned).into_iter().collect(), ..Setup::default() }
}

/// Paths in the standard's files begin in the skill's folder.
fn located(
    path: &Path,
    sha256: &str,
    case: Case,
    skill: Option<&str>,
    folder: Option<&Path>,
) -> Located {
    let own = path.parent().unwrap_or(Path::new(""));
    Located {
        case,
        suite: skill.unwrap_or("evals").to_owned(),
        file: path.to_owned(),
        sha256: sha256.to_owned(),
        folder: folder.unwrap_or(own).to_owned(),
        brought: BTreeMap::new(),
        should_trigger: None,
    }
}
