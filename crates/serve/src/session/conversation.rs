//! The run of a session, from the first call to the end.

use std::sync::Arc;
use std::time::Duration;

use agent::action::{Action, Decision};
use agent::budget::{Budget, Usage};
use agent::changes::{ApplyWhen, NotedChanges};
use agent::context::Prompt;
use agent::model::{Cancel, Model};
use agent::observation::Observation;
use agent::reply::{Raw, Reply};
use agent::request::Refusal;
use agent::run::Run;
use agent::setup::{Patience, Provenance, RunKind, Setup};
use agent::step::Step;
use basics::sha256::Sha256;
use permission::{ApprovalId, Engine, Permission};
use runtime::driver::{DriveError, Driver, Ending, InHand, SystemClock};
use runtime::journal::{Journal, JournalError};
use runtime::runner::{NewRecord, begin};
use runtime::workbench::{Keeping, see_anew, tidy};

use super::desk::{Desk, Nobody, OneAnswer};
use super::{Call, Outcome, Question, Said, Wanted};
use crate::shelf::{Open, Settings, Shelf};

/// Characters of a conversation before another run takes over.
const CONTEXT: usize = 4_000_000;

/// A run that was begun.
pub(super) struct Conversation {
    run: Run,
    journal: Journal,
    hand: InHand,
    /// With what was approved for the session.
    engine: Engine,
    clock: SystemClock,
    open: Open,
    /// The question that waits for an answer: what is said is said to that one.
    asked: Option<ApprovalId>,
    /// What of its changes was applied and what was kept when the call under way began.
    before: (usize, Option<Sha256>),
}

#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("the session cannot be recorded: {0}")]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Drive(#[from] DriveError),
}

/// Carries a call out, in a conversation that begins with it where there is none.
pub(super) fn call(
    place: &mut Option<Conversation>,
    shelf: &Arc<Shelf>,
    client: &str,
    call: &Call,
) -> Outcome {
    let outcome = match place {
        Some(conversation) => conversation.decide(call),
        None => Conversation::begin(shelf, client)
            .and_then(|conversation| place.insert(conversation).decide(call)),
    };
    settle(place, outcome)
}

/// Goes on with what a person said to a question; without an answer it is as if they had said no.
pub(super) fn answer(place: &mut Option<Conversation>, call: &Call, said: Option<Said>) -> Outcome {
    let Some(conversation) = place else { return failed("the session was ended") };
    let outcome = conversation.go_on(call, Some(said.unwrap_or_else(decline)));
    settle(place, outcome)
}

/// What the client is told. A conversation that ended, or cannot be recorded, makes way for another one.
fn settle(place: &mut Option<Conversation>, outcome: Result<Outcome, SessionError>) -> Outcome {
    let ended = place.as_ref().is_some_and(|conversation| conversation.run.outcome().is_some());
    if ended || outcome.is_err() {
        *place = None;
    }
    outcome.unwrap_or_else(|error| failed(&error.to_string()))
}

fn failed(message: &str) -> Outcome {
    let hint = "check that you can write to `.agent/runs` and that the disk has space";
    let refusal = Refusal::new("IOError", message, hint);
    Outcome::Done(Box::new(Observation::failed(&refusal)), None)
}

fn decline() -> Said {
    Said::No(Some("nobody was there to ask".to_owned()))
}

impl Conversation {
    /// A run without limits but that of its memory: a client has its own.
    fn begin(shelf: &Arc<Shelf>, client: &str) -> Result<Self, SessionError> {
        let open = shelf.opened();
        let snapshot = shelf.current();
        let Settings { runtime, owner, redactor, .. } = &shelf.settings;
        let request = format!("MCP session of {client}");
        let new = NewRecord {
            runtime,
            index: &snapshot.index,
            request: &request,
            owner: owner.as_ref(),
            redactor,
        };
        let (setup, journal) = begin(new, || snapshot.record(), |_| &shelf.tools(&snapshot).0)?;
        let setup = Setup {
            tools: shelf.settings.engine.tools(),
            budget: Budget {
                max_turns: u32::MAX,
                max_tool_calls: u32::MAX,
                max_script_runs: u32::MAX,
                max_context_chars: CONTEXT,
                max_wall_seconds: u64::MAX,
                max_output_tokens: None,
                max_cost_usd: None,
            },
            patience: Patience {
                corrections: 0,
                same_failures: u32::MAX,
                skills_per_turn: 1,
                questions: 0,
            },
            kind: RunKind::Served,
            // The client's own tools must see the files.
            apply: ApplyWhen::EachAction,
            facts: Provenance {
                model: Some("mcp".to_owned()),
                client: Some(client.to_owned()),
                ..setup.facts
            },
            ..setup
        };
        Ok(Self {
            run: Run::start(setup),
            journal,
            hand: InHand::default(),
            engine: shelf.settings.engine.clone(),
            clock: SystemClock::starting(Duration::ZERO),
            open,
            asked: None,
            before: (0, None),
        })
    }

