//! One action on its way: planned, prepared, asked about, done, and told to the model.

use permission::{Answer, ApprovalRequest};

use super::ask::After;
use super::guard::Ruling;
use super::{ChunkRef, Phase, Run};
use crate::action::Action;
use crate::event::{
    ActionExecuted, ActionPlanned, ActionValidated, Answered, ApprovalRequired, EventData,
    Initiator, ObservationRecorded, ResourceLoaded, SkillLoaded,
};
use crate::observation::{Loaded, Observation};
use crate::outcome::StopReason;
use crate::request::{Prepared, Refusal, Request};

/// Characters of the context that a chunk leaves free, and how many of a chunk are worth having.
const RESERVED: usize = 1_000;
const LEAST: usize = 200;

impl Run {
    pub(super) fn plan_action(&mut self, action: Action, initiator: Initiator) {
        self.initiator = initiator;
        let planned = ActionPlanned { initiator, action: action.clone() };
        self.note(EventData::ActionPlanned(planned));
        self.act(action);
    }

    /// Goes on with a planned action as far as nobody else is needed.
    pub(super) fn act(&mut self, action: Action) {
        match self.rule(&action) {
            Ruling::Go(action) => self.phase = Phase::Preparation { action },
            Ruling::Answer(content) => self.answer(content),
            Ruling::Plan(content) => {
                self.note_ruling(None);
                self.ask_about_plan(&content, action);
            }
            Ruling::Question(question) => {
                self.note_ruling(None);
                self.own_questions += 1;
                self.ask(question, After::Tell(action));
            }
            Ruling::Limit(limit) => self.ask_at_limit(limit, After::Act(limit, action)),
            Ruling::Known(text) => {
                self.note_ruling(None);
                self.conclude(&action, &Observation::of(text));
            }
            Ruling::Illegal(refusal) => {
                self.note_ruling(Some(refusal.clone()));
                self.conclude(&action, &Observation::failed(&refusal));
            }
        }
    }

    /// What the guard says, where nobody else is asked.
    pub(super) fn note_ruling(&mut self, refusal: Option<Refusal>) {
        let validated = ActionValidated::Guard { ok: refusal.is_none(), refusal };
        self.note(EventData::ActionValidated(Box::new(validated)));
    }

    pub(super) fn prepared(&mut self, action: Action, prepared: Prepared, elapsed: u64) {
        let ok = !matches!(prepared, Prepared::Refused { .. } | Prepared::Denied { .. });
        self.note(EventData::ActionValidated(Box::new(ActionValidated::Permission {
            elapsed_ms: elapsed,
            ok,
            prepared: Box::new(prepared.clone()),
        })));
        match prepared {
            Prepared::Refused { refusal } | Prepared::Denied { refusal, .. } => {
                self.conclude(&action, &Observation::failed(&refusal));
            }
            Prepared::Ask { request, question, .. } => {
                let required = ApprovalRequired { approval: question.clone() };
                self.note(EventData::ApprovalRequired(Box::new(required)));
                let question = Box::new(question);
                self.phase = Phase::Answer { action, request, question };
            }
            Prepared::Allowed { request, .. } => {
                self.phase = Phase::Observation { action, request };
            }
        }
    }

    pub(super) fn answered(
        &mut self,
        action: Action,
        request: Request,
        question: &ApprovalRequest,
        answer: Answer,
        elapsed: u64,
    ) {
        let noted = Answered {
            elapsed_ms: elapsed,
            id: question.id.clone(),
            tool: question.tool.to_string(),
            answer: answer.clone(),
        };
        match answer {
            Answer::Reject { message } => {
                self.note(EventData::ApprovalDenied(noted));
                let said = message.map(|text| format!(": {text}")).unwrap_or_default();
                let refusal = Refusal::new(
                    "ApprovalDenied",
                    format!("the user said no{said}"),
                    "do not try the same again; do something else, or say what could not be done",
                );
                self.conclude(&action, &Observation::failed(&refusal));
            }
            Answer::Later => {
                self.note(EventData::ApprovalDenied(noted));
                let refusal = Refusal::new(
                    "ApprovalRequired",
                    "nobody is there to look at the changes; they are kept",
                    "go on; the user applies them later",
                );
                self.conclude(&action, &Observation::failed(&refusal));
            }
            // What a run has changed is applied even if no time is left for anything else.
            _ if self.time_left(elapsed).is_zero() && self.closing.is_none() => {
                self.note(EventData::ApprovalGranted(noted));
                self.finish(StopReason::MaxWallSeconds);
            }
            _ => {
                self.note(EventData::ApprovalGranted(noted));
                self.phase = Phase::Observation { action, request };
            }
        }
    }

    pub(super) fn observed(&mut self, action: &Action, observation: Observation, elapsed: u64) {
        self.count(action, &observation);
        self.note(EventData::ActionExecuted(Box::new(ActionExecuted {
            elapsed_ms: elapsed,
            action: action.kind(),
            ok: observation.code.is_none(),
            observation: observation.clone(),
        })));
        self.note_changes(action, &observation);
        let observation = self.fitted(observation);
        for loaded in &observation.loaded {
            self.load(loaded);
        }
        self.conclude(action, &observation);
    }

