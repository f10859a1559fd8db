//! Carrying a run out: the one loop that turns steps into effects.
//!
//! Everything it touches is given to it. What announces an effect is on disk before the effect, and what
//! came of it is on disk before the next decision.

mod clock;
mod hand;
mod live;
mod verbatim;

use std::cell::RefCell;
use std::time::{Duration, Instant};

use agent::action::Action;
use agent::changes::NotedChanges;
use agent::context::Prompt;
use agent::event::{Event, EventData};
use agent::model::{Cancel, Model};
use agent::observation::{Facts, Observation, SelectedSkill};
use agent::outcome::{Outcome, StopReason};
use agent::question::{About, Question, QuestionAnswer};
use agent::reply::Reply;
use agent::request::{Prepared, Refusal, Request};
use agent::run::{ChunkRef, Run, Unexpected};
use agent::setup::Setup;
use agent::step::{Input, Noted, Step};
use permission::{
    Answer, ApprovalId, ApprovalRequest, Approved, Effect, Engine, Granted, Invocation, Permission,
    Scope, Verdict,
};

use model::early::Shown;
use tools::grants::{GrantFile, GrantFileError};

use crate::journal::{Journal, JournalError, Redactor};
pub use clock::{SkippingClock, SystemClock};
pub use hand::InHand;
use hand::{Asking, Held};
use live::Live;

/// What a run acts with.
pub trait Toolbox {
    /// Finds out what an action would touch, touching nothing.
    fn prepare(&mut self, action: &Action, means: &Means<'_>) -> Result<Request, Refusal>;
    /// Does it.
    fn perform(
        &mut self,
        request: Approved<Request>,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Observation;
    /// What is in the run's layer by now, where that is something else than was noted before.
    fn note_changes(
        &mut self,
        redactor: &Redactor,
        journal: &mut Journal,
    ) -> Option<Box<NotedChanges>> {
        let _ = (redactor, journal);
        None
    }
    /// What reached the workspace before an interruption, and was not noted.
    fn note_applied(&mut self, journal: &Journal) -> Option<Box<NotedChanges>> {
        let _ = journal;
        None
    }
    /// Keeps an answer that is a secret for the programs of the run.
    fn keep_secret(&mut self, secret: &str) -> QuestionAnswer {
        let _ = secret;
        QuestionAnswer::Nobody
    }
}

/// What every action of a run goes by: there is one of each in a run, so what was approved on the way counts for everyone.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// What may be done.
    pub engine: &'a Engine,
    /// What takes secrets out of whatever is kept or told.
    pub redactor: &'a Redactor,
    /// Whether somebody wants it to stop, and how long it may take.
    pub cancel: &'a Cancel,
    /// The chunks that were loaded so far.
    pub chunks: &'a [ChunkRef],
    /// The skills that were loaded so far.
    pub selected: &'a [SelectedSkill],
    /// Whether the model can be shown pictures.
    pub sees: bool,
    /// Takes what a program writes, as it is written and without secrets.
    pub show: &'a dyn Fn(&str),
}

/// Someone who answers questions.
pub trait Approver {
    /// The answer; nothing when nobody is there.
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer>;
    /// What they say to a question that is not about permission; nothing when nobody is there.
    fn question(&mut self, question: &Question) -> Option<QuestionAnswer> {
        let _ = question;
        None
    }
    /// An approval for always could not be kept, so that it counts for this run only.
    fn not_kept(&mut self, why: &GrantFileError) {
        let _ = why;
    }
}

impl<F: FnMut(&ApprovalRequest) -> Option<Answer>> Approver for F {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        self(question)
    }
}

/// Someone who watches.
pub trait Listener {
    /// Something was noted.
    fn event(&mut self, event: &Event);
    /// The model wrote something, here without its secrets; nothing is done before all of it was read.
    fn delta(&mut self, shown: Shown<'_>) {
        let _ = shown;
    }
    /// A program wrote something, here without its secrets.
    fn output(&mut self, text: &str) {
        let _ = text;
    }
}

