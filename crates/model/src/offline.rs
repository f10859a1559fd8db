//! A deterministic planner for those without a language model, honest about what it is.
//!
//! It selects the skill that ranks best if that is convincing. It runs the script that the skill documents on the files
//! that the request names, on the only file that fits, or on what was piped in, and answers with what the script
//! printed; otherwise with the part of the skill that fits the request, or with the skills that came nearest.
//!
//! Invariant: a decision depends on the ranking and the prompt alone, and every decision brings the end nearer: at most
//! one selection, then a look at no more than four folders, then at most four scripts, then the answer. Text of
//! strangers is read only between the run's marks, and decides nothing but which script of the selected skill is asked for.

mod answer;
mod conversation;
mod file_names;
mod folders;
mod manual;
mod piped;
mod plan;
mod section;
mod usage;

use agent::action::{Action, Decision, SkillRef};
use agent::budget::Usage;
use agent::context::Prompt;
use agent::model::{Cancel, Model};
use agent::plan::StepStatus;
use agent::reply::{Raw, Reply};
use serde_json::json;
use skill::search::Hit;

use crate::decision::text_of;
use conversation::{Conversation, Observed, Skill};
use file_names::file_names;
use folders::{Folders, Found};
use manual::Manual;
pub use piped::query;
use usage::ScriptRun;

/// How often a script is run, for requests that name many files.
const MAX_RUNS: usize = 4;

/// The planner, for one request.
#[derive(Clone, Debug)]
pub struct Offline {
    ranked: Vec<Hit>,
}

/// A decision, and whether it only says why the work could not be done.
struct Decided {
    decision: Decision,
    unable: bool,
}

impl Offline {
    /// A planner that knows how the skills rank for the [`query`] that a request makes, the best first.
    pub fn new(ranked: Vec<Hit>) -> Self {
        Self { ranked }
    }

    fn decide_on(&self, conversation: &Conversation<'_>) -> Decided {
        match (&conversation.skill, conversation.observed.last()) {
            (Some(skill), _) => with_skill(conversation, skill),
            (None, None) => self.begin(conversation),
            (None, Some(observed)) if observed.is_ok() => {
                // The skill worked in a run of its own, and this is its answer.
                let text = answer::of_child(observed);
                conversation.answer(text, StepStatus::Completed, StepStatus::Completed)
            }
            (None, Some(observed)) if observed.state == "SubagentStopped" => {
                let text = answer::of_child(observed);
                conversation.give_up(text, StepStatus::Completed, StepStatus::Blocked)
            }
            (None, Some(observed)) => {
                let text = answer::not_loaded(observed);
                conversation.give_up(text, StepStatus::Blocked, StepStatus::Skipped)
            }
        }
    }

    fn begin(&self, conversation: &Conversation<'_>) -> Decided {
        let Some(hit) = convincing(&self.ranked, conversation.request) else {
            let text = answer::no_skill(&self.ranked);
            return conversation.give_up(text, StepStatus::Skipped, StepStatus::Skipped);
        };
        let skill = SkillRef { name: hit.name.clone(), source: Some(hit.source) };
        let reason = format!("ranks best for the request ({})", hit.why);
        let action = Action::SelectSkills { skills: vec![skill], reason };
        conversation.act(action, StepStatus::InProgress, StepStatus::Pending)
    }
}

