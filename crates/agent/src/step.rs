//! What a run wants done next, and what it is told in return.

use permission::Answer;
use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::context::Prompt;
use crate::observation::Observation;
use crate::outcome::Outcome;
use crate::question::{Question, QuestionAnswer};
use crate::reply::Reply;
use crate::request::{Prepared, Request};
use crate::setup::Terms;

/// What the driver must do next; each is answered with one [`Input`].
#[derive(Debug)]
pub enum Step<'run> {
    /// Send the conversation to the model; answer with [`Input::Replied`].
    CallModel(Prompt<'run>),
    /// Find out what the action would touch, touching nothing; answer with [`Input::Prepared`].
    Prepare(&'run Action),
    /// Put the action to a person; answer with [`Input::Answered`]. Whoever asks needs the question that the
    /// permission engine gave when the action was prepared; without it, prepare the action again and answer with
    /// [`Input::Prepared`] where that gives something else.
    Ask(Noted<'run>),
    /// Do what was prepared; answer with [`Input::Observed`]. Whoever does it needs the proof that the
    /// permission engine gave when it was prepared or answered; without it, prepare the action again.
    Perform(Noted<'run>),
    /// Put a question to a person; answer with [`Input::QuestionAnswered`].
    Question(&'run Question),
    /// Stop.
    Done(&'run Outcome),
}

/// An action under way, and what was noted when it was prepared.
///
/// The note is for comparison only: a record can come from anywhere, so nothing is decided, shown or done from it.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'run> {
    /// What is to be done.
    pub action: &'run Action,
    /// What it would touch, as it was noted.
    pub request: &'run Request,
}

/// What a run is told. Inputs are all that a run depends on, so their record is enough to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// What came back from the model.
    Replied(Reply),
    /// What the action would touch, and whether it may.
    Prepared(Prepared),
    /// What a person said.
    Answered(Answer),
    /// What came of it.
    Observed(Observation),
    /// What a person said to a question.
    QuestionAnswered(QuestionAnswer),
    /// Somebody wants the run to stop.
    Cancelled,
    /// The run goes on after an interruption, under other terms than before.
    Resumed(Terms),
}
