//! The record of a run, read for judging.
//!
//! Invariant: nothing is taken for granted. A record may be cut off, changed by hand or made elsewhere, so what
//! is missing or out of place is left for the judges to find.

use agent::action::Action;
use agent::event::{
    ActionExecuted, ActionPlanned, ActionValidated, Event, EventData, RunFinished, SkillLoaded,
};
use agent::request::{Prepared, Request};
use agent::setup::Setup;
use permission::{Decision, Effect, Pattern};

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
    /// What it asks the user was put to them.
    pub asked: Option<&'e Event>,
    /// It was done.
    pub executed: Option<Of<'e, ActionExecuted>>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub enum Ending<'e> {
    /// With this event.
    Finished(Of<'e, RunFinished>),
    /// With this question unanswered: whether something may be done, or what the user wants.
    Waiting(&'e Event),
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
                (EventData::QuestionAsked(_), Some(step)) => step.asked = Some(event),
                (EventData::ActionExecuted(data), Some(step)) => {
                    step.executed.get_or_insert(Of { event, data });
                }
                _ => {}
            }
        }
        // What becomes of the changes may follow the end.
        let is_last = |event: &&Event| !is_delta(event) && !event.data.is_epilogue();
        let last = events.iter().rev().find(is_last);
        let ending = match last.map(|event| (event, &event.data)) {
            Some((event, EventData::RunFinished(data))) => Ending::Finished(Of { event, data }),
            Some((event, EventData::ApprovalRequired(_) | EventData::QuestionAsked(_))) => {
                Ending::Waiting(event)
            }
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

    /// Whether it waits for an answer that is not about permission.
    pub fn asks(&self) -> bool {
        matches!(self.ending, Ending::Waiting(event) if matches!(event.data, EventData::QuestionAsked(_)))
    }

    /// The numbers of the events in which something of this name was done: an action by its type or its tool, or an
    /// event by its type, both with a pattern after a colon where that says more.
    pub fn places(&self, name: &str) -> Vec<u64> {
        let name = Name::read(name);
        let steps = self.steps.iter().filter(|step| step.is_done() && step.is_named(&name));
        let happened = self.events.iter().filter(|event| is_named(event, &name));
        let mut places: Vec<u64> =
            steps.map(Step::seq).chain(happened.map(|event| event.seq)).collect();
        places.sort_unstable();
        places
    }

    /// The steps that were carried out.
    pub fn executed(&self) -> impl Iterator<Item = &Step<'e>> {
        self.steps.iter().filter(|step| step.executed.is_some())
    }
}

/// What a case calls something that happens.
struct Name<'n> {
    /// A type of action or of event, or a tool.
    what: &'n str,
    /// What it is about.
    about: Option<Pattern>,
}

impl<'n> Name<'n> {
    fn read(name: &'n str) -> Self {
        match name.split_once(':') {
            Some((what, pattern)) => Self { what, about: Some(Pattern::new(pattern)) },
            None => Self { what: name, about: None },
        }
    }

    /// Whether one of these texts is what it is about.
    fn fits<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> bool {
        let Some(pattern) = &self.about else { return true };
        texts.into_iter().any(|text| pattern.matches_command(text.as_ref()))
    }
}

fn is_named(event: &Event, name: &Name<'_>) -> bool {
    let one = |text: &str| name.fits([text]);
    event.data.kind() == name.what
        && match &event.data {
            EventData::ChangesMade(made) => name.fits(&made.changes.paths),
            EventData::ChangesApplied(applied) => name.fits(&applied.changes.paths),
            EventData::ChangesUndone(undone) => name.fits(&undone.changes.paths),
            EventData::QuestionAsked(asked) => one(&asked.question.question),
            EventData::ApprovalRequired(required) => one(required.approval.tool.name()),
            EventData::ApprovalGranted(answered) | EventData::ApprovalDenied(answered) => {
                one(&answered.tool)
            }
            EventData::ObservationRecorded(recorded) => name.fits(&recorded.code),
            EventData::Error(error) => one(&error.code),
            _ => name.about.is_none(),
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
            asked: None,
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

    fn is_named(&self, name: &Name<'_>) -> bool {
        (self.kind() == name.what || self.action().tool() == Some(name.what))
            && name.fits(self.about())
    }

    /// What tells it apart: its tool, with the command where it runs one, or else its type.
    pub fn full_name(&self) -> String {
        let command = self.command().and_then(|_| self.about().into_iter().next());
        match command {
            Some(command) => format!("{}:{command}", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// What it is about: what rules are asked about, the file that it names, a command line and each command in it.
    fn about(&self) -> Vec<String> {
        let mut texts: Vec<String> =
            self.request().map_or_else(Vec::new, |request| request.patterns.clone());
        texts.extend(self.path().map(str::to_owned));
        if let Some(line) = self.command() {
            texts.extend(shell::read(line).commands.iter().map(shell::Command::text));
            texts.push(line.to_owned());
        }
        if let Action::AskUser { question, .. } = self.action() {
            texts.push(question.clone());
        }
        texts
    }

    /// The command line that it runs.
    pub fn command(&self) -> Option<&'e str> {
        match self.action() {
            Action::CallTool { params, .. } => params["command"].as_str(),
            _ => None,
        }
    }

    /// What the permission engine was asked.
    pub fn request(&self) -> Option<&'e Request> {
        let mut prepared = self.validated.iter().filter_map(|validated| validated.data.prepared());
        prepared.find_map(Prepared::request)
    }

    /// Whether it was carried out. Nobody carries an answer or a question out, but they are actions.
    fn is_done(&self) -> bool {
        match self.action() {
            Action::FinalAnswer { .. } => true,
            Action::AskUser { .. } => self.asked.is_some(),
            _ => self.executed.is_some(),
        }
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
    pub fn decision(&self) -> Option<&'e Decision> {
        let mut prepared = self.validated.iter().filter_map(|validated| validated.data.prepared());
        prepared.find_map(Prepared::decision)
    }

    /// What that says.
    pub fn verdict(&self) -> Option<Effect> {
        Some(self.decision()?.action)
    }

    /// The code that came of it; nothing where all went well.
    pub fn code(&self) -> Option<&'e str> {
        self.executed?.data.observation.code.as_deref()
    }
}