impl Model for Offline {
    fn decide(
        &mut self,
        prompt: &Prompt<'_>,
        _cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Reply {
        let Decided { decision, unable } = self.decide_on(&Conversation::read(prompt));
        let text = text_of(&decision);
        delta(&text);
        let (usage, raw) = (Usage::default(), Raw::of(&text));
        Reply::Decided {
            decision,
            usage,
            raw,
            plan_problem: None,
            again: false,
            unable,
            unstructured: false,
        }
    }
}

fn with_skill(conversation: &Conversation<'_>, skill: &Skill<'_>) -> Decided {
    let Conversation { request, piped, .. } = *conversation;
    let manual = Manual::read(skill.text);
    let done: Vec<&Observed<'_>> =
        conversation.observed.iter().filter(|observed| observed.is_script()).collect();
    if let Some((failure, before)) = done.split_last().filter(|(last, _)| !last.is_ok()) {
        let text = answer::script_failed(failure, before, &skill.name, &manual.part_for(request));
        return conversation.give_up(text, StepStatus::Completed, StepStatus::Blocked);
    }
    let names = file_names(request);
    let named = manual.runs(&names, request);
    let runs = match piped.filter(|_| named.is_empty()) {
        Some(text) => manual.piped_run(text, request).into_iter().collect(),
        None => {
            let seeks = names.is_empty() && manual.takes_known_files();
            let folders = Folders::of(&named, seeks, &conversation.observed);
            if let Some(folder) = folders.next() {
                return conversation.look(folder, skill);
            }
            let missing = folders.missing(&named);
            if !missing.is_empty() {
                let text = answer::missing(&missing, &skill.name);
                return conversation.give_up(text, StepStatus::Completed, StepStatus::Blocked);
            }
            match folders.found(|file| manual.fits(file, request)) {
                Found::One(file) => manual.runs(&[&file], request),
                Found::Several(files) if !manual.runs(&[&files[0]], request).is_empty() => {
                    let text = answer::which_file(&files, &skill.name);
                    return conversation.give_up(text, StepStatus::Completed, StepStatus::Blocked);
                }
                _ => named,
            }
        }
    };
    let (runs, left_out) = runs.split_at(runs.len().min(MAX_RUNS));
    match runs.get(done.len()) {
        Some(run) => conversation.run(run, skill),
        None if done.is_empty() => {
            let text = answer::steps(&skill.name, &manual, request);
            conversation.answer(text, StepStatus::Completed, StepStatus::Skipped)
        }
        None => {
            let text = answer::output(&done, left_out, &skill.name);
            conversation.answer(text, StepStatus::Completed, StepStatus::Completed)
        }
    }
}

impl Conversation<'_> {
    /// A decision to look into a folder.
    fn look(&self, folder: &str, skill: &Skill<'_>) -> Decided {
        let action = Action::CallTool {
            tool: "list_dir".to_owned(),
            params: json!({"path": folder}),
            skill: Some(SkillRef { name: skill.name.clone(), source: skill.source }),
        };
        self.act(action, StepStatus::Completed, StepStatus::Pending)
    }

    /// A decision to run a script.
    fn run(&self, run: &ScriptRun, skill: &Skill<'_>) -> Decided {
        let action = Action::RunScript {
            skill: SkillRef { name: skill.name.clone(), source: skill.source },
            relative_path: run.path.clone(),
            args: run.args.clone(),
            stdin: run.stdin.clone(),
        };
        self.act(action, StepStatus::Completed, StepStatus::InProgress)
    }
}

/// The best hit, if it fits and the next skill is clearly behind. Scores alone say little, since they grow with the
/// number of skills.
fn convincing<'a>(ranked: &'a [Hit], request: &str) -> Option<&'a Hit> {
    const AHEAD: f32 = 1.2;
    let best = ranked.first()?;
    let ahead = ranked.get(1).is_none_or(|next| best.score >= next.score * AHEAD);
    (ahead && (fits(best) || is_for_file(best, request))).then_some(best)
}

/// Whether the skill's name has the ending of a file that the request names.
fn is_for_file(hit: &Hit, request: &str) -> bool {
    let words = request.split_whitespace();
    let words = words.map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()));
    let mut endings = words.filter_map(|word| word.rsplit_once('.').map(|(_, ending)| ending));
    endings.any(|ending| {
        hit.name.split('-').any(|part| !part.is_empty() && part.eq_ignore_ascii_case(ending))
    })
}

/// Whether a hit is more than a coincidence: three words of the request match, or two of which one is in the skill's name.
pub fn fits(hit: &Hit) -> bool {
    let parts = || hit.why.split("; ").filter_map(|part| part.split_once(": "));
    let mut words: Vec<&str> = parts().flat_map(|(_, words)| words.split(", ")).collect();
    words.sort_unstable();
    words.dedup();
    let named = parts().any(|(field, _)| field == "name");
    words.len() >= 3 || (words.len() == 2 && named)
}

#[cfg(test)]
mod tests;
