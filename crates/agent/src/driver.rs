//! Carrying a run out: the one loop that turns steps into effects.
//!
//! Everything it touches is given to it. What announces an effect is on disk before the effect, and what
//! came of it is on disk before the next decision.

mod cancel;
mod clock;
mod meant;

use std::time::{Duration, Instant};

use serde_json::json;
use tools::permission::{
    Answer, ApprovalId, ApprovalRequest, Approved, Denial, Engine, Grant, Granted, Invocation,
    Pending, Scope, Verdict,
};

use crate::action::Action;
use crate::context::Prompt;
use crate::event::{Event, EventKind};
use crate::journal::{Journal, JournalError, Redactor};
use crate::outcome::{Outcome, StopReason};
use crate::run::{Run, Setup, Unexpected};
use crate::step::{Input, Observation, Prepared, Refusal, Reply, Request, Step};
pub use cancel::Cancel;
pub use clock::SystemClock;
use meant::{meant, whole};

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

/// A request on its way through the permission engine.
enum Held {
    Nothing,
    Pending(Pending<Request>),
    Approved(Approved<Request>),
    /// It may be done, but nobody knows any more what exactly it was.
    Lost(Refusal),
}

/// What came of performing something.
enum Performed {
    Observed(Observation),
    /// A child run needs an answer first, and nobody is there.
    Suspended(Box<ApprovalRequest>),
}

