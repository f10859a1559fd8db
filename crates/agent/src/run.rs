//! One run: from a request to an outcome, a step at a time.
//!
//! A run is a function of its [`Setup`] and its [`Input`]s. It says what should happen next, is told
//! what came of it, and notes everything as [`Happening`]s on the way. Resuming feeds the recorded
//! inputs to a new run; replaying does so and compares what it notes.
//!
//! Invariant: nothing here reads a file, a variable or the clock.

mod act;
mod answer;
mod ask;
mod close;
mod decide;
mod guard;
mod notes;

#[cfg(test)]
mod tests;

use std::time::Duration;

use basics::skill::RunMode;
use permission::{ApprovalRequest, Mode, ToolSet};
use serde::Serialize;

use crate::action::{Action, SkillRef};
use crate::budget::{Budget, Spent};
use crate::changes::{ApplyWhen, NotedChanges};
use crate::context::{Context, system_text};
use crate::conversation::Carried;
use crate::event::{
    BudgetUpdated, ContextCompacted, Error, EventData, Happening, Initiator, RunFinished,
    RunStarted, TurnFinished, TurnStarted,
};
use crate::observation::{Loaded, Observation, SelectedSkill};
use crate::outcome::{Outcome, StopReason};
use crate::plan::{Plan, StepStatus};
use crate::question::Question;
use crate::request::{Refusal, Request};
use crate::setup::{Preloaded, Provenance, RunKind, Setup, Terms};
use crate::step::{Input, Noted, Step};
use ask::After;
pub use close::GIT;
use close::Offered;
pub use notes::RunState;

/// A chunk of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkRef {
    /// The name of the skill.
    pub skill: String,
    /// What the skill calls the chunk.
    pub id: String,
}

/// One run of an agent.
#[derive(Debug, Clone)]
pub struct Run {
    setup: Setup,
    context: Context,
    plan: Option<Plan>,
    spent: Spent,
    selected: Vec<SelectedSkill>,
    chunks: Vec<ChunkRef>,
    /// Actions that went well and those that did not, for an answer without the model.
    done: Vec<String>,
    failures: Vec<String>,
    /// Why the model did not answer, in a few words, where it is known.
    blame: Option<String>,
    /// The action that failed last, and how often in a row.
    repeated: (Option<Action>, u32),
    turn: u32,
    observations: u32,
    last: Option<Observation>,
    /// What the layer holds that is not in the workspace, why it is not, and what is.
    pending: Option<NotedChanges>,
    unapplied: Option<String>,
    applied: Vec<NotedChanges>,
    offered: Offered,
    /// Who wanted the action under way.
    initiator: Initiator,
    /// How it will end, once what it changed was put to the user.
    closing: Option<Outcome>,
    /// Whether the model said last that it cannot do the work.
    unable: bool,
    /// How many questions were asked, and how many of them by the model.
    questions: u32,
    own_questions: u32,
    /// What it may use before anybody extends it.
    first_budget: Budget,
    phase: Phase,
    notes: Vec<Happening>,
}

/// The code of the event that says so when somebody stopped the run.
pub const CANCELLED: &str = "Cancelled";

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "waits_for", rename_all = "snake_case")]
enum Phase {
    Decision { attempt: u32 },
    Preparation { action: Action },
    Answer { action: Action, request: Request, question: Box<ApprovalRequest> },
    Observation { action: Action, request: Request },
    Question { question: Box<Question>, after: Box<After> },
    Nothing { outcome: Outcome },
}

/// An input that does not answer what the run waits for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the run waits for {waits_for}, not for this input")]
pub struct Unexpected {
    /// What it waits for.
    pub waits_for: &'static str,
}

