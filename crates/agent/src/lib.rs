//! One run of an agent as a state machine: what it is told goes in, what is to be done comes out.
//!
//! Invariant: nothing here opens a file or a socket; neither does anything that it depends on.

pub mod action;
pub mod budget;
pub mod changes;
pub mod context;
pub mod conversation;
pub mod event;
pub mod freeform;
pub mod model;
pub mod observation;
pub mod outcome;
pub mod piped;
pub mod plan;
pub mod question;
pub mod reply;
pub mod request;
pub mod run;
pub mod setup;
pub mod step;
pub mod stored;