/// What time it is.
pub trait Clock {
    /// Now.
    fn now(&self) -> jiff::Timestamp;
    /// Since the run began, earlier processes included.
    fn elapsed(&self) -> Duration;
    /// Does not count this time: a person was asked.
    fn leave_out(&self, time: Duration) {
        let _ = time;
    }
    /// Lets time pass, until somebody wants to stop.
    fn pause(&self, time: Duration, cancel: &Cancel) {
        const PATIENCE: Duration = Duration::from_millis(20);
        let began = Instant::now();
        while let Some(left) = time.checked_sub(began.elapsed())
            && !cancel.requested()
        {
            std::thread::sleep(left.min(PATIENCE));
        }
    }
}

/// Everyone who takes part in a run.
pub struct Driver<'a> {
    /// Who decides.
    pub model: &'a mut dyn Model,
    /// What is acted with.
    pub toolbox: &'a mut dyn Toolbox,
    /// What may be done.
    pub engine: &'a mut Engine,
    /// Who answers.
    pub approver: &'a mut dyn Approver,
    /// Where approvals for always are kept.
    pub grants: Option<&'a GrantFile>,
    /// Who watches.
    pub listener: &'a mut dyn Listener,
    /// What takes secrets out of everything that enters the run, and so its record and every prompt.
    pub redactor: &'a Redactor,
    /// What time it is.
    pub clock: &'a dyn Clock,
    /// Whether somebody wants it to stop.
    pub cancel: &'a Cancel,
    /// The command that began it, for a replayable one.
    pub invocation: &'a Invocation,
}

/// How driving ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Ending {
    /// With an outcome.
    Finished(Outcome),
    /// With a question that nobody was there to answer; the run can be resumed.
    Suspended(Box<ApprovalRequest>),
    /// The same, with a question that is not about permission.
    Parked(Box<Question>),
}

/// Why a run could not be carried on.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Its record cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The driver and the run disagree, which is a defect of this program.
    #[error(transparent)]
    Unexpected(#[from] Unexpected),
}

/// What follows from a step.
enum Next {
    /// The run is told something.
    Tell(Box<Input>),
    /// The same step is looked at again, with what it needs in the hand.
    Again,
    /// The run ends, or waits for somebody.
    End(Ending),
}

impl Next {
    fn tell(input: Input) -> Self {
        Self::Tell(Box::new(input))
    }
}

