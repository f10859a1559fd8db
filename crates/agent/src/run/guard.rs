//! Is an action legal now? Decided before anything is looked up.

use basics::inner_path::InnerPath;
use permission::{Mode, Tool, ToolSet};

use super::ask::used_up;
use super::{ChunkRef, Run};
use crate::action::{Action, SkillRef};
use crate::observation::SelectedSkill;
use crate::outcome::StopReason;
use crate::question::{About, Question};
use crate::request::Refusal;
use crate::setup::RunKind;

/// What the guard says.
pub(super) enum Ruling {
    /// Legal; what is already there is left out.
    Go(Action),
    /// There is nothing to do: this is the result.
    Known(String),
    /// The run is over.
    Answer(String),
    /// This is a plan, which a person approves first.
    Plan(String),
    /// The model asks something.
    Question(Question),
    /// A limit was reached, and a person may let it go on.
    Limit(StopReason),
    /// Not now, or not at all.
    Illegal(Refusal),
}

impl Run {
    pub(super) fn rule(&self, action: &Action) -> Ruling {
        match self.check(action) {
            Ok(ruling) => ruling,
            Err(refusal) => Ruling::Illegal(refusal),
        }
    }

    fn check(&self, action: &Action) -> Result<Ruling, Refusal> {
        match action {
            Action::FinalAnswer { content } => {
                let is_plan = self.setup.mode == Mode::Plan && self.setup.kind == RunKind::Own;
                return Ok(if is_plan {
                    Ruling::Plan(content.clone())
                } else {
                    Ruling::Answer(content.clone())
                });
            }
            Action::AskUser { question, options, multiple, secret } => {
                self.check_question()?;
                return Ok(Ruling::Question(Question {
                    about: About::Task,
                    question: question.clone(),
                    options: options.clone(),
                    multiple: *multiple,
                    secret: *secret,
                }));
            }
            Action::ApplyChanges { .. } if self.pending().is_none() => {
                return Ok(Ruling::Known("Nothing was changed that could be applied.".to_owned()));
            }
            Action::ApplyChanges { .. } => {}
            Action::SelectSkills { skills, reason } => return self.check_selection(skills, reason),
            Action::SearchSkills { .. } | Action::ReadObservation { .. } => {}
            Action::LoadResource { skill, .. } => self.check_selected(skill)?,
            Action::LoadChunk { skill, chunk_id } => {
                self.check_selected(skill)?;
                let name = &skill.name;
                if self.chunks.iter().any(|chunk| chunk.skill == *name && chunk.id == *chunk_id) {
                    return Ok(Ruling::Known(format!(
                        "The chunk {chunk_id} of {name} is already loaded; see above."
                    )));
                }
            }
            Action::RunScript { skill, relative_path, .. } => {
                let skill = self.known(skill)?;
                is_script(relative_path)?;
                self.allowed(Tool::RunScript.name(), Some(skill))?;
                if let Some(limit) = self.spent_limit(action) {
                    return self.at_limit(limit);
                }
            }
            Action::CallTool { tool, skill, .. } => {
                match skill {
                    Some(skill) => self.allowed(tool, Some(self.known(skill)?))?,
                    None => self.allowed_for_any(tool)?,
                }
                if let Some(limit) = self.spent_limit(action) {
                    return self.at_limit(limit);
                }
            }
        }
        Ok(Ruling::Go(self.pinned(action)))
    }

    /// Several skills may have one name: what is done is done with the one that was selected.
    fn pinned(&self, action: &Action) -> Action {
        let mut pinned = action.clone();
        if let Action::LoadResource { skill, .. }
        | Action::LoadChunk { skill, .. }
        | Action::RunScript { skill, .. } = &mut pinned
            && let Ok(selected) = self.known(skill)
        {
            skill.source = Some(selected.source);
        }
        pinned
    }

    /// A client elsewhere may read from a skill that it has not selected.
    fn check_selected(&self, skill: &SkillRef) -> Result<(), Refusal> {
        if self.setup.kind != RunKind::Served {
            self.known(skill)?;
        }
        Ok(())
    }

