//! Carrying a run out: the one loop that turns steps into effects.
//!
//! Everything it touches is given to it. What announces an effect is on disk before the effect, and what
//! came of it is on disk before the next decision.

mod cancel;
mod clock;
mod hand;
mod meant;

use std::time::{Duration, Instant};

use tools::permission::{
    Answer, ApprovalId, ApprovalRequest, Approved, Denial, Engine, Grant, Granted, Invocation,
    Scope, Verdict,
};

use crate::action::Action;
use crate::context::Prompt;
use crate::event::{Event, EventData};
use crate::journal::{Journal, JournalError, Redactor};
use crate::outcome::{Outcome, StopReason};
use crate::run::{Run, Setup, Unexpected};
use crate::step::{Facts, Input, Noted, Observation, Prepared, Refusal, Reply, Request, Step};
pub use cancel::Cancel;
pub use clock::SystemClock;
pub use hand::InHand;
use hand::{Asking, Held};

/// Something that decides.
pub trait Model {
    /// Decides what to do next. Text goes to `delta` as it arrives; a cancelled call may end early.
    fn decide(
        &mut self,
        prompt: &Prompt<'_>,
        cancel: &Cancel,
        delta: &mut dyn FnMut(&str),
    ) -> Reply;
}

/// What a run acts with.
pub trait Toolbox {
    /// Finds out what an action would touch, touching nothing.
    fn prepare(&mut self, action: &Action) -> Result<Request, Refusal>;
    /// Does it.
    fn perform(
        &mut self,
        request: Approved<Request>,
        cancel: &Cancel,
        journal: &mut Journal,
    ) -> Observation;
}

/// Someone who answers questions.
pub trait Approver {
    /// The answer; nothing when nobody is there.
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer>;
    /// Keeps approvals beyond this run.
    fn remember(&mut self, grants: &[Grant]);
}

/// Someone who watches.
pub trait Listener {
    /// Something was noted.
    fn event(&mut self, event: &Event);
    /// The model wrote something.
    fn delta(&mut self, text: &str);
}

/// What time it is.
pub trait Clock {
    /// Now.
    fn now(&self) -> jiff::Timestamp;
    /// Since the run began, earlier processes included.
    fn elapsed(&self) -> Duration;
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

/// What came of performing something.
enum Performed {
    Observed(Observation),
    /// A child run needs an answer first, and nobody is there.
    Suspended(Box<ApprovalRequest>),
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
        // How long a model that failed wants to be left alone.
        let mut pause = Duration::ZERO;
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
            let input = match step {
                Step::Prepare(action) => {
                    Input::Prepared(self.judge(action, &run.purpose(), journal, hand))
                }
                Step::CallModel(_) if run.turn() != this => return Ok(None),
                Step::CallModel(_) if !pause.is_zero() => {
                    self.clock.pause(std::mem::take(&mut pause), self.cancel);
                    continue;
                }
                Step::CallModel(prompt) => self.call(&prompt, &mut pause, hand),
                Step::Ask(noted) => match hand.take() {
                    Held::Asking(asking) => match self.answer(asking, hand) {
                        Ok(answer) => Input::Answered(answer),
                        Err(question) => return Ok(Some(Ending::Suspended(question))),
                    },
                    _ => match self.ask_again(noted, &run.purpose(), journal, hand) {
                        Some(prepared) => Input::Prepared(prepared),
                        None => continue,
                    },
                },
                Step::Perform(noted) => match hand.take() {
                    Held::Approved(approved) => match self.perform(*approved, run, journal)? {
                        Performed::Observed(observation) => Input::Observed(observation),
                        Performed::Suspended(question) => {
                            return Ok(Some(Ending::Suspended(question)));
                        }
                    },
                    _ => match self.perform_again(noted, &run.purpose(), journal, hand) {
                        Some(input) => input,
                        None => continue,
                    },
                },
                Step::Done(outcome) => return Ok(Some(Ending::Finished(outcome.clone()))),
            };
            run.advance(self.redactor.apply(input), self.elapsed())?;
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

    /// Asks the model. What may pass later says how long to wait.
    fn call(&mut self, prompt: &Prompt<'_>, pause: &mut Duration, hand: &mut InHand) -> Input {
        let listener = &mut *self.listener;
        let reply = self.model.decide(prompt, self.cancel, &mut |text| listener.delta(text));
        match &reply {
            // Whoever stopped the run stopped the model with it.
            Reply::Failed { .. } if self.cancel.requested() => return Input::Cancelled,
            Reply::Failed { retry_after_ms: Some(wait), .. } => {
                *pause = Duration::from_millis(*wait);
            }
            Reply::Decided { decision, .. } => hand.decided(&decision.action),
            Reply::Failed { .. } | Reply::Invalid { .. } => {}
        }
        Input::Replied(reply)
    }

