//! One conversation of a client: a run whose model is the client.
//!
//! It begins with the first call. What the client calls is what the model decides; what comes of it is what
//! the call returns. So guards, permissions, approvals and the record are those of every run. Between calls
//! it is only a value: no thread waits.
//!
//! Invariant: what a call began ends when the call is given up, and the record is finished when the session
//! is dropped.

mod conversation;
mod desk;

use std::sync::Arc;
use std::thread;

use agent::action::{Action, SkillRef};
use agent::model::Cancel;
use agent::observation::Observation;
use permission::{Answer, ApprovalRequest, Permission, SkillHash};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::spawn_blocking;

use crate::shelf::Shelf;
use conversation::Conversation;
pub(crate) use desk::read_verbatim;

/// Whoever can be asked during a call.
pub(crate) trait Person: Send {
    /// The answer; nothing when nobody is there.
    fn ask(self, question: &Question) -> impl Future<Output = Option<Said>> + Send;
}

/// What a person is asked.
pub(crate) struct Question {
    pub(crate) request: ApprovalRequest,
    /// The content of the skill that would act.
    pub(crate) content: Option<SkillHash>,
}

/// What the person behind a client can say: nothing of it outlives the session.
#[derive(Clone)]
pub(crate) enum Said {
    Once,
    Session,
    /// No, and what the model should know about it.
    No(Option<String>),
    /// Nobody can say; what was changed is kept.
    Later,
}

impl From<Said> for Answer {
    fn from(said: Said) -> Self {
        match said {
            Said::Once => Self::Once,
            Said::Session => Self::Run,
            Said::No(message) => Self::Reject { message },
            Said::Later => Self::Later,
        }
    }
}

/// What a client wants done.
pub(crate) struct Wanted {
    pub(crate) action: Action,
    /// The skill, where a person chose it and not the model.
    pub(crate) invoked: Option<SkillRef>,
    /// Whether a resource is handed over byte by byte, as it is on disk.
    pub(crate) verbatim: bool,
}

/// What came of it.
pub(crate) enum Outcome {
    /// What the model is told, and the bytes of a resource.
    Done(Box<Observation>, Option<Vec<u8>>),
    /// Nothing: a person must answer first.
    Asks(Box<Question>),
}

/// A conversation that may not have begun.
type Seat = OwnedMutexGuard<Option<Conversation>>;

/// A client's conversation.
pub(crate) struct Session {
    shelf: Arc<Shelf>,
    place: Arc<Mutex<Option<Conversation>>>,
}

/// The program ended in the middle of a call.
#[derive(Debug, thiserror::Error)]
#[error("the session was ended")]
pub(crate) struct Ended;

impl Session {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { shelf, place: Arc::default() }
    }

    /// Does one thing after the other; `client` is who wants it.
    pub(crate) async fn call(
        &self,
        wanted: Wanted,
        client: &str,
        person: impl Person + Clone,
    ) -> Result<Outcome, Ended> {
        let given_up = GivenUp::default();
        let call = Arc::new(Call { wanted, cancel: given_up.0.clone() });
        let (shelf, client) = (Arc::clone(&self.shelf), client.to_owned());
        let place = Arc::clone(&self.place).lock_owned().await;
        let begun = Arc::clone(&call);
        let (mut place, mut outcome) =
            on_a_thread(place, move |place| conversation::call(place, &shelf, &client, &begun))
                .await?;
        // First whether it may run, then what becomes of the files that it changed.
        while let Outcome::Asks(question) = outcome {
            let is_apply = question.request.tool == Permission::ApplyChanges;
            let said = match person.clone().ask(&question).await {
                None if is_apply => Some(Said::Later),
                said => said,
            };
            let (nobody, call) = (said.is_none(), Arc::clone(&call));
            (place, outcome) =
                on_a_thread(place, move |place| conversation::answer(place, &call, said)).await?;
            if nobody {
                return Ok(Outcome::Asks(question));
            }
        }
        Ok(outcome)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Whoever works on the conversation drops it.
        let Ok(mut place) = self.place.try_lock() else { return };
        if let Some(conversation) = place.take() {
            // The record is finished there; a thread that cannot be had finishes it here.
            let _ = thread::Builder::new().spawn(move || drop(conversation));
        }
    }
}

/// A call while it is carried out.
struct Call {
    wanted: Wanted,
    cancel: Cancel,
}

/// Ends what a call runs when nobody waits for it any more.
#[derive(Default)]
struct GivenUp(Cancel);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// The conversation goes along, so that nobody else gets hold of it even when the caller gives up.
async fn on_a_thread<T: Send + 'static>(
    mut place: Seat,
    work: impl FnOnce(&mut Option<Conversation>) -> T + Send + 'static,
) -> Result<(Seat, T), Ended> {
    let working = spawn_blocking(move || {
        let done = work(&mut place);
        (place, done)
    });
    working.await.map_err(|_| Ended)
}