impl Driver<'_> {
    /// Carries the run on until it ends or waits for somebody. Whoever goes on with it in the same process brings
    /// the same hand; an empty one means that the run is new, or was interrupted.
    pub fn drive(
        &mut self,
        run: &mut Run,
        journal: &mut Journal,
        hand: &mut InHand,
    ) -> Result<Ending, DriveError> {
        loop {
            if let Some(ending) = self.turn(run, journal, hand)? {
                return Ok(ending);
            }
        }
    }

    /// Carries the run on to its next turn, as [`Driver::drive`]; nothing when it has come there.
    pub fn turn(
        &mut self,
        run: &mut Run,
        journal: &mut Journal,
        hand: &mut InHand,
    ) -> Result<Option<Ending>, DriveError> {
        let this = run.turn();
        loop {
            self.record(run, journal)?;
            if self.cancel.requested() && run.outcome().is_none() {
                run.advance(Input::Cancelled, self.elapsed())?;
                continue;
            }
            let step = run.step();
            // The others have effects, or wait for someone: what led here must be on disk.
            if !matches!(step, Step::Prepare(_)) {
                journal.commit()?;
            }
            let next = match step {
                Step::CallModel(_) if run.turn() != this => return Ok(None),
                Step::CallModel(prompt) => self.call(&prompt, hand),
                Step::Prepare(action) => {
                    Next::tell(Input::Prepared(self.judge(action, run, journal, hand)))
                }
                Step::Ask(noted) => self.ask(noted, run, journal, hand),
                Step::Perform(noted) => self.perform(noted, run, journal, hand)?,
                Step::Question(question) => self.question(question, hand),
                Step::Done(outcome) => Next::End(Ending::Finished(outcome.clone())),
            };
            match next {
                Next::Tell(input) => {
                    let picture = match &*input {
                        Input::Observed(observation) => observation.picture.clone(),
                        _ => None,
                    };
                    let mut input = self.redactor.apply(*input);
                    if let Input::Observed(observation) = &mut input {
                        observation.picture = picture;
                    }
                    run.advance(input, self.elapsed())?;
                }
                Next::Again => {}
                Next::End(ending) => return Ok(Some(ending)),
            }
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn record(&mut self, run: &mut Run, journal: &mut Journal) -> Result<(), DriveError> {
        let mut turn_ended = false;
        for happening in run.take_notes() {
            turn_ended |=
                matches!(happening.data, EventData::TurnFinished(_) | EventData::RunFinished(_));
            let event = journal.append(happening, self.clock.now())?;
            self.listener.event(&event);
        }
        if turn_ended {
            journal.write_state(&run.state())?;
        }
        Ok(())
    }

    /// Asks the model. Where it failed and may do better later, it is left alone for a while first.
    fn call(&mut self, prompt: &Prompt<'_>, hand: &mut InHand) -> Next {
        if let Some(pause) = hand.pause.take() {
            self.clock.pause(pause, self.cancel);
            return Next::Again;
        }
        let mut live = Live::new(&mut *self.listener, self.redactor);
        let reply = self.model.decide(prompt, self.cancel, &mut |text| live.push(text));
        live.finish();
        match &reply {
            // Whoever stopped the run stopped the model with it.
            Reply::Failed { .. } if self.cancel.requested() => return Next::tell(Input::Cancelled),
            Reply::Failed { retry_after_ms: Some(wait), .. } => {
                hand.pause = Some(Duration::from_millis(*wait));
            }
            Reply::Decided { decision, .. } => hand.decided(&decision.action),
            Reply::Failed { .. } | Reply::Invalid { .. } => {}
        }
        Next::tell(Input::Replied(reply))
    }

    /// What the action would touch, and whether it may; the proof or the question goes to the hand.
    fn judge(
        &mut self,
        action: &Action,
        run: &Run,
        journal: &Journal,
        hand: &mut InHand,
    ) -> Prepared {
        hand.held = Held::Nothing;
        let means = Means {
            engine: self.engine,
            redactor: self.redactor,
            cancel: self.cancel,
            chunks: run.loaded_chunks(),
            selected: run.selected(),
            sees: self.model.can_see(),
            show: &|_| {},
        };
        let request = hand.whole(action).and_then(|action| self.toolbox.prepare(&action, &means));
        let request = match request {
            Ok(request) => request,
            Err(refusal) => return Prepared::Refused { refusal },
        };
        let hash = request.skill_hash.clone();
        match self.engine.decide(request.clone(), hash.as_ref()) {
            Verdict::Allowed(approved) => {
                let decision = approved.decision().clone();
                hand.held = Held::Approved(Box::new(approved));
                Prepared::Allowed { request, decision }
            }
            Verdict::Ask(pending) => {
                let id = ApprovalId::numbered(journal.next_sequence());
                let mut question = pending.question(id, run.purpose(), self.invocation);
                if question.tool == Permission::ApplyChanges {
                    question.replay = self.invocation.another(&["runs", "apply", run.id()]);
                }
                let decision = pending.decision().clone();
                hand.held = Held::Asking(Box::new(Asking { pending, question: question.clone() }));
                Prepared::Ask { request, decision, question }
            }
            Verdict::Denied(denial) => {
                let (decision, refusal) = (denial.decision().clone(), Refusal::from(denial));
                Prepared::Denied { request, decision, refusal }
            }
        }
    }

    /// Puts the action to a person. After an interruption, what a person is asked comes from the planned action and
    /// the rules of today; the run is told where that is not what was noted.
    fn ask(&mut self, noted: Noted<'_>, run: &Run, journal: &Journal, hand: &mut InHand) -> Next {
        if let Held::Asking(asking) = hand.take() {
            return self.answer(asking, hand);
        }
        let prepared = self.judge(noted.action, run, journal, hand);
        let is_same = matches!(hand.held, Held::Asking(_)) && self.is_as(&prepared, noted);
        if is_same { Next::Again } else { Next::tell(Input::Prepared(prepared)) }
    }

    /// Does what was approved. After an interruption, what changes nothing is done again, if the rules of today allow
    /// it; of anything else nobody knows whether it happened.
    fn perform(
        &mut self,
        noted: Noted<'_>,
        run: &Run,
        journal: &mut Journal,
        hand: &mut InHand,
    ) -> Result<Next, DriveError> {
        if let Held::Approved(approved) = hand.take() {
            return self.carry_out(*approved, run, journal);
        }
        let prepared = self.judge(noted.action, run, journal, hand);
        // The note counts only where the action cannot even be prepared any more, so that nothing is done.
        let request = prepared.request().unwrap_or(noted.request);
        if !request.read_only {
            hand.held = Held::Nothing;
            return Ok(Next::tell(Input::Observed(self.interrupted(noted.action, journal))));
        }
        let is_same = matches!(hand.held, Held::Approved(_)) && self.is_as(&prepared, noted);
        Ok(if is_same { Next::Again } else { Next::tell(Input::Prepared(prepared)) })
    }

    /// What is known of an action that was interrupted: what it wrote until then is in the layer, and changes arrive
    /// all or not at all.
    fn interrupted(&mut self, action: &Action, journal: &mut Journal) -> Observation {
        let applied = match action {
            Action::ApplyChanges { .. } => self.toolbox.note_applied(journal),
            _ => None,
        };
        let changes = self.toolbox.note_changes(self.redactor, journal);
        match applied {
            Some(_) => {
                Observation { applied, changes, ..Observation::of("Applied to the workspace.") }
            }
            None => Observation { changes, ..Observation::failed(&interrupted()) },
        }
    }

    /// Whether what was prepared is what was noted, which is without secrets.
    fn is_as(&self, prepared: &Prepared, noted: Noted<'_>) -> bool {
        match self.redactor.apply(Input::Prepared(prepared.clone())) {
            Input::Prepared(prepared) => prepared.request() == Some(noted.request),
            _ => false,
        }
    }

    /// Puts the question to a person; the proof goes to the hand. Where nobody is there, it stays there as it is.
    fn answer(&mut self, asking: Box<Asking>, hand: &mut InHand) -> Next {
        let asked = Instant::now();
        let answer = self.approver.ask(&asking.question);
        self.clock.leave_out(asked.elapsed());
        let Some(answer) = answer else {
            let question = Box::new(asking.question.clone());
            hand.held = Held::Asking(asking);
            return Next::End(Ending::Suspended(question));
        };
        let pending = asking.pending;
        let counted = counted(&answer, pending.request());
        if let Ok(Granted { approved, scope, grants }) = pending.answer(counted) {
            if let (Scope::Always, Some(file)) = (scope, self.grants)
                && let Err(why) = file.add(grants.clone())
            {
                self.approver.not_kept(&why);
            }
            match scope {
                Scope::Run => self.engine.remember_for_conversation(grants),
                Scope::Once | Scope::Always => self.engine.remember(grants),
            }
            hand.held = Held::Approved(Box::new(approved));
        }
        Next::tell(Input::Answered(answer))
    }

    /// Puts a question to a person. An approved plan changes what may be done from now on.
    fn question(&mut self, question: &Question, hand: &InHand) -> Next {
        // Whoever denies questions is not asked any.
        let is_denied = question.about == About::Task
            && self.engine.action(Permission::AskUser, &question.question) == Effect::Deny;
        if is_denied {
            return Next::tell(Input::QuestionAnswered(QuestionAnswer::Nobody));
        }
        let asked = Instant::now();
        let answer = self.approver.question(&hand.question(question));
        self.clock.leave_out(asked.elapsed());
        let answer = match (answer, question.about) {
            (Some(answer), _) => answer,
            // A run that nobody extends ends as it would have.
            (None, About::Limit(_)) => QuestionAnswer::Nobody,
            (None, About::Task | About::Plan) => {
                return Next::End(Ending::Parked(Box::new(question.clone())));
            }
        };
        let answer = match answer {
            QuestionAnswer::Said(words) if question.secret => self.keep_secret(&words.join(" ")),
            answer => answer,
        };
        if let QuestionAnswer::CarryOut(mode) = answer {
            self.engine.set_mode(mode);
        }
        Next::tell(Input::QuestionAnswered(answer))
    }

    /// Programs may have it, and nobody else: it is taken out of whatever they print.
    fn keep_secret(&mut self, secret: &str) -> QuestionAnswer {
        match self.redactor.learn(secret) {
            true => self.toolbox.keep_secret(secret),
            false => QuestionAnswer::No(Some(
                "what was answered cannot be kept secret, so it was thrown away: it is too short, or too long"
                    .to_owned(),
            )),
        }
    }

    fn carry_out(
        &mut self,
        approved: Approved<Request>,
        run: &Run,
        journal: &mut Journal,
    ) -> Result<Next, DriveError> {
        let cancel = self.cancel.within(run.time_left(self.elapsed()));
        let listener = RefCell::new(&mut *self.listener);
        let means = Means {
            engine: self.engine,
            redactor: self.redactor,
            cancel: &cancel,
            chunks: run.loaded_chunks(),
            selected: run.selected(),
            sees: self.model.can_see(),
            show: &|text| listener.borrow_mut().output(text),
        };
        let observation = self.toolbox.perform(approved, &means, journal);
        // Before it can become the beginning of a child run.
        let picture = observation.picture.clone();
        let observation = Observation { picture, ..self.redactor.observation(observation) };
        let observation = match run.child(&observation) {
            Ok(Some(setup)) => return self.delegate(setup, journal),
            Ok(None) => observation,
            Err(refusal) => Observation::failed(&refusal),
        };
        Ok(Next::tell(Input::Observed(observation)))
    }

    /// Carries a child run out; its answer is what the parent observes. Where it waits, so does the parent: taken
    /// up again, it comes here once more.
    fn delegate(&mut self, setup: Setup, journal: &mut Journal) -> Result<Next, DriveError> {
        let terms = setup.terms();
        let (mut child, mut own) = journal.child(setup)?;
        child.resume(terms, self.elapsed())?;
        let ending = self.drive(&mut child, &mut own, &mut InHand::default())?;
        own.finish(&child)?;
        let outcome = match ending {
            Ending::Finished(outcome) => outcome,
            waiting @ (Ending::Suspended(_) | Ending::Parked(_)) => return Ok(Next::End(waiting)),
        };
        let code = match outcome.stop_reason {
            StopReason::FinalAnswer => None,
            StopReason::Cancelled => Some("Cancelled".to_owned()),
            _ => Some("SubagentStopped".to_owned()),
        };
        let facts = Facts {
            child_run: Some(child.id().to_owned()),
            child_record: own.last_hash().parse().ok(),
            ..Facts::default()
        };
        let spent = Some(child.spent());
        // It worked in the same layer.
        let changes = match child.pending() {
            Some(_) => self.toolbox.note_changes(self.redactor, journal),
            None => None,
        };
        let observation =
            Observation { code, facts, spent, changes, ..Observation::of(outcome.answer) };
        Ok(Next::tell(Input::Observed(observation)))
    }
}

/// A skill that was let in stays for the run: its files must not ask again one by one.
fn counted(answer: &Answer, request: &Request) -> Answer {
    match (answer, request.permission) {
        (Answer::Once, Permission::Skill) => Answer::Run,
        (answer, _) => answer.clone(),
    }
}

fn interrupted() -> Refusal {
    Refusal::new(
        "Interrupted",
        "interrupted, outcome unknown: the program ended while this was under way",
        "find out what happened before you do it again",
    )
}
