//! Everyone who takes part in a run, put together: from a request to an answer.

mod begin;
mod continued;
mod recorded;
mod wanted;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::changes::ApplyWhen;
use agent::model::{Cancel, Model};
use agent::outcome::StopReason;
use agent::request::Refusal;
use agent::run::Run;
use basics::failure::{Exit, Failure};
use permission::{
    Answer, ApprovalRequest, CommandLine, Engine, Grant, Invocation, Mode, Permission,
};
use skill::index::Index;
use skill::offer::Offer;

use crate::driver::{Approver, Clock, Driver, Ending, InHand, Listener, SystemClock};
use crate::journal::{Journal, Owner, Redactor};
use crate::models::{Choice, Wish};
use crate::open::Runtime;
use crate::workbench::{Keeping, Workbench, tidy};
pub use begin::{NewRecord, begin};
pub use recorded::check_workspace;
pub use wanted::{Wanted, waits};

/// One run that is about to take place.
///
/// Without more, the settings choose the model, nobody is there to answer or to watch, and the record is signed with
/// the user's key where there is one.
pub struct Runner<'a> {
    runtime: &'a Runtime,
    index: Arc<Index>,
    engine: Engine,
    decider: Option<Decider<'a>>,
    approver: Option<&'a mut dyn Approver>,
    listener: Option<&'a mut dyn Listener>,
    owner: Option<Owner>,
    cancel: Cancel,
    invocation: Invocation,
    attended: bool,
    apply: Option<ApplyWhen>,
    continues: Option<String>,
    compact: bool,
}

/// A run that took place, as far as it went.
#[derive(Debug)]
pub struct Finished {
    /// The run.
    pub run: Run,
    /// How it ended; where it waits for an approval it can be resumed.
    pub ending: Ending,
    /// Why nobody can say what it changed, where that is so; its layer is kept.
    pub unnoted: Option<Refusal>,
    /// What was approved for the whole conversation, for [`Runner::approvals`] of the next run.
    pub approvals: Vec<Grant>,
}

/// Who decides.
enum Decider<'a> {
    /// As the settings or the user say.
    Chosen(Choice),
    /// Somebody's own.
    Own { name: String, model: &'a mut dyn Model },
}

/// Everything that a run goes on with.
struct Staged {
    run: Run,
    journal: Journal,
    clock: Box<dyn Clock>,
    /// The earlier run whose layer it goes on with.
    layer: Option<PathBuf>,
}

impl Runtime {
    /// A run with the skills and the rules that count here.
    pub fn runner(&self) -> Result<Runner<'_>, Failure> {
        let engine = self.engine(CommandLine::default(), None)?;
        Ok(Runner::new(self, Arc::new(self.index()?), engine))
    }
}

impl<'a> Runner<'a> {
    /// A run with these skills and rules.
    pub fn new(runtime: &'a Runtime, index: Arc<Index>, engine: Engine) -> Self {
        Self {
            runtime,
            index,
            engine,
            decider: None,
            approver: None,
            listener: None,
            owner: runtime.new_owner().ok(),
            cancel: Cancel::default(),
            invocation: Invocation { command: vec!["skillful".into()], arguments: Vec::new() },
            attended: false,
            apply: None,
            continues: None,
            compact: false,
        }
    }

    /// Lets a model of one's own decide; the record has its name.
    #[must_use]
    pub fn model(self, name: impl Into<String>, model: &'a mut dyn Model) -> Self {
        Self { decider: Some(Decider::Own { name: name.into(), model }), ..self }
    }

    /// Lets this one decide.
    #[must_use]
    pub fn choice(self, choice: Choice) -> Self {
        Self { decider: Some(Decider::Chosen(choice)), ..self }
    }

    /// Who is asked before anything risky.
    #[must_use]
    pub fn approver(self, approver: &'a mut dyn Approver) -> Self {
        Self { approver: Some(approver), ..self }
    }

