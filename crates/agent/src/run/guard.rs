//! Is an action legal now? Decided before anything is looked up.

use basics::inner_path::InnerPath;
use permission::{Tool, ToolSet};

use super::{ChunkRef, Run};
use crate::action::{Action, SkillRef};
use crate::observation::SelectedSkill;
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
            Action::FinalAnswer { content } => return Ok(Ruling::Answer(content.clone())),
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
                let skill = self.selected(skill)?;
                is_script(relative_path)?;
                self.allowed(Tool::RunScript.name(), Some(skill))?;
                self.within_budget(action)?;
            }
            Action::CallTool { tool, skill, .. } => {
                match skill {
                    Some(skill) => self.allowed(tool, Some(self.selected(skill)?))?,
                    None => self.allowed_for_any(tool)?,
                }
                self.within_budget(action)?;
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
            && let Ok(selected) = self.selected(skill)
        {
            skill.source = Some(selected.source);
        }
        pinned
    }

    /// A client elsewhere may read from a skill that it has not selected.
    fn check_selected(&self, skill: &SkillRef) -> Result<(), Refusal> {
        if self.setup.kind != RunKind::Served {
            self.selected(skill)?;
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
            if self.selected(skill).is_err() && !fresh.contains(skill) {
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

    /// The skills it has loaded.
    pub fn selected_skills(&self) -> Vec<SkillRef> {
        let reference = |skill: &SelectedSkill| SkillRef {
            name: skill.name.clone(),
            source: Some(skill.source),
        };
        self.selected.iter().map(reference).collect()
    }

    fn selected(&self, wanted: &SkillRef) -> Result<&SelectedSkill, Refusal> {
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

    fn within_budget(&self, action: &Action) -> Result<(), Refusal> {
        let budget = &self.setup.budget;
        let used_up = if self.spent.tool_calls >= budget.max_tool_calls {
            "max_tool_calls"
        } else if matches!(action, Action::RunScript { .. })
            && self.spent.script_runs >= budget.max_script_runs
        {
            "max_script_runs"
        } else {
            return Ok(());
        };
        Err(Refusal::new(
            "BudgetExceeded",
            format!("`{used_up}` is used up"),
            "answer with what you have",
        ))
    }
}

/// Scripts stand under the skill's `scripts/` folder.
fn is_script(path: &str) -> Result<(), Refusal> {
    let blocked = |message: String| {
        Err(Refusal::new(
            "PathTraversalBlocked",
            message,
            "name a file under the skill's scripts/ folder",
        ))
    };
    match InnerPath::new(path) {
        Ok(inner) if inner.as_str().starts_with("scripts/") => Ok(()),
        Ok(inner) => blocked(format!("`{inner}` is not under scripts/")),
        Err(error) => blocked(error.to_string()),
    }
}
