//! What a run acts with on this machine: skills, files, scripts.
//!
//! Invariant: a skill that is not offered to the model, and was not named by the user, cannot be told from
//! one that does not exist.

mod background;
mod changes;
mod command;
mod open;
mod pdf;
mod picture;
mod program;
mod read_back;
mod request;
mod script;
mod secrets;
mod skills;
mod streams;
mod view;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use agent::action::{Action, SkillRef};
use agent::changes::NotedChanges;
use agent::observation::{Details, Facts, Observation};
use agent::question::QuestionAnswer;
use agent::request::{Refusal, Request};
use agent::run::Run;
use basics::failure::one_line;
use basics::sha256::Sha256;
use permission::{Approved, Request as _, Tool, argument};
use serde_json::{Value, json};
use skill::index::{Entry, Index};
use skill::load::{Limits, LoadError, check_trusted};
use skill::metadata::ReadOptions;
use skill::offer::Offer;
use skill::trust::Waiting;
use state::Folder;
use tools::call::Call;
use tools::changes::ChangeSet;
use tools::perform;
use tools::workspace::Workspace;

use crate::changes::OF_A_LAYER;
use crate::driver::{Means, Toolbox};
use crate::journal::{Journal, Owner, Redactor};
use background::Background;
use changes::with_changes;
pub use open::open_workspace;
pub(crate) use request::of_skills;
pub use script::ScriptSettings;
use secrets::without_secrets;
pub(crate) use skills::activate;
pub(crate) use skills::body_hash;
use view::Seen;
pub(crate) use view::closed_folders;

/// Skills, files and scripts of this machine.
pub struct Workbench<'a> {
    /// All skills, for those the user names.
    pub index: &'a Index,
    /// The skills the model may choose.
    pub offer: &'a Offer<'a>,
    /// The skill the user chose.
    pub invoked: Option<SkillRef>,
    /// How frontmatter is read.
    pub read: ReadOptions,
    /// Bounds of what is handed over.
    pub limits: Limits,
    /// Where tools may reach.
    pub workspace: Workspace,
    /// The workspace's folder.
    pub folder: PathBuf,
    /// How scripts and commands run.
    pub scripts: ScriptSettings,
    /// How much of the workspace may be copied where there can be no layer over it.
    copy_bytes: u64,
    /// What no program and no change set may touch.
    closed: Vec<PathBuf>,
    /// When it was opened.
    opened: Instant,
    /// The run that keeps what is written.
    run: Option<Folder>,
    /// An earlier run of the conversation whose layer it goes on with, and who may take it from there.
    inherited: Option<(PathBuf, Owner)>,
    /// Commands that run on; they end before the view does.
    background: Vec<Background>,
    /// The view, once something needed it.
    seen: Option<Seen>,
    /// Why nobody can say what is in the layer, where that is so: then it is kept.
    pub(crate) unnoted: Option<Refusal>,
    /// Which changes were noted last.
    noted: Option<Sha256>,
    /// The changes that a person is asked about.
    prepared: Option<ChangeSet>,
    /// Private copies of skills, for commands.
    copies: HashMap<String, PathBuf>,
}