    /// Who watches.
    #[must_use]
    pub fn listener(self, listener: &'a mut dyn Listener) -> Self {
        Self { listener: Some(listener), ..self }
    }

    /// Who signs the record; without anybody it can be neither resumed nor taken back.
    #[must_use]
    pub fn owner(self, owner: Option<Owner>) -> Self {
        Self { owner, ..self }
    }

    /// What ends it early.
    #[must_use]
    pub fn cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// The command that began it: what is asked names one like it that would be allowed.
    #[must_use]
    pub fn invocation(self, invocation: Invocation) -> Self {
        Self { invocation, ..self }
    }

    /// A person is there: at a limit they are asked whether to go on.
    #[must_use]
    pub fn attended(self, attended: bool) -> Self {
        Self { attended, ..self }
    }

    /// When what it changed is put to somebody; without a word, as the settings say.
    #[must_use]
    pub fn apply(self, apply: ApplyWhen) -> Self {
        Self { apply: Some(apply), ..self }
    }

    /// Continues this run, by its name or `last`: what was said and loaded there is known.
    #[must_use]
    pub fn continues(self, run_id: impl Into<String>) -> Self {
        Self { continues: Some(run_id.into()), ..self }
    }

    /// Lets what was approved for the conversation count in this run, too.
    #[must_use]
    pub fn approvals(mut self, approvals: Vec<Grant>) -> Self {
        self.engine.remember_for_conversation(approvals);
        self
    }

    /// Shortens what was said in the runs before.
    #[must_use]
    pub fn compact(self, compact: bool) -> Self {
        Self { compact, ..self }
    }

    /// Works on a request. A first word `/NAME` chooses a skill.
    pub fn run(self, request: &str) -> Result<Finished, Failure> {
        let wanted = Wanted::read(self.runtime, &self.index, request)?;
        self.work_on(&wanted)
    }

    /// The same, for what was read before.
    pub fn work_on(self, wanted: &Wanted) -> Result<Finished, Failure> {
        self.drive(|stage| stage.begin(wanted))
    }

    /// Goes on with a run of this project that was interrupted, or waits for an approval.
    pub fn resume(self, run_id: &str) -> Result<Finished, Failure> {
        // It may be this run that was changing files when it was killed.
        self.runtime.finish_interrupted_changes();
        self.drive(|stage| stage.resume(run_id))
    }

    fn drive(
        self,
        stage: impl FnOnce(&Stage<'_, 'a>) -> Result<Staged, Failure>,
    ) -> Result<Finished, Failure> {
        let Self { runtime, index, mut engine, owner, cancel, invocation, .. } = self;
        let apply = self.apply.unwrap_or_else(|| runtime.layers.config.apply_when());
        let mut decider = match self.decider {
            Some(decider) => decider,
            None => Decider::Chosen(Choice::new(runtime, Wish::default())?.with_key()?),
        };
        let redactor = runtime.redactor(decider.secrets())?;
        let offer = {
            let denied = engine.denials(Permission::Skill);
            index.offer(|entry| !denied(&entry.rule_name()))
        };
        let staged = stage(&Stage {
            runtime,
            index: &index,
            offer: &offer,
            engine: &engine,
            decider: &decider,
            owner: owner.as_ref(),
            redactor: &redactor,
            attended: self.attended,
            apply,
            continues: self.continues.as_deref(),
            compact: self.compact,
        })?;
        let Staged { mut run, mut journal, clock, layer } = staged;
        let mut opened;
        let model = match &mut decider {
            Decider::Own { model, .. } => &mut **model,
            Decider::Chosen(choice) => {
                opened = choice.open(runtime, &offer, &engine.tools_of_run(), &run)?;
                &mut *opened
            }
        };
        engine.set_mode(mode_of(&run, &engine));
        let mut workbench = Workbench::open(runtime, &index, &offer)?;
        workbench.begin(journal.folder())?;
        if let (Some(layer), Some(owner)) = (layer, journal.owner()) {
            workbench.inherit(layer, owner.clone());
        }
        workbench.invoked = run.invoked().cloned();
        workbench.reopen(&run.selected_skills());
        let grants = runtime.grants();
        let mut nobody = Nobody;
        let mut no_listener = Nobody;
        let ending = Driver {
            model,
            toolbox: &mut workbench,
            engine: &mut engine,
            approver: self.approver.unwrap_or(&mut nobody),
            grants: grants.as_ref(),
            listener: self.listener.unwrap_or(&mut no_listener),
            redactor: &redactor,
            clock: &*clock,
            cancel: &cancel,
            invocation: &invocation,
        }
        .drive(&mut run, &mut journal, &mut InHand::default())
        .map_err(|error| Failure::from_error(Exit::Failed, "RunError", &error))?;
        journal.finish(&run)?;
        let unnoted = workbench.unnoted.take();
        drop(workbench);
        tidy(&run, &journal, if unnoted.is_some() { Keeping::Yes } else { Keeping::No });
        Ok(Finished { run, ending, unnoted, approvals: engine.conversation().to_vec() })
    }
}

