//! What the driver holds of the action under way.
//!
//! Invariant: what is shown to a person, what the permission engine decided on and what is done are one value. It is
//! made in this process from the planned action; nothing of it is ever read from a record.

use std::time::Duration;

use agent::action::Action;
use agent::question::Question;
use agent::request::{Refusal, Request};
use permission::{ApprovalRequest, Approved, Pending};

use super::verbatim::{restore, restore_question};

/// What the driver holds of the action under way, as long as the process lasts.
#[derive(Debug, Default)]
pub struct InHand {
    /// What the model decided last, with its secrets: for whoever does it, and in no note.
    decided: Option<Action>,
    /// How long a model that failed wants to be left alone.
    pub(super) pause: Option<Duration>,
    pub(super) held: Held,
}

/// A request on its way through the permission engine.
#[derive(Debug, Default)]
pub(super) enum Held {
    #[default]
    Nothing,
    /// It waits for a person, who is asked this.
    Asking(Box<Asking>),
    /// It may be done.
    Approved(Box<Approved<Request>>),
}

/// What is asked about, and the question: made together, answered together.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) pending: Pending<Request>,
    pub(super) question: ApprovalRequest,
}

impl InHand {
    /// Remembers what the model decided, word for word.
    pub(super) fn decided(&mut self, action: &Action) {
        *self = Self { decided: Some(action.clone()), ..Self::default() };
    }

    /// What to do for an action of the run, whose own words are without secrets.
    pub(super) fn whole(&self, action: &Action) -> Result<Action, Refusal> {
        restore(action, self.decided.as_ref())
    }

    /// A question as it was meant, for the person who answers it.
    pub(super) fn question(&self, noted: &Question) -> Question {
        restore_question(noted, self.decided.as_ref())
    }

    pub(super) fn take(&mut self) -> Held {
        std::mem::take(&mut self.held)
    }
}
