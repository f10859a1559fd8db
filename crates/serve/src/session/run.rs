//! The thread of a session: its run from the first call to the end.

use std::cell::RefCell;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use agent::action::{Action, Decision};
use agent::budget::{Budget, Usage};
use agent::context::Prompt;
use agent::driver::{Cancel, DriveError, Driver, Ending, Model, SystemClock};
use agent::journal::{self, Durability, Journal, JournalError, RunId};
use agent::run::{Patience, Run, Setup, Unexpected};
use agent::step::{Input, Observation, Raw, Refusal, Reply};
use serde_json::json;
use tools::permission::Answer;

use super::desk::{Current, Desk, Desktop, Nobody};
use super::{Call, Outcome};
use crate::shelf::Open;

/// Characters of a conversation before another run takes over.
const CONTEXT: usize = 4_000_000;

#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("the session cannot be recorded: {0}")]
    Journal(#[from] JournalError),
    #[error("the session cannot be recorded: {0}")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Drive(#[from] DriveError),
    #[error(transparent)]
    Unexpected(#[from] Unexpected),
}

/// Carries calls out until the client is gone; one that cannot be carried out is told why.
pub(super) fn converse(open: &Open, client: &str, calls: &Receiver<Call>, cancel: &Cancel) {
    let current: Current = RefCell::new(None);
    let ended = carry_on(open, client, calls, cancel, &current);
    let Err(error) = ended else { return };
    let refusal = Refusal::new(
        "IOError",
        error.to_string(),
        "check that `.agent/runs` can be written and the disk has room",
    );
    let unanswered = current.take().or_else(|| calls.try_recv().ok());
    reply(unanswered, Some(&Observation::failed(&refusal)));
}

fn carry_on(
    open: &Open,
    client: &str,
    calls: &Receiver<Call>,
    cancel: &Cancel,
    current: &Current,
) -> Result<(), SessionError> {
    let shelf = open.shelf();
    let settings = &shelf.settings;
    let (mut run, mut journal) = begin(open, client)?;
    let clock = SystemClock::starting(Duration::ZERO);
    let mut engine = settings.engine.clone();
    let mut driver = Driver {
        model: &mut Client { calls, current },
        toolbox: &mut Desk { shelf, current, skills: shelf.current() },
        engine: &mut engine,
        approver: &mut Desktop { shelf, current },
        listener: &mut Nobody,
        redactor: &settings.redactor,
        clock: &clock,
        cancel,
        invocation: &settings.invocation,
    };
    while let Ending::Suspended(question) = driver.drive(&mut run, &mut journal)? {
        // The call is over, the conversation is not.
        if let Some(call) = current.take() {
            let _ = call.reply.send(Outcome::Asks(question));
        }
        let elapsed = agent::driver::Clock::elapsed(&clock).as_millis();
        let message = Some("nobody was there to ask".to_owned());
        run.advance(
            Input::Answered(Answer::Reject { message }),
            u64::try_from(elapsed).unwrap_or(u64::MAX),
        )?;
    }
    journal.finish(&run)?;
    reply(current.take(), run.last());
    Ok(())
}

/// A run without limits but that of its memory: a client has its own.
fn begin(open: &Open, client: &str) -> Result<(Run, Journal), SessionError> {
    let shelf = open.shelf();
    let snapshot = shelf.current();
    let (catalog, _) = shelf.tools(&snapshot);
    let random = RandomState::new().hash_one(client) as u32;
    let run_id = RunId::new(jiff::Timestamp::now(), random);
    let mut journal = Journal::create(&shelf.settings.runs, run_id, Durability::Sync)?;
    journal.write_index(snapshot.hash(), || {
        serde_json::to_vec(&snapshot.index.skills).unwrap_or_default()
    })?;
    fs::write(journal.folder().join(journal::CATALOG), &catalog.text)?;
    let request = format!("MCP session of {client}");
    let setup = Setup {
        run_id: journal.run_id().to_string(),
        request: shelf.settings.redactor.text(&request).into_owned(),
        catalog: catalog.text.clone(),
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
        patience: Patience { corrections: 0, same_failures: u32::MAX, skills_per_turn: 1 },
        invoked: None,
        preloaded: Vec::new(),
        is_child: false,
        is_served: true,
        store_prompts: false,
        facts: json!({"index_hash": snapshot.hash(), "model": "mcp", "client": client,
            "version": env!("CARGO_PKG_VERSION")}),
    };
    Ok((Run::start(setup), journal))
}

/// The client decides: each of its calls is a decision, and the next one comes when it has heard what came
/// of the last.
struct Client<'a> {
    calls: &'a Receiver<Call>,
    current: &'a Current,
}

impl Model for Client<'_> {
    fn decide(&mut self, prompt: &Prompt<'_>, _: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        reply(self.current.take(), prompt.last);
        let action = match self.calls.recv() {
            Ok(call) => {
                let action = call.wanted.action.clone();
                *self.current.borrow_mut() = Some(call);
                action
            }
            Err(_) => Action::FinalAnswer { content: "The client ended the session.".to_owned() },
        };
        let decision = Decision { action, plan_update: None, diagnostics: None };
        Reply::Decided { decision, usage: Usage::default(), raw: Raw::default() }
    }
}

fn reply(call: Option<Call>, observation: Option<&Observation>) {
    if let (Some(call), Some(observation)) = (call, observation) {
        // Whoever does not wait any more does not want to know.
        let _ = call.reply.send(Outcome::Done(Box::new(observation.clone()), call.content));
    }
}