impl Run {
    /// Begins a run.
    pub fn start(setup: Setup) -> Self {
        // A client elsewhere has its own words for its model.
        let system = match setup.kind {
            RunKind::Served => String::new(),
            RunKind::Own | RunKind::Child => {
                let skills = setup.patience.skills_per_turn;
                let here = setup.here.as_ref().map(|here| (here, setup.mode));
                system_text(setup.rules, &setup.tools, &setup.catalog, skills, here)
            }
        };
        let mut carried = setup.carried.clone();
        let context = begin_context(&setup, carried.as_deref_mut(), system);
        let mut run = Self {
            context,
            plan: carried.as_mut().and_then(|carried| carried.plan.take()),
            spent: Spent::default(),
            selected: carried
                .as_mut()
                .map(|carried| std::mem::take(&mut carried.selected))
                .unwrap_or_default(),
            chunks: carried
                .as_mut()
                .map(|carried| std::mem::take(&mut carried.chunks))
                .unwrap_or_default(),
            done: Vec::new(),
            failures: Vec::new(),
            blame: None,
            repeated: (None, 0),
            turn: 0,
            observations: carried.as_ref().map_or(0, |carried| carried.observations),
            last: None,
            pending: carried.and_then(|carried| carried.pending),
            unapplied: None,
            applied: Vec::new(),
            offered: Offered::default(),
            initiator: Initiator::User,
            closing: None,
            unable: false,
            questions: 0,
            own_questions: 0,
            first_budget: setup.budget.clone(),
            phase: Phase::Decision { attempt: 1 },
            notes: Vec::new(),
            setup,
        };
        run.note(EventData::RunStarted(Box::new(started(&run.setup))));
        for Preloaded { skill, text } in run.setup.preloaded.clone() {
            if run.skills().contains(&skill.name.as_str()) {
                continue;
            }
            run.context.loaded(&format!("Skill {}", skill.name), &text, vec![skill.name.clone()]);
            run.load(&Loaded::Skill(skill));
        }
        match run.setup.invoked.clone() {
            Some(skill) => {
                let reason = "chosen by the user".to_owned();
                let action = Action::SelectSkills { skills: vec![skill], reason };
                run.plan_action(action, Initiator::User);
            }
            None => run.next_turn(),
        }
        run
    }