    /// A chunk stays in the context, so it is cut to what is left of it; the record has the whole.
    fn fitted(&self, observation: Observation) -> Observation {
        let [Loaded::Chunk { id, .. }] = observation.loaded.as_slice() else { return observation };
        let left = self.setup.budget.max_context_chars.saturating_sub(self.context.chars());
        let room = left.saturating_sub(RESERVED);
        if observation.text.chars().count() <= room {
            return observation;
        }
        if room < LEAST {
            let message = format!("the context has no room left for the chunk `{id}`");
            let refusal = Refusal::new("BudgetExceeded", message, "work with what is loaded");
            return Observation::failed(&refusal);
        }
        let place = observation.storage_ref.clone();
        let place = place.unwrap_or_else(|| crate::stored::place_of(&observation.text));
        let shown = basics::text::prefix(&observation.text, room);
        let text = format!("{shown}\n[… cut here, for want of context; the whole is in {place}]");
        Observation { text, storage_ref: Some(place), ..observation }
    }

    fn count(&mut self, action: &Action, observation: &Observation) {
        if let Some(child) = &observation.spent {
            self.spent.usage.add(&child.usage);
            self.spent.turns += child.turns;
            self.spent.tool_calls += child.tool_calls;
            self.spent.script_runs += child.script_runs;
        }
        if matches!(action, Action::CallTool { .. } | Action::RunScript { .. }) {
            self.spent.tool_calls += 1;
        }
        if action.runs_program() {
            self.spent.script_runs += 1;
        }
    }

    pub(super) fn load(&mut self, loaded: &Loaded) {
        match loaded {
            Loaded::Skill(skill) => {
                let loaded = SkillLoaded { skill: skill.clone() };
                self.note(EventData::SkillLoaded(Box::new(loaded)));
                self.selected.push(skill.clone());
            }
            Loaded::Chunk { skill, id, report } => {
                let (name, chunk, report) = (skill.clone(), id.clone(), report.clone());
                let loaded = ResourceLoaded::Chunk { skill: name, chunk, report };
                self.note(EventData::ResourceLoaded(Box::new(loaded)));
                self.chunks.push(ChunkRef { skill: skill.clone(), id: id.clone() });
            }
            Loaded::Resource(file) => {
                let loaded = ResourceLoaded::File(Box::new(file.clone()));
                self.note(EventData::ResourceLoaded(Box::new(loaded)));
            }
        }
    }

    /// The end of an action: the model is told, and the next turn begins.
    pub(super) fn conclude(&mut self, action: &Action, observation: &Observation) {
        self.observations += 1;
        let number = self.observations;
        let state = observation.code.as_deref().unwrap_or("ok");
        let label = format!("Observation {number} | {} | {state}", action.summary());
        let keeps = observation.loaded.iter().any(|loaded| !matches!(loaded, Loaded::Resource(_)));
        let sha256 = basics::sha256::Sha256::of(&observation.text);
        let stored = observation.storage_ref.clone();
        let stored = stored.unwrap_or_else(|| crate::stored::place_of(&observation.text));
        if keeps {
            let names = observation.loaded.iter().filter_map(Loaded::skill_name);
            self.context.loaded(&label, &observation.text, names.map(str::to_owned).collect());
        } else {
            // Records of the first rules have these words.
            let short = match self.setup.rules {
                1 => format!("[{label} | shortened, the whole is in {stored}]"),
                _ => format!(
                    "[{label} | shortened, the whole is in {stored}; read_observation \"{number}\" shows it]"
                ),
            };
            self.context.observed(&label, &observation.text, short);
            self.context.pictured(observation.picture.clone());
        }
        self.note(EventData::ObservationRecorded(ObservationRecorded {
            number,
            action: action.kind(),
            ok: observation.code.is_none(),
            code: observation.code.clone(),
            chars: observation.text.chars().count(),
            sha256,
            storage_ref: observation.storage_ref.clone(),
        }));
        match &observation.code {
            None => self.done.push(action.summary()),
            Some(code) => self.failures.push(format!("{}: {code}", action.summary())),
        }
        // What the run itself did is told, but it is not what was asked for.
        if self.initiator != Initiator::Run {
            self.last = Some(observation.clone());
        }
        if matches!(action, Action::ApplyChanges { .. }) {
            self.unapplied.clone_from(&observation.code);
        }
        if self.closing.is_none() && self.is_stuck(action, observation) {
            return self.finish(StopReason::RepeatedFailure);
        }
        self.go_on();
    }

    fn is_stuck(&mut self, action: &Action, observation: &Observation) -> bool {
        self.repeated = match (&observation.code, &self.repeated) {
            (None, _) => (None, 0),
            (Some(_), (Some(last), times)) if last == action => (Some(action.clone()), times + 1),
            (Some(_), _) => (Some(action.clone()), 1),
        };
        // What went well does not count, whatever the limit.
        self.repeated.1 >= self.setup.patience.same_failures.max(1)
    }
}