    /// What the action would touch, and whether it may; the proof or the question goes to the hand.
    fn judge(
        &mut self,
        action: &Action,
        purpose: &str,
        journal: &Journal,
        hand: &mut InHand,
    ) -> Prepared {
        hand.held = Held::Nothing;
        let request = hand.whole(action).and_then(|action| self.toolbox.prepare(&action));
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
                let question = pending.question(id, purpose, self.invocation);
                let decision = pending.decision().clone();
                hand.held = Held::Asking(Box::new(Asking { pending, question: question.clone() }));
                Prepared::Ask { request, decision, question }
            }
            Verdict::Denied(denial) => {
                let (decision, refusal) = (denial.decision().clone(), refusal(&denial));
                Prepared::Denied { request, decision, refusal }
            }
        }
    }

    /// After an interruption: what a person is asked comes from the planned action and the rules of today. Nothing
    /// where that is what was noted.
    fn ask_again(
        &mut self,
        noted: Noted<'_>,
        purpose: &str,
        journal: &Journal,
        hand: &mut InHand,
    ) -> Option<Prepared> {
        let prepared = self.judge(noted.action, purpose, journal, hand);
        let is_same = matches!(hand.held, Held::Asking(_)) && self.is_as(&prepared, noted);
        (!is_same).then_some(prepared)
    }

    /// After an interruption: what changes nothing is done again, if the rules of today allow it; of anything else
    /// nobody knows whether it happened. Nothing where it can simply be done.
    fn perform_again(
        &mut self,
        noted: Noted<'_>,
        purpose: &str,
        journal: &mut Journal,
        hand: &mut InHand,
    ) -> Option<Input> {
        let prepared = self.judge(noted.action, purpose, journal, hand);
        // The note counts only where the action cannot even be prepared any more, so that nothing is done.
        let request = prepared.request().unwrap_or(noted.request);
        if !request.read_only {
            hand.held = Held::Nothing;
            let observation = Observation::failed(&interrupted());
            return Some(Input::Observed(vouching(observation, journal)));
        }
        let is_same = matches!(hand.held, Held::Approved(_)) && self.is_as(&prepared, noted);
        (!is_same).then_some(Input::Prepared(prepared))
    }

    /// Whether what was prepared is what was noted, which is without secrets.
    fn is_as(&self, prepared: &Prepared, noted: Noted<'_>) -> bool {
        match self.redactor.apply(Input::Prepared(prepared.clone())) {
            Input::Prepared(prepared) => prepared.request() == Some(noted.request),
            _ => false,
        }
    }

    /// Puts the question to a person; the proof goes to the hand. Where nobody is there, it stays there as it is.
    fn answer(
        &mut self,
        asking: Box<Asking>,
        hand: &mut InHand,
    ) -> Result<Answer, Box<ApprovalRequest>> {
        let Some(answer) = self.approver.ask(&asking.question) else {
            let question = Box::new(asking.question.clone());
            hand.held = Held::Asking(asking);
            return Err(question);
        };
        let pending = asking.pending;
        let counted = counted(&answer, pending.request());
        if let Ok(Granted { approved, scope, grants }) = pending.answer(counted) {
            if scope == Scope::Always {
                self.approver.remember(&grants);
            }
            self.engine.remember(grants);
            hand.held = Held::Approved(Box::new(approved));
        }
        Ok(answer)
    }

    fn perform(
        &mut self,
        approved: Approved<Request>,
        run: &Run,
        journal: &mut Journal,
    ) -> Result<Performed, DriveError> {
        let cancel = self.cancel.within(run.time_left(self.elapsed()));
        let observation = self.toolbox.perform(approved, &cancel, journal);
        // Before it can become the beginning of a child run.
        let observation = self.redactor.observation(vouching(observation, journal));
        match run.child(&observation) {
            Ok(Some(setup)) => self.delegate(setup, journal),
            Ok(None) => Ok(Performed::Observed(observation)),
            Err(refusal) => Ok(Performed::Observed(Observation::failed(&refusal))),
        }
    }

    /// Carries a child run out; its answer is what the parent observes. Where it waits, so does the parent: taken
    /// up again, it comes here once more.
    fn delegate(&mut self, setup: Setup, journal: &mut Journal) -> Result<Performed, DriveError> {
        let terms = setup.terms();
        let (mut child, mut own) = journal.child(setup)?;
        child.resume(terms, self.elapsed())?;
        let ending = self.drive(&mut child, &mut own, &mut InHand::default())?;
        own.finish(&child)?;
        let observation = match ending {
            Ending::Finished(outcome) if outcome.stop_reason == StopReason::FinalAnswer => {
                Observation::of(outcome.answer)
            }
            Ending::Finished(outcome) => {
                let code = if outcome.stop_reason == StopReason::Cancelled {
                    "Cancelled"
                } else {
                    "SubagentStopped"
                };
                Observation { code: Some(code.to_owned()), ..Observation::of(outcome.answer) }
            }
            Ending::Suspended(question) => return Ok(Performed::Suspended(question)),
        };
        Ok(Performed::Observed(Observation {
            facts: Facts {
                child_run: Some(child.id().to_owned()),
                child_record: Some(own.last_hash().to_owned()),
                ..Facts::default()
            },
            spent: Some(child.spent()),
            ..observation
        }))
    }
}

/// A skill that was let in stays for the run: its files must not ask again one by one.
fn counted(answer: &Answer, request: &Request) -> Answer {
    match (answer, request.permission.as_str()) {
        (Answer::Once, "skill") => Answer::Run,
        (answer, _) => answer.clone(),
    }
}

fn refusal(denial: &Denial) -> Refusal {
    Refusal::new(denial.code(), denial.to_string(), denial.hint())
}

/// The observation with the changes of files that the record has to vouch for.
fn vouching(mut observation: Observation, journal: &mut Journal) -> Observation {
    observation.facts.changes = journal.take_changes();
    observation
}

fn interrupted() -> Refusal {
    Refusal::new(
        "Interrupted",
        "interrupted, outcome unknown: the program ended while this was under way",
        "find out what happened before you do it again",
    )
}
