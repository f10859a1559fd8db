//! What can be seen of a reply while it arrives, without its secrets.

use model::early::{Early, Shown};

use super::Listener;
use crate::journal::{Redactor, Streamed};

/// One reply on its way to whoever watches.
pub(super) struct Live<'a> {
    listener: &'a mut dyn Listener,
    redactor: &'a Redactor,
    early: Early,
    /// What of the answer may be shown: a secret may arrive in pieces.
    answer: Streamed<'a>,
}

impl<'a> Live<'a> {
    pub(super) fn new(listener: &'a mut dyn Listener, redactor: &'a Redactor) -> Self {
        Self { listener, redactor, early: Early::new(), answer: redactor.streamed() }
    }

    pub(super) fn push(&mut self, text: &str) {
        let Self { listener, redactor, early, answer } = self;
        early.push(text.as_bytes(), &mut |shown| match shown {
            Shown::Action(kind) => listener.delta(Shown::Action(kind)),
            Shown::Skill(name) => listener.delta(Shown::Skill(&redactor.text(name))),
            Shown::Target(name) => listener.delta(Shown::Target(&redactor.text(name))),
            Shown::Answer(text) => show_answer(*listener, &answer.push(text)),
        });
    }

    /// What is left of the answer, now that the reply is there.
    pub(super) fn finish(mut self) {
        show_answer(self.listener, &self.answer.finish());
    }
}

fn show_answer(listener: &mut dyn Listener, text: &str) {
    if !text.is_empty() {
        listener.delta(Shown::Answer(text));
    }
}