impl Toolbox for Workbench<'_> {
    fn prepare(&mut self, action: &Action, means: &Means<'_>) -> Result<Request, Refusal> {
        match action {
            Action::SelectSkills { skills, .. } => {
                self.prepare_selection(action, skills, means.engine)
            }
            Action::SearchSkills { query, .. } => Ok(request::search(action, query)),
            Action::LoadResource { skill, .. } | Action::LoadChunk { skill, .. } => {
                let entry = self.entry(skill)?;
                Ok(of_skills(action, &[entry], means.engine))
            }
            Action::RunScript { .. } => self.prepare_script(action, means.engine),
            Action::ApplyChanges { paths, .. } => self.prepare_apply(action, paths, means.engine),
            Action::ReadObservation { reference, .. } => Ok(request::read_back(action, reference)),
            Action::CallTool { tool, .. } => match Tool::from_name(tool) {
                Some(Tool::RunCommand) => self.prepare_command(action, means),
                Some(tool @ (Tool::CommandOutput | Tool::CommandInput | Tool::CommandStop)) => {
                    Self::prepare_background(action, tool)
                }
                _ => {
                    self.see_layer()?;
                    Ok(request::of_call(action, &self.call(action, means)?))
                }
            },
            Action::AskUser { .. } | Action::FinalAnswer { .. } => {
                Err(Refusal::new("InvalidAction", "this is not prepared", ""))
            }
        }
    }

    fn perform(
        &mut self,
        request: Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Observation {
        let redactor = means.redactor;
        let action = request.action.clone();
        let may_write = !request.read_only || !self.background.is_empty();
        if may_write {
            self.mark_beginning();
        }
        let began = SystemTime::now();
        let done = match &action {
            Action::SelectSkills { skills, .. } => self.select(skills, means, journal),
            Action::SearchSkills { query, limit } => Ok(self.search(query, *limit)),
            Action::LoadResource { skill, relative_path, section_hint } => {
                let hint = section_hint.as_deref();
                self.load_resource(skill, relative_path, hint, redactor, journal)
            }
            Action::LoadChunk { skill, chunk_id } => {
                self.load_chunk(skill, chunk_id, redactor, journal)
            }
            Action::RunScript { .. } => self.run_script(request, means, journal),
            Action::ReadObservation { reference, offset, pattern } => {
                self.read_back(reference, offset.unwrap_or(0), pattern.as_deref(), journal)
            }
            Action::ApplyChanges { .. } => {
                let applied = self.apply(&request, means, journal);
                return applied.unwrap_or_else(|refusal| Observation::failed(&refusal));
            }
            Action::CallTool { tool, .. } => match Tool::from_name(tool) {
                Some(Tool::RunCommand) => self.run_command(&request, means, journal),
                Some(tool @ (Tool::CommandOutput | Tool::CommandInput | Tool::CommandStop)) => {
                    self.mind_background(&action, tool, means)
                }
                _ => self.call_tool(request, means, journal),
            },
            Action::AskUser { .. } | Action::FinalAnswer { .. } => Ok(Observation::of("")),
        };
        let done = done.unwrap_or_else(|refusal| Observation::failed(&refusal));
        match action {
            Action::RunScript { .. } | Action::CallTool { .. } if may_write => {
                let changed = self.changed(began, redactor, journal);
                with_changes(done, changed)
            }
            _ => done,
        }
    }

    fn note_changes(
        &mut self,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Option<Box<NotedChanges>> {
        if !self.has_layer() {
            return None;
        }
        self.see_layer().ok()?;
        self.rest(self.last_beginning(), redactor, journal).ok()
    }

    fn note_applied(&mut self, journal: &Journal) -> Option<Box<NotedChanges>> {
        self.applied_unnoted(journal).ok().flatten().map(Box::new)
    }

    fn keep_secret(&mut self, secret: &str) -> QuestionAnswer {
        let name = format!("ANSWER_{}", self.scripts.environment.secrets.len() + 1);
        self.scripts.environment.secrets.push((name.clone().into(), secret.into()));
        QuestionAnswer::Kept(name)
    }
}

impl Workbench<'_> {
    /// Sees what was written before, where something was.
    fn see_layer(&mut self) -> Result<(), Refusal> {
        match self.has_layer() {
            true => self.view().map(|_| ()),
            false => Ok(()),
        }
    }
}

/// Whether a layer is kept although nothing of it waits to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Nobody could say what is in it.
    Yes,
    /// It is not needed.
    No,
}

/// Removes what nobody needs any more once a run has ended, and nothing works on it.
pub fn tidy(run: &Run, journal: &Journal, layer: Keeping) {
    if run.outcome().is_none() {
        return;
    }
    remove(&["sandbox", "artifacts"], journal);
    if layer == Keeping::No {
        see_anew(run, journal);
    }
}

/// Lets a run that nothing works on see the workspace as it is, where its layer has nothing that is not there: else what
/// was applied once would hide what others make of it.
pub fn see_anew(run: &Run, journal: &Journal) {
    if run.pending().is_none() && run.held_back().is_empty() {
        remove(&OF_A_LAYER, journal);
    }
}

fn remove(leftovers: &[&str], journal: &Journal) {
    for name in leftovers {
        // What cannot be removed stays in the run's own folder and harms nobody.
        let _ = journal.state().remove_tree(name);
    }
}

