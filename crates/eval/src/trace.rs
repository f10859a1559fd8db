//! The record of a run, read for judging.
//!
//! Invariant: nothing is taken for granted. A record may be cut off, changed by hand or made elsewhere, so what
//! is missing or out of place is left for the judges to find.

use agent::action::Action;
use agent::event::{
    ActionExecuted, ActionPlanned, ActionValidated, ApprovalRequired, Event, EventData,
    RunFinished, SkillLoaded,
};
use agent::setup::Setup;
use permission::Effect;

/// Everything the judges look at.
#[derive(Debug)]
pub struct Trace<'e> {
    /// All events, in the order of the record.
    pub events: &'e [Event],
    /// What the model or the user wanted done, in order.
    pub steps: Vec<Step<'e>>,
    /// How the run ended.
    pub ending: Ending<'e>,
}

/// An event of one kind.
#[derive(Debug)]
pub struct Of<'e, T> {
    /// The whole event.
    pub event: &'e Event,
    /// What it says.
    pub data: &'e T,
}

impl<T> Clone for Of<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Of<'_, T> {}

/// One action on its way through the run; each stage with the event that says so.
#[derive(Debug)]
pub struct Step<'e> {
    /// The event that announced it.
    pub planned: Of<'e, ActionPlanned>,
    /// Guard and permissions.
    pub validated: Vec<Of<'e, ActionValidated>>,
    /// The question, where there was one.
    pub required: Option<&'e Event>,
    /// Yes.
    pub granted: Option<&'e Event>,
    /// No.
    pub denied: Option<&'e Event>,
    /// It was done.
    pub executed: Option<Of<'e, ActionExecuted>>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub enum Ending<'e> {
    /// With this event.
    Finished(Of<'e, RunFinished>),
    /// With this question unanswered.
    Waiting(Of<'e, ApprovalRequired>),
    /// In the middle.
    CutOff,
}

impl<'e> Trace<'e> {
    /// Reads the events of one run.
    pub fn new(events: &'e [Event]) -> Self {
        let mut steps: Vec<Step<'e>> = Vec::new();
        for event in events {
            match (&event.data, steps.last_mut()) {
                (EventData::ActionPlanned(data), _) => steps.push(Step::new(Of { event, data })),
                (EventData::ActionValidated(data), Some(step)) => {
                    step.validated.push(Of { event, data });
                }
                (EventData::ApprovalRequired(_), Some(step)) => step.required = Some(event),
                (EventData::ApprovalGranted(_), Some(step)) => step.granted = Some(event),
                (EventData::ApprovalDenied(_), Some(step)) => step.denied = Some(event),
                (EventData::ActionExecuted(data), Some(step)) => {
                    step.executed.get_or_insert(Of { event, data });
                }
                _ => {}
            }
        }
        let stored = events.iter().rev().find(|event| !is_delta(event));
        let ending = match stored.map(|event| (event, &event.data)) {
            Some((event, EventData::RunFinished(data))) => Ending::Finished(Of { event, data }),
            Some((event, EventData::ApprovalRequired(data))) => Ending::Waiting(Of { event, data }),
            _ => Ending::CutOff,
        };
        Self { events, steps, ending }
    }

    /// The events of one kind, which `pick` takes out.
    pub fn of<T: 'e>(
        &self,
        pick: impl Fn(&'e EventData) -> Option<&'e T>,
    ) -> impl DoubleEndedIterator<Item = Of<'e, T>> {
        self.events.iter().filter_map(move |event| Some(Of { event, data: pick(&event.data)? }))
    }

    /// What the run began with.
    pub fn setup(&self) -> Option<&'e Setup> {
        let mut started = self.events.iter().filter_map(|event| match &event.data {
            EventData::RunStarted(started) => Some(&started.setup),
            _ => None,
        });
        started.next()
    }

    /// The answer, where the run came to one.
    pub fn answer(&self) -> Option<&'e str> {
        match self.ending {
            Ending::Finished(finished) => Some(&finished.data.answer),
            _ => None,
        }
    }

    /// Why it stopped.
    pub fn stop_reason(&self) -> &'static str {
        match self.ending {
            Ending::Finished(finished) => finished.data.stop_reason.name(),
            Ending::Waiting(_) => "approval_required",
            Ending::CutOff => "cut_off",
        }
    }

    /// Skills whose text entered the context.
    pub fn loaded(&self) -> impl DoubleEndedIterator<Item = Of<'e, SkillLoaded>> {
        self.of(|data| match data {
            EventData::SkillLoaded(loaded) => Some(&**loaded),
            _ => None,
        })
    }

    /// Names of the skills that were loaded, each once, in order.
    pub fn skills(&self) -> Vec<&'e str> {
        let mut names = Vec::new();
        for loaded in self.loaded() {
            let name = loaded.data.skill.name.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The steps that were carried out.
    pub fn executed(&self) -> impl Iterator<Item = &Step<'e>> {
        self.steps.iter().filter(|step| step.executed.is_some())
    }
}

/// Whether an event is a piece of the answer, which is shown and not stored.
pub fn is_delta(event: &Event) -> bool {
    matches!(event.data, EventData::AssistantDelta(_))
}

impl<'e> Step<'e> {
    fn new(planned: Of<'e, ActionPlanned>) -> Self {
        Self {
            planned,
            validated: Vec::new(),
            required: None,
            granted: None,
            denied: None,
            executed: None,
        }
    }

    /// The action.
    pub fn action(&self) -> &'e Action {
        &self.planned.data.action
    }

    /// The number of the event that announced it.
    pub fn seq(&self) -> u64 {
        self.planned.event.seq
    }

    /// The turn in which it was announced.
    pub fn turn(&self) -> u32 {
        self.planned.event.turn
    }

    /// The type of the action.
    pub fn kind(&self) -> &'static str {
        self.action().kind().name()
    }

    /// The tool that it calls, or else its type.
    pub fn name(&self) -> &'e str {
        self.action().tool().unwrap_or(self.kind())
    }

    /// Whether `name` is its type or its tool.
    pub fn is(&self, name: &str) -> bool {
        self.kind() == name || self.action().tool() == Some(name)
    }

    /// The file that it names.
    pub fn path(&self) -> Option<&'e str> {
        match self.action() {
            Action::LoadResource { relative_path, .. }
            | Action::RunScript { relative_path, .. } => Some(relative_path),
            Action::CallTool { params, .. } => params["path"].as_str(),
            _ => None,
        }
    }

    /// Whether guard or permissions let it through.
    pub fn is_let_through(&self) -> bool {
        self.validated.iter().any(|validated| validated.data.is_ok())
    }

    /// The permission engine's decision.
    pub fn verdict(&self) -> Option<Effect> {
        let mut prepared = self.validated.iter().filter_map(|validated| validated.data.prepared());
        prepared.find_map(|prepared| Some(prepared.decision()?.action))
    }

    /// The code that came of it; nothing where all went well.
    pub fn code(&self) -> Option<&'e str> {
        self.executed?.data.observation.code.as_deref()
    }
}
