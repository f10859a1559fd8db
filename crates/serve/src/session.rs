//! One conversation of a client: a run whose model is the client.
//!
//! The run has a thread of its own, begun by the first call. What the client calls is what the model
//! decides; what comes of it is what the call returns. So guards, permissions, approvals and the record are
//! those of every run.
//!
//! Invariant: when a session is dropped, or a call is given up, its run ends and with it whatever it runs.

mod desk;
mod run;

pub(crate) use desk::read_verbatim;

use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender, channel};
use std::thread;

use agent::action::{Action, SkillRef};
use agent::driver::Cancel;
use agent::step::Observation;
use tokio::sync::{Mutex, oneshot};
use tools::permission::{Answer, ApprovalRequest};

use crate::shelf::Shelf;

/// Whoever can be asked during a call.
pub(crate) trait Person: Send {
    /// The answer; nothing when nobody is there.
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer>;
}

/// What a client wants done.
pub(crate) struct Wanted {
    pub(crate) action: Action,
    /// The skill, where a person chose it and not the model.
    pub(crate) invoked: Option<SkillRef>,
    /// Whether a resource is handed over byte by byte, as it is on disk.
    pub(crate) verbatim: bool,
    pub(crate) person: Box<dyn Person>,
}

/// What came of it.
pub(crate) enum Outcome {
    /// What the model is told, and the bytes of a resource.
    Done(Box<Observation>, Option<Vec<u8>>),
    /// Nothing: a person must answer first.
    Asks(Box<ApprovalRequest>),
}

struct Call {
    wanted: Wanted,
    content: Option<Vec<u8>>,
    reply: oneshot::Sender<Outcome>,
}

/// A conversation.
pub(crate) struct Session {
    shelf: Arc<Shelf>,
    live: Mutex<Option<Live>>,
}

/// The run of a session; it ends when this is dropped.
struct Live {
    calls: Sender<Call>,
    cancel: Cancel,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.cancel.request();
    }
}

/// The run stopped in the middle of a call.
#[derive(Debug, thiserror::Error)]
#[error("the session was ended")]
pub(crate) struct Ended;

impl Session {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { shelf, live: Mutex::new(None) }
    }

    /// Does one thing after the other; `client` is who wants it. A call that is given up ends the run.
    pub(crate) async fn call(&self, wanted: Wanted, client: &str) -> Result<Outcome, Ended> {
        let mut live = self.live.lock().await;
        let (reply, outcome) = oneshot::channel();
        let call = Call { wanted, content: None, reply };
        let unsent = match live.as_ref() {
            Some(live) => live.calls.send(call).err().map(|SendError(call)| call),
            None => Some(call),
        };
        // A run that used up its context has ended; the conversation goes on in another one.
        if let Some(call) = unsent {
            let begun = self.begin(client);
            let _ = begun.calls.send(call);
            *live = Some(begun);
        }
        let mut unfinished = Unfinished(Some(&mut live));
        let outcome = outcome.await.map_err(|_| Ended);
        unfinished.0 = None;
        outcome
    }

    fn begin(&self, client: &str) -> Live {
        let (calls, received) = channel();
        let cancel = Cancel::default();
        let (shelf, heard, client) = (self.shelf.opened(), cancel.clone(), client.to_owned());
        thread::spawn(move || run::converse(&shelf, &client, &received, &heard));
        Live { calls, cancel }
    }
}

/// Ends the run of a call that nobody waits for any more.
struct Unfinished<'a>(Option<&'a mut Option<Live>>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(live) = self.0.take() {
            *live = None;
        }
    }
}