impl<'a> Workbench<'a> {
    /// The skill that is meant, as far as whoever asks may know of it.
    fn entry(&self, wanted: &SkillRef) -> Result<&'a Entry, Refusal> {
        let chosen = self.invoked.as_ref().filter(|invoked| invoked.name == wanted.name);
        match chosen.map(|invoked| self.index.resolve(&invoked.name, invoked.source)) {
            // Another one of that name, which the user did not choose.
            Some(Some(entry)) if wanted.source.is_some_and(|source| source != entry.source) => {}
            Some(Some(entry)) => match entry.waiting {
                None => return Ok(entry),
                Some(waiting) => return Err(waits(&entry.name, waiting)),
            },
            Some(None) | None => {}
        }
        self.offer.get(&wanted.name, wanted.source).ok_or_else(|| not_found(&wanted.name))
    }

    fn call(&self, action: &Action, means: &Means<'_>) -> Result<Call, Refusal> {
        let Action::CallTool { tool, params, .. } = action else {
            return Err(Refusal::new("InvalidAction", "not a call of a tool", ""));
        };
        let params = if params.is_null() { json!({}) } else { params.clone() };
        let call = Call::parse(tool, params)?.resolve(&self.workspace)?;
        self.check_marks(&call, means.redactor)?;
        Ok(call)
    }

    fn call_tool(
        &mut self,
        request: Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        let Means { engine, redactor, cancel, .. } = *means;
        let call = self.call(&request.action, means)?;
        // Links may lead elsewhere by now: what is done is what was allowed.
        if call.permission() != request.permission || call.patterns() != request.patterns {
            return Err(Refusal::new(
                "ApprovalRequired",
                "not done: it would touch something else than what was allowed",
                "look at the path again, then decide anew",
            ));
        }
        self.check_skill_files(&call)?;
        if matches!(call, Call::WriteFile(_) | Call::EditFile(_) | Call::DeleteFile(_)) {
            self.check_writable()?;
        }
        let limits = self.workspace.limits.clone();
        if let Some(left) = cancel.time_left() {
            self.workspace.limits = limits.within(left);
        }
        let read = match &call {
            Call::ReadFile(read) => Some(read.clone()),
            _ => None,
        };
        let outcome = perform::perform(request.narrow(call), engine, &self.workspace);
        self.workspace.limits = limits;
        let outcome = match (outcome, read) {
            (Err(failure), Some(read))
                if let Some(seen) = self.picture(&read, &failure, means.sees, journal)? =>
            {
                return Ok(seen);
            }
            (Err(failure), Some(read)) => match self.pdf_text(&read, &failure, means)? {
                Some(text) => perform::read_text(&read, &text, &self.workspace),
                None => return Err(failure.into()),
            },
            (outcome, _) => outcome?,
        };
        let outcome = without_secrets(outcome, redactor);
        let storage_ref = match &outcome.full {
            Some(full) => Some(keep(full, redactor, journal)?),
            None => None,
        };
        let mut result = outcome.to_json(storage_ref.as_deref());
        // As long as its texts are texts: quoted, a secret may look different.
        redactor.value(&mut result);
        let text = result.to_string();
        if let Value::Object(result) = &mut result {
            result.remove("content");
        }
        let facts = Facts { more: Details::of(&result), ..Facts::default() };
        Ok(Observation { facts, storage_ref, ..Observation::of(text) })
    }
}

impl Workbench<'_> {
    /// Files outside of the workspace can be read because their skill was selected: they are held to what was
    /// trusted like everything else of it.
    fn check_skill_files(&self, call: &Call) -> Result<(), Refusal> {
        let patterns = call.patterns();
        for path in patterns.iter().filter_map(|name| name.strip_prefix("skill://")) {
            // A name may have a slash in it, so the path alone does not say where it ends.
            let is_of = |name: &str| {
                let rest = path.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let all = self.index.skills.iter().chain(&self.index.shadowed);
            let mut entries = all.filter(|entry| is_of(&entry.name) && entry.trusted);
            entries.try_for_each(check_trusted)?;
        }
        Ok(())
    }
}

/// Keeps content beside the record, without secrets.
fn keep(content: &[u8], redactor: &Redactor, journal: &mut Journal) -> Result<String, Refusal> {
    journal.keep(&redactor.content(content)).map_err(|error| io_error(&error))
}

fn waits(name: &str, waiting: Waiting) -> Refusal {
    let code = match waiting {
        Waiting::Changed => "SkillChanged",
        Waiting::New | Waiting::Earlier => "SkillUntrusted",
    };
    Refusal::new(
        code,
        format!("the skill `{name}` comes from a project: {}", waiting.reason()),
        format!(
            "look at it (`skillful inspect {0}`), then `skillful trust project {0}`",
            argument(name)
        ),
    )
}

fn not_found(name: &str) -> Refusal {
    LoadError::SkillNotFound { name: name.to_owned() }.into()
}

fn io_error(error: &dyn std::error::Error) -> Refusal {
    Refusal::new("IOError", one_line(error), "check that the disk has room and can be written")
}
