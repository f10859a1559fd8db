//! A planner without a language model: deterministic, and open about what it is.
//!
//! It loads the skill that fits the request best, runs the script the skill documents when the request
//! names its input, and otherwise hands over the skill's steps.

mod reading;

#[cfg(test)]
mod tests;

use agent::action::{Action, Decision, SkillRef};
use agent::context::{Prompt, Role};
use agent::driver::{Cancel, Model};
use agent::plan::{Op, PatchOp, Plan, PlanStep, PlanUpdate, StepStatus};
use agent::step::Reply;
use serde_json::json;
use skill::roots::Source;

use crate::decision::{estimated_usage, reply};
use reading::{Script, block, label, scripts, steps};

/// A skill that might fit, the best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether it fits well enough to be used without asking.
    pub convincing: bool,
}

/// The planner for one request.
#[derive(Debug, Clone)]
pub struct Offline {
    request: String,
    candidates: Vec<Candidate>,
}

const NOTE: &str = "No language model took part";

impl Offline {
    /// A planner that chooses among `candidates`.
    pub fn new(request: &str, candidates: Vec<Candidate>) -> Self {
        Self { request: request.to_owned(), candidates }
    }

    fn decision(&self, prompt: &Prompt<'_>) -> Decision {
        let observations: Vec<&str> = prompt
            .messages
            .iter()
            .filter(|message| {
                message.role == Role::User && message.text.starts_with("=== Observation")
            })
            .map(|message| message.text.as_str())
            .collect();
        let Some(last) = observations.last() else { return self.begin() };
        let Some(label) = label(last) else { return answer(self.nothing_fits()) };
        let skill_text = observations
            .iter()
            .find(|text| text.contains("| select_skills "))
            .map(|text| block(text));
        match (label.kind, label.ok) {
            ("select_skills", true) => self.use_skill(label.target, block(last)),
            ("run_script", true) => answer(format!(
                "{}\n\n_{NOTE}: the offline planner ran `{}`._",
                reading::stdout(block(last)).trim_end(),
                label.target
            )),
            ("run_script", false) => {
                let skill = skill_text.unwrap_or_default();
                answer(format!(
                    "The script `{}` did not do its work.\n\n{}\n\n{}",
                    label.target,
                    block(last).trim(),
                    self.by_hand(skill)
                ))
            }
            _ => answer(format!("{}\n\n{}", block(last).trim(), self.nothing_fits())),
        }
    }

    fn begin(&self) -> Decision {
        let Some(best) = self.candidates.first().filter(|best| best.convincing) else {
            return answer(self.nothing_fits());
        };
        let step = |id: &str, title: &str, status| PlanStep {
            id: id.to_owned(),
            title: title.to_owned(),
            status,
        };
        let plan = Plan {
            goal: self.request.clone(),
            steps: vec![
                step("s1", &format!("Load the skill {}", best.name), StepStatus::InProgress),
                step("s2", "Do what it says", StepStatus::Pending),
                step("s3", "Answer", StepStatus::Pending),
            ],
            ..Plan::default()
        };
        Decision {
            action: Action::SelectSkills {
                skills: vec![SkillRef { name: best.name.clone(), source: Some(best.source) }],
                reason: "its description fits the request best".to_owned(),
            },
            plan_update: Some(PlanUpdate::Replace { plan }),
            diagnostics: None,
        }
    }

    /// Runs the script that fits what the request names, or hands over the steps.
    fn use_skill(&self, name: &str, text: &str) -> Decision {
        let files: Vec<&str> = self
            .request
            .split_whitespace()
            .map(reading::unquoted)
            .filter(|word| reading::is_file(word))
            .collect();
        let fitting =
            scripts(text).into_iter().find_map(|script| Some((script.arguments(&files)?, script)));
        let Some((args, Script { path, .. })) = fitting else { return answer(self.by_hand(text)) };
        Decision {
            action: Action::RunScript {
                skill: SkillRef::named(name),
                relative_path: path.to_owned(),
                args,
                stdin: None,
            },
            plan_update: self.candidates.first().map(|_| progress()),
            diagnostics: None,
        }
    }

    fn by_hand(&self, text: &str) -> String {
        let steps = steps(text);
        match steps.is_empty() {
            true => format!(
                "{NOTE}: the offline planner found a skill but cannot carry its instructions out. Choose a model with --model, or follow the skill yourself."
            ),
            false => format!(
                "These are the skill's steps:\n\n{steps}\n\n_{NOTE}: the offline planner can run a documented script when the request names its input file, and otherwise only shows the steps. Choose a model with --model for more._"
            ),
        }
    }

    fn nothing_fits(&self) -> String {
        let nearest: Vec<&str> =
            self.candidates.iter().map(|candidate| candidate.name.as_str()).collect();
        let nearest = match nearest.is_empty() {
            true => String::new(),
            false => {
                format!(" The nearest skills are {}; choose one with --skill.", nearest.join(", "))
            }
        };
        format!(
            "No skill fits this request well enough to be used without a language model.{nearest}\n\n_{NOTE}: choose one with --model._"
        )
    }
}

fn progress() -> PlanUpdate {
    let set = |path: &str, value: &str| PatchOp {
        op: Op::Set,
        path: path.to_owned(),
        value: json!(value),
    };
    PlanUpdate::Patch {
        ops: vec![set("/steps/s1/status", "completed"), set("/steps/s2/status", "in_progress")],
    }
}

fn answer(content: String) -> Decision {
    Decision { action: Action::FinalAnswer { content }, plan_update: None, diagnostics: None }
}

impl Model for Offline {
    fn decide(&mut self, prompt: &Prompt<'_>, _: &Cancel, delta: &mut dyn FnMut(&str)) -> Reply {
        let mut decision = self.decision(prompt);
        // A plan exists only where this planner began with one.
        if !prompt.state.contains("\"id\":\"s2\"")
            && matches!(decision.plan_update, Some(PlanUpdate::Patch { .. }))
        {
            decision.plan_update = None;
        }
        let text = json!(decision).to_string();
        delta(&text);
        reply(&text, estimated_usage(prompt, &text))
    }
}