    fn decide(&mut self, call: &Call) -> Result<Outcome, SessionError> {
        // Whoever was asked before is not listened to any more. One call may have several questions left.
        while let Step::Ask(noted) = self.run.step() {
            let said = match noted.request.permission {
                Permission::ApplyChanges => Said::Later,
                _ => decline(),
            };
            self.go_on(call, Some(said))?;
        }
        // The client has tools of its own, and works on.
        see_anew(&self.run, &self.journal);
        self.before = (self.run.applied().len(), self.run.pending().map(|kept| kept.sha256));
        self.go_on(call, None)
    }

    /// Until the next decision, or a question without an answer.
    fn go_on(&mut self, call: &Call, said: Option<Said>) -> Result<Outcome, SessionError> {
        let shelf = self.open.shelf();
        let mut desk = Desk::new(shelf, call, self.journal.folder().to_owned());
        let mut driver = Driver {
            model: &mut Client(&call.wanted),
            toolbox: &mut desk,
            engine: &mut self.engine,
            approver: &mut OneAnswer { said, to: self.asked.take() },
            grants: None,
            listener: &mut Nobody,
            redactor: &shelf.settings.redactor,
            clock: &self.clock,
            cancel: &Cancel::default(),
            invocation: &shelf.settings.invocation,
        };
        match driver.turn(&mut self.run, &mut self.journal, &mut self.hand)? {
            Some(Ending::Suspended(request)) => {
                let content = match self.run.step() {
                    Step::Ask(noted) => noted.request.skill_hash.clone(),
                    _ => None,
                };
                self.asked = Some(request.id.clone());
                Ok(Outcome::Asks(Box::new(Question { request: *request, content })))
            }
            Some(Ending::Finished(_) | Ending::Parked(_)) | None => Ok(match self.run.last() {
                Some(observation) => {
                    let content = desk.content.take();
                    Outcome::Done(Box::new(self.with_changes(observation.clone())), content)
                }
                None => failed("the session was ended"),
            }),
        }
    }
}

impl Conversation {
    /// What came of a call, and what became of the files that it changed.
    fn with_changes(&self, mut observation: Observation) -> Observation {
        let (applied, kept) = self.before;
        for applied in self.run.applied().iter().skip(applied) {
            observation.text += &format!("\n[Changed in the workspace: {}]", listed(applied));
        }
        if let Some(left) = self.run.pending().filter(|left| Some(left.sha256) != kept) {
            let why = match self.run.unapplied() {
                Some("ApprovalDenied") => ", because the user did not agree",
                Some("ApprovalRequired") => ", because nobody could be asked",
                Some("Conflict") => ", because somebody else changed the same files",
                _ => "",
            };
            observation.text += &format!(
                "\n[Kept apart from the workspace{why}: {}. The user applies it with: skillful runs apply {}]",
                listed(left),
                self.run.id()
            );
        }
        observation
    }
}

/// The first paths, and how many more there are.
fn listed(changes: &NotedChanges) -> String {
    let more = changes.count().saturating_sub(changes.paths.len() as u64);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    changes.paths.join(", ") + &more
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let content = "The client ended the session.".to_owned();
        let wanted =
            Wanted { action: Action::FinalAnswer { content }, invoked: None, verbatim: false };
        // What cannot be recorded now leaves a record that ends without its end, which says so.
        if self.run.outcome().is_none() {
            let call = Call { wanted, cancel: Cancel::default() };
            let mut outcome = self.decide(&call);
            while let Ok(Outcome::Asks(_)) = outcome {
                outcome = self.go_on(&call, Some(Said::Later));
            }
        }
        let _ = self.journal.finish(&self.run);
        tidy(&self.run, &self.journal, Keeping::No);
    }
}

/// The client decides: its call is the decision.
struct Client<'a>(&'a Wanted);

impl Model for Client<'_> {
    fn decide(&mut self, _: &Prompt<'_>, _: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        let action = self.0.action.clone();
        Reply::Decided {
            decision: Decision { action, plan_update: None, diagnostics: None },
            usage: Usage::default(),
            raw: Raw::default(),
            plan_problem: None,
            again: self.0.invoked.is_some(),
            unable: false,
            unstructured: false,
        }
    }
}