    fn check_selection(&self, skills: &[SkillRef], reason: &str) -> Result<Ruling, Refusal> {
        let limit = self.setup.patience.skills_per_turn;
        if skills.is_empty() || skills.len() > limit {
            let message =
                format!("select_skills names {} skills, it must be 1 to {limit}", skills.len());
            return Err(Refusal::new("InvalidAction", message, "select one skill at a time"));
        }
        let mut fresh: Vec<SkillRef> = Vec::new();
        for skill in skills {
            if self.known(skill).is_err() && !fresh.contains(skill) {
                fresh.push(skill.clone());
            }
        }
        if fresh.is_empty() {
            let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            return Ok(Ruling::Known(format!("{} already loaded; see above.", names.join(", "))));
        }
        Ok(Ruling::Go(Action::SelectSkills { skills: fresh, reason: reason.to_owned() }))
    }

    /// The chunks it has loaded.
    pub fn loaded_chunks(&self) -> &[ChunkRef] {
        &self.chunks
    }

    /// The skills it has loaded, and what they may use.
    pub fn selected(&self) -> &[SelectedSkill] {
        &self.selected
    }

    /// The skills it has loaded.
    pub fn selected_skills(&self) -> Vec<SkillRef> {
        let reference = |skill: &SelectedSkill| SkillRef {
            name: skill.name.clone(),
            source: Some(skill.source),
        };
        self.selected.iter().map(reference).collect()
    }

    fn known(&self, wanted: &SkillRef) -> Result<&SelectedSkill, Refusal> {
        let found = self.selected.iter().find(|skill| {
            skill.name == wanted.name && wanted.source.is_none_or(|source| source == skill.source)
        });
        found.ok_or_else(|| {
            Refusal::new(
                "InvalidAction",
                format!(
                    "the skill `{}` has not been selected",
                    basics::text::for_terminal(&wanted.name)
                ),
                match self.setup.kind {
                    RunKind::Served => "load it with the tool `skill` first",
                    RunKind::Own | RunKind::Child => "select it with select_skills first",
                },
            )
        })
    }

    /// Whether a tool is in what the configuration and the acting skill leave.
    fn allowed(&self, tool: &str, acting: Option<&SelectedSkill>) -> Result<(), Refusal> {
        let declared = acting.and_then(|skill| skill.allowed_tools.as_ref());
        let names = declared.map(|names| names.iter().map(String::as_str));
        let effective = ToolSet::effective(&self.setup.tools, names, &self.setup.tools);
        match Tool::from_name(tool) {
            Some(known) if effective.contains(known) => Ok(()),
            _ => {
                let tool = basics::text::for_terminal(tool);
                let offered: Vec<&str> = effective.iter().map(|tool| tool.name()).collect();
                let message = match acting {
                    Some(skill) => format!(
                        "the tool `{tool}` is not among those `{}` may use here",
                        skill.name
                    ),
                    None => format!("the tool `{tool}` is not available here"),
                };
                Err(Refusal::new(
                    "ToolNotAllowed",
                    message,
                    format!("available: {}", offered.join(", ")),
                ))
            }
        }
    }

    /// Whether any of the loaded skills may use a tool; without one, the configuration alone decides.
    fn allowed_for_any(&self, tool: &str) -> Result<(), Refusal> {
        let mut refused = None;
        for skill in self.selected.iter().rev() {
            match self.allowed(tool, Some(skill)) {
                Ok(()) => return Ok(()),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        refused.map_or_else(|| self.allowed(tool, None), Err)
    }

    /// The limit that keeps the action from being done.
    fn spent_limit(&self, action: &Action) -> Option<StopReason> {
        let budget = &self.setup.budget;
        if self.spent.tool_calls >= budget.max_tool_calls {
            Some(StopReason::MaxToolCalls)
        } else if action.runs_program() && self.spent.script_runs >= budget.max_script_runs {
            Some(StopReason::MaxScriptRuns)
        } else {
            None
        }
    }

    fn at_limit(&self, limit: StopReason) -> Result<Ruling, Refusal> {
        match self.may_extend(limit) {
            true => Ok(Ruling::Limit(limit)),
            false => Err(used_up(limit)),
        }
    }

    fn check_question(&self) -> Result<(), Refusal> {
        let most = self.setup.patience.questions;
        if self.own_questions < most {
            return Ok(());
        }
        Err(Refusal::new(
            "BudgetExceeded",
            format!("at most {most} questions may be asked in a run"),
            "choose sensibly, and say in the final answer what you chose",
        ))
    }
}

/// A script is a file of its skill, wherever in its folder.
fn is_script(path: &str) -> Result<(), Refusal> {
    match InnerPath::new(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::new(
            "PathTraversalBlocked",
            error.to_string(),
            "name a file in the skill's folder",
        )),
    }
}