impl Finished {
    /// Whether nothing came of it because no skill was found for it.
    pub fn is_without_skill(&self) -> bool {
        let unable = matches!(&self.ending, Ending::Finished(outcome) if outcome.stop_reason == StopReason::NoResult);
        unable && self.run.skills().is_empty()
    }

    /// What the user is told; nothing where the run waits.
    pub fn answer(&self) -> &str {
        match &self.ending {
            Ending::Finished(outcome) => &outcome.answer,
            Ending::Suspended(_) | Ending::Parked(_) => "",
        }
    }
}

impl Decider<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Chosen(choice) => &choice.name,
            Self::Own { name, .. } => name,
        }
    }

    /// The address of its server, if it is known to have one.
    fn server(&self) -> Option<&str> {
        match self {
            Self::Chosen(choice) => choice.server(),
            Self::Own { .. } => None,
        }
    }

    /// Whether the user named the model, and whether they named its server.
    fn is_named(&self) -> (bool, bool) {
        match self {
            Self::Chosen(choice) => choice.is_named,
            Self::Own { .. } => (false, false),
        }
    }

    fn secrets(&self) -> Vec<String> {
        match self {
            Self::Chosen(choice) => choice.secrets(),
            Self::Own { .. } => Vec::new(),
        }
    }

    fn clock(&self, before: Duration) -> Box<dyn Clock> {
        match self {
            Self::Chosen(choice) => choice.clock(before),
            Self::Own { .. } => Box::new(SystemClock::starting(before)),
        }
    }
}

/// The mode that a run goes on in: that of today, but a plan is approved once, and not without being asked for.
fn mode_of(run: &Run, engine: &Engine) -> Mode {
    match (engine.mode(), run.mode()) {
        (_, Mode::Plan) => Mode::Plan,
        // It was approved in an earlier process; like every approval of then, it lets nothing through unasked.
        (Mode::Plan, _) => Mode::Ask,
        (today, _) => today,
    }
}

/// Where a run is set up.
struct Stage<'a, 'm> {
    runtime: &'a Runtime,
    index: &'a Index,
    offer: &'a Offer<'a>,
    engine: &'a Engine,
    decider: &'a Decider<'m>,
    owner: Option<&'a Owner>,
    redactor: &'a Redactor,
    attended: bool,
    apply: ApplyWhen,
    continues: Option<&'a str>,
    compact: bool,
}

/// Nobody answers, nobody watches.
struct Nobody;

impl Approver for Nobody {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        // What was changed is kept, and can be applied later.
        (question.tool == Permission::ApplyChanges).then_some(Answer::Later)
    }
}

impl Listener for Nobody {
    fn event(&mut self, _: &agent::event::Event) {}
}
