//! The record of a run, read for judging.
//!
//! Invariant: nothing is taken for granted. A record may be cut off, changed by hand or made elsewhere, so what
//! is missing or out of place is left for the judges to find.

use agent::event::{Event, EventKind};
use serde_json::Value;

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

/// One action on its way through the run; each stage with the event that says so.
#[derive(Debug)]
pub struct Step<'e> {
    /// The event that announced it.
    pub planned: &'e Event,
    /// Guard and permissions.
    pub validated: Vec<&'e Event>,
    /// The question, where there was one.
    pub required: Option<&'e Event>,
    /// Yes.
    pub granted: Option<&'e Event>,
    /// No.
    pub denied: Option<&'e Event>,
    /// It was done.
    pub executed: Option<&'e Event>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy)]
pub enum Ending<'e> {
    /// With this event.
    Finished(&'e Event),
    /// With this question unanswered.
    Waiting(&'e Event),
    /// In the middle.
    CutOff,
}

impl<'e> Trace<'e> {
    /// Reads the events of one run.
    pub fn new(events: &'e [Event]) -> Self {
        let mut steps: Vec<Step<'e>> = Vec::new();
        for event in events {
            let step = steps.last_mut();
            match (event.kind, step) {
                (EventKind::ActionPlanned, _) => steps.push(Step::new(event)),
                (EventKind::ActionValidated, Some(step)) => step.validated.push(event),
                (EventKind::ApprovalRequired, Some(step)) => step.required = Some(event),
                (EventKind::ApprovalGranted, Some(step)) => step.granted = Some(event),
                (EventKind::ApprovalDenied, Some(step)) => step.denied = Some(event),
                (EventKind::ActionExecuted, Some(step)) => {
                    step.executed.get_or_insert(event);
                }
                _ => {}
            }
        }
        let stored = events.iter().rev().find(|event| event.kind != EventKind::AssistantDelta);
        let ending = match stored {
            Some(last) if last.kind == EventKind::RunFinished => Ending::Finished(last),
            Some(last) if last.kind == EventKind::ApprovalRequired => Ending::Waiting(last),
            _ => Ending::CutOff,
        };
        Self { events, steps, ending }
    }

    /// The events of one kind.
    pub fn of(&self, kind: EventKind) -> impl Iterator<Item = &'e Event> {
        self.events.iter().filter(move |event| event.kind == kind)
    }

    /// What the run began with.
    pub fn setup(&self) -> Option<&'e Value> {
        self.of(EventKind::RunStarted).next().and_then(|event| event.data.get("setup"))
    }

    /// The answer, where the run came to one.
    pub fn answer(&self) -> Option<&'e str> {
        match self.ending {
            Ending::Finished(event) => event.data["answer"].as_str(),
            _ => None,
        }
    }

    /// Why it stopped.
    pub fn stop_reason(&self) -> &'e str {
        match self.ending {
            Ending::Finished(event) => event.data["stop_reason"].as_str().unwrap_or("unknown"),
            Ending::Waiting(_) => "approval_required",
            Ending::CutOff => "cut_off",
        }
    }

    /// Names of the skills that were loaded, each once, in order.
    pub fn skills(&self) -> Vec<&'e str> {
        let mut names = Vec::new();
        for name in self.of(EventKind::SkillLoaded).filter_map(skill_name) {
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

/// The skill that an event is about.
pub fn skill_name(event: &Event) -> Option<&str> {
    let skill = &event.data["skill"];
    skill["name"].as_str().or(skill.as_str())
}

impl<'e> Step<'e> {
    fn new(planned: &'e Event) -> Self {
        Self {
            planned,
            validated: Vec::new(),
            required: None,
            granted: None,
            denied: None,
            executed: None,
        }
    }

    /// The type of the action.
    pub fn kind(&self) -> &'e str {
        self.planned.data["action"]["type"].as_str().unwrap_or("unknown")
    }

    /// The parameters of the action.
    pub fn payload(&self) -> &'e Value {
        &self.planned.data["action"]["payload"]
    }

    /// The tool that it calls: its own name for `run_script`.
    pub fn tool(&self) -> Option<&'e str> {
        match self.kind() {
            "run_script" => Some("run_script"),
            "call_tool" => self.payload()["tool"].as_str(),
            _ => None,
        }
    }

    /// Whether `name` is its type or its tool.
    pub fn is(&self, name: &str) -> bool {
        self.kind() == name || self.tool() == Some(name)
    }

    /// The permission engine's decision: allow, ask or deny.
    pub fn verdict(&self) -> Option<&'e str> {
        self.validated
            .iter()
            .find_map(|event| event.data["prepared"]["decision"]["action"].as_str())
    }

    /// The code that came of it; nothing where all went well.
    pub fn code(&self) -> Option<&'e str> {
        self.executed?.data["observation"]["code"].as_str()
    }
}
