//! What a call acts with: a workbench with the skills as they are then.

use std::path::PathBuf;
use std::sync::Arc;

use agent::action::Action;
use agent::event::Event;
use agent::observation::{Loaded, LoadedFile, Observation};
use agent::request::{Refusal, Request};
use basics::inner_path::InnerPath;
use basics::skill::{LoadReport, RunMode};
use permission::{Answer, ApprovalId, ApprovalRequest, Approved};
use runtime::driver::{Approver, Listener, Means, Toolbox};
use runtime::journal::Journal;
use runtime::workbench::Workbench;
use skill::load::{Files, LoadError};

use super::{Call, Said};
use crate::shelf::{Shelf, Snapshot};

/// Acts for one call.
pub(super) struct Desk<'a> {
    shelf: &'a Shelf,
    call: &'a Call,
    /// The folder of the session's record.
    run: PathBuf,
    /// The skills that were looked at when permission was asked for.
    skills: Arc<Snapshot>,
    /// A resource, byte by byte.
    pub(super) content: Option<Vec<u8>>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(shelf: &'a Shelf, call: &'a Call, run: PathBuf) -> Self {
        Self { shelf, call, run, skills: shelf.current(), content: None }
    }

    fn at_work<T>(
        &self,
        work: impl FnOnce(&mut Workbench<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let offer = self.shelf.offer(&self.skills);
        let workbench = Workbench::open(&self.shelf.settings.runtime, &self.skills.index, &offer);
        let mut workbench = workbench.map_err(|error| {
            Refusal::new(
                "IOError",
                format!("cannot open the working directory: {error}"),
                "start the server in a folder that exists",
            )
        })?;
        workbench.invoked = self.call.wanted.invoked.clone();
        workbench.begin(&self.run)?;
        work(&mut workbench)
    }

    /// A resource byte by byte; the record has its hash.
    fn hand_over(&mut self, action: &Action) -> Result<Observation, Refusal> {
        let offer = self.shelf.offer(&self.skills);
        let (Action::LoadResource { skill, relative_path, .. }, Some(entry)) =
            (action, action.skill().and_then(|skill| offer.get(&skill.name, skill.source)))
        else {
            return Err(Refusal::new("SkillNotFound", "there is no such skill", ""));
        };
        let path = InnerPath::new(relative_path).map_err(LoadError::from)?;
        let files = Files::open(entry)?;
        let limits = self.shelf.settings.runtime.layers.config.load_limits();
        let bytes = read_verbatim(&files, &path, limits.file_bytes)?;
        let report = LoadReport::of_file(path.as_str(), &bytes);
        let text = format!("{path} of {} handed over, {} bytes", skill.name, bytes.len());
        self.content = Some(bytes);
        let (skill, path) = (entry.name.clone(), path.as_str().to_owned());
        Ok(Observation {
            loaded: vec![Loaded::Resource(LoadedFile { skill, path, report })],
            ..Observation::of(text)
        })
    }
}

/// A file as it is on disk; `SKILL.md` may be a link.
pub(crate) fn read_verbatim(
    files: &Files,
    path: &InnerPath,
    limit: u64,
) -> Result<Vec<u8>, LoadError> {
    match path.as_str() {
        "SKILL.md" => files.manifest(limit),
        _ => files.read(path, limit),
    }
}

impl Toolbox for Desk<'_> {
    fn prepare(&mut self, action: &Action, means: &Means<'_>) -> Result<Request, Refusal> {
        self.skills = self.shelf.current();
        self.at_work(|workbench| workbench.prepare(action, means))
    }

    fn perform(
        &mut self,
        request: Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Observation {
        // What the call began ends with it, and the session goes on.
        let means = Means { cancel: &self.call.cancel, ..*means };
        let done = match self.call.wanted.verbatim {
            true => self.hand_over(&request.action),
            false => self.at_work(|workbench| Ok(workbench.perform(request, &means, journal))),
        };
        let mut observation = done.unwrap_or_else(|refusal| Observation::failed(&refusal));
        for loaded in &mut observation.loaded {
            if let Loaded::Skill(skill) = loaded {
                // The client is the model: there is nobody else who could carry a child run out.
                skill.run_mode = RunMode::Inline;
            }
        }
        observation
    }
}

/// Says what the person behind the client said, if they have, to the question that they were asked.
pub(super) struct OneAnswer {
    pub(super) said: Option<Said>,
    pub(super) to: Option<ApprovalId>,
}

impl Approver for OneAnswer {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        self.to.take().filter(|asked| *asked == question.id)?;
        self.said.take().map(Answer::from)
    }
}

/// Nobody watches: the record has everything.
pub(super) struct Nobody;

impl Listener for Nobody {
    fn event(&mut self, _: &Event) {}
}
