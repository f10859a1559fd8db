//! What a run changed, on its way to the user: put to them at the end, or after each action.
//!
//! What is below `.git` is put to them on its own: it decides what other commands of theirs do.

use super::Run;
use crate::action::Action;
use crate::changes::{ApplyWhen, NotedChanges};
use crate::event::{ChangesApplied, ChangesMade, EventData, Initiator};
use crate::observation::Observation;
use crate::outcome::Outcome;
use crate::setup::RunKind;

/// The folder whose changes are put to the user on their own.
pub const GIT: &str = ".git";

/// What of the changes was put to the user since there were new ones.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offered {
    files: bool,
    repository: bool,
}

impl Run {
    /// What the run's layer holds that is not in the workspace.
    pub fn pending(&self) -> Option<&NotedChanges> {
        self.pending.as_ref().filter(|changes| !changes.is_empty())
    }

    /// What its layer holds besides that is never applied, each with its reason.
    pub fn held_back(&self) -> &[String] {
        self.pending.as_ref().map_or(&[], |changes| &changes.held_back)
    }

    /// Why that was not applied, as a code, where somebody was asked.
    pub fn unapplied(&self) -> Option<&str> {
        self.unapplied.as_deref().filter(|_| self.pending().is_some())
    }

    /// What was applied to the workspace.
    pub fn applied(&self) -> &[NotedChanges] {
        &self.applied
    }

    /// Notes what an action did to the layer and to the workspace.
    pub(super) fn note_changes(&mut self, action: &Action, observation: &Observation) {
        if let Some(applied) = &observation.applied {
            self.applied.push((**applied).clone());
            self.note(EventData::ChangesApplied(Box::new(ChangesApplied {
                changes: (**applied).clone(),
            })));
        }
        if let Some(changes) = &observation.changes {
            if !matches!(action, Action::ApplyChanges { .. }) {
                self.offered = Offered::default();
            }
            self.note(EventData::ChangesMade(Box::new(ChangesMade {
                changes: (**changes).clone(),
            })));
            self.pending = Some((**changes).clone());
        }
    }

    /// Ends the run, once what it changed was put to the user.
    pub(super) fn close(&mut self, outcome: Outcome) {
        match self.next_part() {
            Some(part) => {
                self.closing = Some(outcome);
                self.plan_action(part, Initiator::Run);
            }
            None => self.end_run(outcome),
        }
    }

    /// Goes on after an action: to the next part of the changes, where they are put to the user at once, or to the next
    /// turn.
    pub(super) fn go_on(&mut self) {
        if let Some(outcome) = self.closing.take() {
            return self.close(outcome);
        }
        let part = match self.setup.apply {
            ApplyWhen::EachAction => self.next_part(),
            ApplyWhen::End | ApplyWhen::Never => None,
        };
        match part {
            Some(part) => self.plan_action(part, Initiator::Run),
            None => {
                self.end_turn();
                self.next_turn();
            }
        }
    }

    /// The part of the changes that is put to the user next.
    fn next_part(&mut self) -> Option<Action> {
        let changes = self.pending.as_ref()?;
        if self.setup.apply == ApplyWhen::Never || self.setup.kind == RunKind::Child {
            return None;
        }
        let (in_git, all) = (changes.in_git, changes.count());
        let apply = |paths| Some(Action::ApplyChanges { paths, reason: String::new() });
        if all > in_git && !std::mem::replace(&mut self.offered.files, true) {
            return apply(Vec::new());
        }
        if in_git > 0 && !std::mem::replace(&mut self.offered.repository, true) {
            return apply(vec![GIT.to_owned()]);
        }
        None
    }
}