impl Driver<'_> {
    /// Carries the run on until it ends or waits for somebody.
    pub fn drive(&mut self, run: &mut Run, journal: &mut Journal) -> Result<Ending, DriveError> {
        loop {
            if let Some(ending) = self.turn(run, journal)? {
                return Ok(ending);
            }
        }
    }

    /// Carries the run on to its next turn; nothing when it has come there.
    pub fn turn(
        &mut self,
        run: &mut Run,
        journal: &mut Journal,
    ) -> Result<Option<Ending>, DriveError> {
        let this = run.turn();
        let mut held = Held::Nothing;
        // How long a model that failed wants to be left alone.
        let mut pause = Duration::ZERO;
        loop {
            self.record(run, journal)?;
            if self.cancel.requested() && run.outcome().is_none() {
                run.advance(Input::Cancelled, self.elapsed())?;
                continue;
            }
            let input = match run.step() {
                Step::Prepare(action) => {
                    let (prepared, next) = self.judge(action, run.meant(), &run.purpose(), journal);
                    held = next;
                    Input::Prepared(prepared)
                }
                // The others have effects, or wait for someone: what led here must be on disk.
                step => {
                    journal.commit()?;
                    match step {
                        Step::CallModel(_) if run.turn() != this => return Ok(None),
                        Step::CallModel(_) if !pause.is_zero() => {
                            self.clock.pause(std::mem::take(&mut pause), self.cancel);
                            continue;
                        }
                        Step::CallModel(prompt) => match self.call(&prompt) {
                            // Whoever stopped the run stopped the model with it.
                            Reply::Failed { .. } if self.cancel.requested() => Input::Cancelled,
                            reply => {
                                if let Reply::Failed { retry_after_ms: Some(wait), .. } = &reply {
                                    pause = Duration::from_millis(*wait);
                                }
                                Input::Replied(reply)
                            }
                        },
                        Step::Ask { request, question } => {
                            match self.answer(request, question, run, &mut held) {
                                Some(answer) => Input::Answered(answer),
                                None => {
                                    let question = Box::new(question.clone());
                                    return Ok(Some(Ending::Suspended(question)));
                                }
                            }
                        }
                        Step::Perform(request) => {
                            let held = std::mem::replace(&mut held, Held::Nothing);
                            match self.perform(request, held, run, journal)? {
                                Performed::Observed(observation) => Input::Observed(observation),
                                Performed::Suspended(question) => {
                                    return Ok(Some(Ending::Suspended(question)));
                                }
                            }
                        }
                        Step::Done(outcome) => return Ok(Some(Ending::Finished(outcome.clone()))),
                        Step::Prepare(_) => unreachable!("handled above"),
                    }
                }
            };
            if let Input::Replied(Reply::Decided { decision, .. }) = &input {
                run.remember(decision.action.clone());
            }
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
                matches!(happening.kind, EventKind::TurnFinished | EventKind::RunFinished);
            let event = journal.append(happening, self.clock.now())?;
            self.listener.event(&event);
        }
        if turn_ended {
            journal.write_state(&run.state())?;
        }
        Ok(())
    }

    fn call(&mut self, prompt: &Prompt<'_>) -> Reply {
        let listener = &mut *self.listener;
        self.model.decide(prompt, self.cancel, &mut |text| listener.delta(text))
    }

    /// What the action would touch, and whether it may; with the proof or the question.
    fn judge(
        &mut self,
        action: &Action,
        decided: Option<&Action>,
        purpose: &str,
        journal: &Journal,
    ) -> (Prepared, Held) {
        let request = meant(action, decided).and_then(|action| self.toolbox.prepare(&action));
        let request = match request {
            Ok(request) => request,
            Err(refusal) => return (Prepared::Refused { refusal }, Held::Nothing),
        };
        let hash = request.skill_hash.clone();
        match self.engine.decide(request.clone(), hash.as_ref()) {
            Verdict::Allowed(approved) => {
                let decision = approved.decision().clone();
                (Prepared::Allowed { request, decision }, Held::Approved(approved))
            }
            Verdict::Ask(pending) => {
                let id = ApprovalId::numbered(journal.next_sequence());
                let question = pending.question(id, purpose, self.invocation);
                let decision = pending.decision().clone();
                (Prepared::Ask { request, decision, question }, Held::Pending(pending))
            }
            Verdict::Denied(denial) => {
                let refusal = refusal(&denial);
                (
                    Prepared::Denied { request, decision: denial.decision().clone(), refusal },
                    Held::Nothing,
                )
            }
        }
    }

    fn answer(
        &mut self,
        request: &Request,
        question: &ApprovalRequest,
        run: &Run,
        held: &mut Held,
    ) -> Option<Answer> {
        let mut lost = None;
        let pending = match std::mem::replace(held, Held::Nothing) {
            Held::Pending(pending) => pending,
            // After an interruption the question is decided anew: it may have been answered meanwhile.
            _ => {
                let whole = whole(request, run.meant());
                let whole = whole.map_err(|refusal| lost = Some(refusal));
                let whole = whole.unwrap_or_else(|()| request.clone());
                match self.engine.decide(whole, request.skill_hash.as_ref()) {
                    Verdict::Allowed(approved) => {
                        *held = lost.map_or(Held::Approved(approved), Held::Lost);
                        return Some(Answer::Once);
                    }
                    Verdict::Ask(pending) => pending,
                    Verdict::Denied(denial) => {
                        return Some(Answer::Reject { message: Some(denial.to_string()) });
                    }
                }
            }
        };
        let answer = self.approver.ask(question)?;
        if let Ok(Granted { approved, scope, grants }) = pending.answer(counted(&answer, request)) {
            if scope == Scope::Always {
                self.approver.remember(&grants);
            }
            self.engine.remember(grants);
            *held = lost.map_or(Held::Approved(approved), Held::Lost);
        }
        Some(answer)
    }

    fn perform(
        &mut self,
        request: &Request,
        held: Held,
        run: &Run,
        journal: &mut Journal,
    ) -> Result<Performed, DriveError> {
        let approved = match held {
            Held::Approved(approved) => Ok(approved),
            Held::Lost(refusal) => Err(refusal),
            // After an interruption: only what changes nothing is done again.
            _ if request.read_only => self.again(request, run),
            _ => Err(interrupted()),
        };
        let approved = match approved {
            Ok(approved) => approved,
            Err(refusal) => {
                let observation = Observation::failed(&refusal);
                return Ok(Performed::Observed(vouching(observation, journal)));
            }
        };
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

    /// Leave to do something once more.
    fn again(&self, request: &Request, run: &Run) -> Result<Approved<Request>, Refusal> {
        match self.engine.decide(whole(request, run.meant())?, request.skill_hash.as_ref()) {
            Verdict::Allowed(approved) => Ok(approved),
            _ => Err(interrupted()),
        }
    }

    /// Carries a child run out; its answer is what the parent observes. Where it waits, so does the parent: taken
    /// up again, it comes here once more.
    fn delegate(&mut self, setup: Setup, journal: &mut Journal) -> Result<Performed, DriveError> {
        let (mut child, mut own) = journal.child(setup)?;
        let ending = self.drive(&mut child, &mut own)?;
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
            facts: json!({"child_run": child.id(), "child_record": own.last_hash()}),
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
    let changes = journal.take_changes();
    if !changes.is_empty() {
        if !observation.facts.is_object() {
            observation.facts = json!({});
        }
        observation.facts["changes"] = changes.into();
    }
    observation
}

fn interrupted() -> Refusal {
    Refusal::new(
        "Interrupted",
        "interrupted, outcome unknown: the program ended while this was under way",
        "find out what happened before you do it again",
    )
}