    /// What should happen now.
    pub fn step(&self) -> Step<'_> {
        match &self.phase {
            Phase::Decision { attempt } => Step::CallModel(self.prompt(*attempt)),
            Phase::Preparation { action } => Step::Prepare(action),
            Phase::Answer { action, request, .. } => Step::Ask(Noted { action, request }),
            Phase::Observation { action, request } => Step::Perform(Noted { action, request }),
            Phase::Question { question, .. } => Step::Question(question),
            Phase::Nothing { outcome } => Step::Done(outcome),
        }
    }

    /// Takes what came of the current step, `elapsed` milliseconds after the start.
    pub fn advance(&mut self, input: Input, elapsed: u64) -> Result<(), Unexpected> {
        let waits_for = self.waits_for();
        let phase = std::mem::replace(&mut self.phase, Phase::Decision { attempt: 1 });
        self.spent.wall_milliseconds = elapsed;
        match (phase, input) {
            (phase @ Phase::Nothing { .. }, _) => {
                self.phase = phase;
                return Err(Unexpected { waits_for });
            }
            (_, Input::Cancelled) => {
                self.note(EventData::Error(Error {
                    elapsed_ms: Some(elapsed),
                    code: CANCELLED.to_owned(),
                    message: StopReason::Cancelled.describe().to_owned(),
                    retry_after_ms: None,
                }));
                self.finish(StopReason::Cancelled);
            }
            (Phase::Decision { attempt }, Input::Replied(reply)) => {
                self.replied(reply, attempt, elapsed)
            }
            (phase, Input::Resumed(terms)) => self.resumed(phase, terms, elapsed),
            // After an interruption an action is prepared again before it is asked about or done.
            (
                Phase::Preparation { action }
                | Phase::Answer { action, .. }
                | Phase::Observation { action, .. },
                Input::Prepared(prepared),
            ) => self.prepared(action, prepared, elapsed),
            (Phase::Answer { action, request, question }, Input::Answered(answer)) => {
                self.answered(action, request, &question, answer, elapsed)
            }
            (Phase::Observation { action, .. }, Input::Observed(observation)) => {
                self.observed(&action, observation, elapsed)
            }
            (Phase::Question { after, .. }, Input::QuestionAnswered(answer)) => {
                self.question_answered(*after, answer, elapsed)
            }
            (phase, _) => {
                self.phase = phase;
                return Err(Unexpected { waits_for });
            }
        }
        Ok(())
    }

    /// What the run noted since it was last asked.
    pub fn take_notes(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.notes)
    }

    /// Takes notes back that were not written down after all.
    pub fn put_back(&mut self, notes: Vec<Happening>) {
        self.notes.splice(0..0, notes);
    }

    /// The outcome, once there is one.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Nothing { outcome } => Some(outcome),
            _ => None,
        }
    }

    /// The run's name.
    pub fn id(&self) -> &str {
        &self.setup.run_id
    }

    /// What the user wants.
    pub fn request(&self) -> &str {
        &self.setup.request
    }

    /// The skill the user chose.
    pub fn invoked(&self) -> Option<&SkillRef> {
        self.setup.invoked.as_ref()
    }

    /// What came of the last action.
    pub fn last(&self) -> Option<&Observation> {
        self.last.as_ref()
    }

    /// Goes on after an interruption under the terms of today, `elapsed` milliseconds after the start.
    pub fn resume(&mut self, terms: Terms, elapsed: u64) -> Result<(), Unexpected> {
        if self.outcome().is_some() || self.setup.terms() == terms {
            return Ok(());
        }
        self.advance(Input::Resumed(terms), elapsed)
    }

    /// What the next run of the conversation begins with.
    pub fn carried(&self) -> Carried {
        let mut context = self.context.clone();
        let is_answered =
            self.outcome().is_some_and(|outcome| outcome.stop_reason == StopReason::FinalAnswer);
        if !is_answered {
            let why =
                self.outcome().map_or("it was left", |outcome| outcome.stop_reason.describe());
            context.remark(format!("[There is no answer to this request: {why}.]"));
        }
        Carried {
            told: context.told(),
            plan: self.plan.clone().filter(|_| !self.open_steps().is_empty()),
            selected: self.selected.clone(),
            chunks: self.chunks.clone(),
            observations: self.observations,
            pending: self.pending.clone(),
        }
    }

    /// The action under way.
    pub fn action(&self) -> Option<&Action> {
        match &self.phase {
            Phase::Preparation { action }
            | Phase::Answer { action, .. }
            | Phase::Observation { action, .. } => Some(action),
            Phase::Decision { .. } | Phase::Question { .. } | Phase::Nothing { .. } => None,
        }
    }

    /// The question that waits for a person.
    pub fn question(&self) -> Option<&Question> {
        match &self.phase {
            Phase::Question { question, .. } => Some(question),
            _ => None,
        }
    }

    /// What may be done unasked, and what not at all.
    pub fn mode(&self) -> Mode {
        self.setup.mode
    }

    /// How many turns have begun.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// What it has used.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Names of the skills it has loaded.
    pub fn skills(&self) -> Vec<&str> {
        self.selected.iter().map(|skill| skill.name.as_str()).collect()
    }

    /// What it is doing, in words: for the person who is asked to allow something.
    pub fn purpose(&self) -> String {
        let steps = self.plan.iter().flat_map(|plan| &plan.steps);
        let current = steps
            .filter(|step| step.status == StepStatus::InProgress)
            .map(|step| step.title.as_str())
            .next();
        let goal =
            self.plan.as_ref().map(|plan| plan.goal.as_str()).filter(|goal| !goal.is_empty());
        let goal = goal.unwrap_or(&self.setup.request);
        current.map_or_else(|| goal.to_owned(), |step| format!("{goal}: {step}"))
    }

    /// The child run that a loaded skill asks for instead of entering this run's context.
    pub fn child(&self, observation: &Observation) -> Result<Option<Setup>, Refusal> {
        let skills = observation.loaded.iter().filter_map(|loaded| match loaded {
            Loaded::Skill(skill) => Some(skill),
            _ => None,
        });
        let skill = skills.into_iter().find(|skill| skill.run_mode == RunMode::Subagent);
        let Some(skill) = skill.filter(|_| self.setup.kind != RunKind::Child) else {
            return Ok(None);
        };
        if observation.loaded.len() > 1 {
            return Err(Refusal::new(
                "InvalidAction",
                format!("`{}` runs on its own, in a child run", skill.name),
                format!("select `{}` alone, and the others in another turn", skill.name),
            ));
        }
        Ok(Some(Setup {
            run_id: format!("{}.{}", self.setup.run_id, self.observations + 1),
            catalog: String::new(),
            budget: self.setup.budget.share(&self.spent),
            invoked: None,
            apply: ApplyWhen::Never,
            attended: false,
            preloaded: vec![Preloaded { skill: skill.clone(), text: observation.text.clone() }],
            kind: RunKind::Child,
            continues: None,
            carried: None,
            facts: Provenance { parent: Some(self.setup.run_id.clone()), ..Provenance::default() },
            ..self.setup.clone()
        }))
    }

    /// How much time it has, so many milliseconds after its start.
    pub fn time_left(&self, elapsed: u64) -> Duration {
        let whole = self.setup.budget.max_wall_seconds.saturating_mul(1_000);
        Duration::from_millis(whole.saturating_sub(elapsed))
    }

    fn waits_for(&self) -> &'static str {
        match &self.phase {
            Phase::Decision { .. } => "the model's reply",
            Phase::Preparation { .. } => "what the action would touch",
            Phase::Answer { .. } => "a person's answer",
            Phase::Observation { .. } => "what came of the action",
            Phase::Question { .. } => "a person's answer to a question",
            Phase::Nothing { .. } => "nothing",
        }
    }

    /// Begins the next turn, or ends the run when something is used up.
    fn next_turn(&mut self) {
        // The state is sent with the conversation, and cannot be shortened.
        let room = self.setup.budget.max_context_chars.saturating_sub(self.state_chars());
        let shortened = self.context.compact(room);
        self.spent.context_chars = self.context.chars() + self.state_chars();
        if shortened > 0 {
            let chars = self.spent.context_chars;
            let compacted = ContextCompacted { observations: shortened, chars };
            self.note(EventData::ContextCompacted(compacted));
        }
        if let Some(reason) = self.setup.budget.exhausted(&self.spent) {
            return match self.may_extend(reason) {
                true => self.ask_at_limit(reason, After::Turn(reason)),
                false => self.finish(reason),
            };
        }
        self.turn += 1;
        self.spent.turns += 1;
        self.note(EventData::TurnStarted(TurnStarted { budget: self.left() }));
        self.call_model(1);
    }

    /// What was noted is left as it is; a prompt that speaks of the old terms is noted anew.
    fn resumed(&mut self, phase: Phase, terms: Terms, elapsed: u64) {
        let Terms { budget, patience, tools, store_prompts } = terms.clone();
        self.first_budget = budget.clone();
        self.setup = Setup { budget, patience, tools, store_prompts, ..self.setup.clone() };
        self.note(EventData::BudgetUpdated(Box::new(BudgetUpdated {
            elapsed_ms: Some(elapsed),
            resumed: Some(terms),
            spent: self.spent,
            left: self.left(),
        })));
        match phase {
            Phase::Decision { attempt } => self.call_model(attempt),
            phase => self.phase = phase,
        }
    }

    fn answer(&mut self, content: String) {
        self.note_ruling(None);
        self.close(self.ending(content));
    }

    /// How the run ends with this answer.
    fn ending(&self, answer: String) -> Outcome {
        let stop_reason = match self.unable {
            true => StopReason::NoResult,
            false => StopReason::FinalAnswer,
        };
        Outcome { stop_reason, answer }
    }

    fn finish(&mut self, reason: StopReason) {
        // What it stopped with while it was closing matters more than why it cannot go on.
        let outcome = self.closing.take().unwrap_or_else(|| Outcome {
            stop_reason: reason,
            answer: self.degraded_answer(reason),
        });
        match reason {
            StopReason::Cancelled => self.end_run(outcome),
            _ => self.close(outcome),
        }
    }

    fn end_run(&mut self, outcome: Outcome) {
        self.end_turn();
        self.note(EventData::RunFinished(RunFinished {
            status: outcome.stop_reason.status(),
            stop_reason: outcome.stop_reason,
            answer: outcome.answer.clone(),
            usage: self.spent.usage,
            spent: self.spent,
        }));
        self.phase = Phase::Nothing { outcome };
    }

    fn end_turn(&mut self) {
        self.spent.context_chars = self.context.chars() + self.state_chars();
        self.note(EventData::BudgetUpdated(Box::new(BudgetUpdated {
            elapsed_ms: None,
            resumed: None,
            spent: self.spent,
            left: self.left(),
        })));
        if self.turn > 0 {
            self.note(EventData::TurnFinished(TurnFinished {}));
        }
    }
}

/// The event that a run begins with. The list of skills is in a file of its own.
fn started(setup: &Setup) -> RunStarted {
    let tools = setup.tools.clone();
    let setup = Setup {
        catalog: String::new(),
        tools: ToolSet::from_names([]),
        carried: None,
        ..setup.clone()
    };
    RunStarted { setup, tools }
}

/// The conversation so far and the request; what is carried over becomes what still counts of it.
fn begin_context(setup: &Setup, carried: Option<&mut Carried>, system: String) -> Context {
    let (Some(carried), Some(link)) = (carried, &setup.continues) else {
        return Context::new(&setup.run_id, system, &setup.request);
    };
    let mut told = carried.told.clone();
    let forgotten = told.forget(&link.stale);
    carried.selected.retain(|skill| !forgotten.contains(&skill.name));
    carried.chunks.retain(|chunk| !forgotten.contains(&chunk.skill));
    carried.pending = carried.pending.take().filter(|_| link.layer);
    let mut context = Context::continued(told, &setup.run_id, system, &setup.request);
    context.stale(&link.stale);
    if link.compact {
        context.shorten(setup.budget.max_context_chars);
    }
    context
}
