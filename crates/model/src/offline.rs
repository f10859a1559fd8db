//! A deterministic planner for those without a language model, honest about what it is.
//!
//! It selects the skill that ranks best if that is convincing, runs the script that the skill documents if the request
//! names the script's files, and answers with what the script printed; otherwise with the skill's steps, or with the
//! skills that came nearest.
//!
//! Invariant: a decision depends on the ranking and the prompt alone, and every decision brings the end nearer: at most
//! one selection, then at most four scripts, then the answer. Text of strangers is read only between the
//! run's marks, and decides nothing but which script of the selected skill is asked for.

mod answer;
mod conversation;
mod file_names;
mod manual;
mod plan;
mod usage;

use agent::action::{Action, Decision, SkillRef};
use agent::budget::Usage;
use agent::context::Prompt;
use agent::model::{Cancel, Model};
use agent::plan::StepStatus;
use agent::reply::{Raw, Reply};
use skill::search::Hit;

use crate::decision::text_of;
use conversation::{Conversation, Observed, Skill};
use manual::Manual;

/// How often a script is run, for requests that name many files.
const MAX_RUNS: usize = 4;

/// The planner, for one request.
#[derive(Clone, Debug)]
pub struct Offline {
    ranked: Vec<Hit>,
}

impl Offline {
    /// A planner that knows how the skills rank for the request, the best first.
    pub fn new(ranked: Vec<Hit>) -> Self {
        Self { ranked }
    }

    fn decide_on(&self, conversation: &Conversation<'_>) -> Decision {
        match (&conversation.skill, conversation.observed.last()) {
            (Some(skill), _) => with_skill(conversation, skill),
            (None, None) => self.begin(conversation),
            (None, Some(observed)) if observed.is_ok() => {
                // The skill worked in a run of its own, and this is its answer.
                let text = answer::of_child(observed);
                conversation.answer(text, StepStatus::Completed, StepStatus::Completed)
            }
            (None, Some(observed)) => {
                let text = answer::not_loaded(observed);
                conversation.answer(text, StepStatus::Blocked, StepStatus::Skipped)
            }
        }
    }

    fn begin(&self, conversation: &Conversation<'_>) -> Decision {
        let Some(hit) = convincing(&self.ranked) else {
            let text = answer::no_skill(&self.ranked);
            return conversation.answer(text, StepStatus::Skipped, StepStatus::Skipped);
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
        let decision = self.decide_on(&Conversation::read(prompt));
        let text = text_of(&decision);
        delta(&text);
        Reply::decided(decision, Usage::default(), Raw::of(&text))
    }
}

fn with_skill(conversation: &Conversation<'_>, skill: &Skill<'_>) -> Decision {
    let manual = Manual::read(skill.text);
    let runs = manual.runs(conversation.request);
    let (runs, left_out) = runs.split_at(runs.len().min(MAX_RUNS));
    let done: Vec<&Observed<'_>> =
        conversation.observed.iter().filter(|observed| observed.is_script()).collect();
    if let Some((failure, before)) = done.split_last().filter(|(last, _)| !last.is_ok()) {
        let text = answer::script_failed(failure, before, &skill.name, &manual);
        return conversation.answer(text, StepStatus::Completed, StepStatus::Blocked);
    }
    match runs.get(done.len()) {
        Some(run) => {
            let action = Action::RunScript {
                skill: SkillRef { name: skill.name.clone(), source: skill.source },
                relative_path: run.path.clone(),
                args: run.args.clone(),
                stdin: None,
            };
            conversation.act(action, StepStatus::Completed, StepStatus::InProgress)
        }
        None if done.is_empty() => {
            let text = answer::steps(&skill.name, &manual);
            conversation.answer(text, StepStatus::Completed, StepStatus::Skipped)
        }
        None => {
            let text = answer::output(&done, left_out, &skill.name);
            conversation.answer(text, StepStatus::Completed, StepStatus::Completed)
        }
    }
}

/// The best hit, if it is more than a coincidence: three words of the request match, or two of which one is in the
/// skill's name, and the next skill is clearly behind. Scores alone say little, since they grow with the number of skills.
fn convincing(ranked: &[Hit]) -> Option<&Hit> {
    const AHEAD: f32 = 1.2;
    let best = ranked.first()?;
    let parts = || best.why.split("; ").filter_map(|part| part.split_once(": "));
    let mut words: Vec<&str> = parts().flat_map(|(_, words)| words.split(", ")).collect();
    words.sort_unstable();
    words.dedup();
    let named = parts().any(|(field, _)| field == "name");
    let ahead = ranked.get(1).is_none_or(|next| best.score >= next.score * AHEAD);
    (ahead && (words.len() >= 3 || (words.len() == 2 && named))).then_some(best)
}

#[cfg(test)]
mod tests;
