//! A run that continues another: what goes over, and what of it still counts.

use std::path::PathBuf;

use agent::conversation::{Carried, Link, StaleSkill, Staleness};
use agent::observation::SelectedSkill;
use agent::setup::RunKind;
use agent::step::Input;
use basics::failure::{Exit, Failure};
use permission::Permission;

use super::Stage;
use super::recorded::{check_model, check_workspace, describe};
use crate::conversation::{layer_among, read_chain};
use crate::journal::{self, Durability, Journal};
use crate::workbench::body_hash;

/// What a run takes over from the one before.
pub(super) struct Continued {
    pub(super) link: Link,
    pub(super) carried: Box<Carried>,
    /// The run of the conversation that has its layer.
    pub(super) layer: Option<PathBuf>,
}

impl Stage<'_, '_> {
    /// What the run that comes after this one begins with. One that has not ended ends now.
    pub(super) fn continued(&self, run_id: &str, compact: bool) -> Result<Continued, Failure> {
        let folder = self.runtime.run_folder(run_id)?;
        let owner = self.runtime.known_owner(run_id)?;
        let (mut journal, events) = Journal::open(&folder, Durability::Sync, &owner)?;
        let (setup, before) = read_chain(&folder, &events)?;
        check_workspace(self.runtime, &setup, journal.origin(), "run --continue")?;
        if setup.kind != RunKind::Own {
            let message = format!("run `{}` is {}", setup.run_id, describe(setup.kind));
            return Err(Failure::new(Exit::Usage, "NotResumable", message).hint(
                "you can continue only runs that `skillful run` or `skillful chat` started",
            ));
        }
        check_model(&setup, self.decider, journal.origin(), "--continue=")?;
        let mut run = journal::restore(setup, &events).map_err(|error| {
            Failure::from_error(Exit::Refused, "RecordMismatch", &error)
                .hint("`skillful runs verify` shows more")
        })?;
        if run.outcome().is_none() {
            let elapsed = events.iter().filter_map(|event| event.data.elapsed_ms()).max();
            run.advance(Input::Cancelled, elapsed.unwrap_or(0))
                .map_err(|error| Failure::from_error(Exit::Failed, "RunError", &error))?;
            for note in run.take_notes() {
                journal.append(note, jiff::Timestamp::now())?;
            }
            journal.finish(&run)?;
        }
        let event = journal.last_hash().parse().map_err(|_| {
            Failure::new(Exit::Refused, "RecordDamaged", "the record is empty")
                .hint("start the run again")
        })?;
        drop(journal);
        let carried = run.carried();
        let before = before.iter().rev().map(|run| run.folder.as_path());
        let layer = layer_among([folder.as_path()].into_iter().chain(before));
        let stale = carried.skills().iter().filter_map(|skill| self.stale(skill)).collect();
        let run = run.id().to_owned();
        let link = Link { run, event, layer: layer.is_some(), stale, compact };
        Ok(Continued { link, carried: Box::new(carried), layer })
    }

    /// What became of a loaded skill, if it is not what it was.
    fn stale(&self, skill: &SelectedSkill) -> Option<StaleSkill> {
        let is_denied = self.engine.denials(Permission::Skill);
        let entry = self.index.get(&skill.name, Some(skill.source));
        let entry = entry.filter(|entry| entry.waiting.is_none() && !is_denied(&entry.rule_name()));
        let state = match entry.map(|entry| body_hash(self.runtime, entry)) {
            Some(Some(hash)) if hash == skill.hash => return None,
            Some(Some(_)) => Staleness::Changed,
            Some(None) | None => Staleness::Gone,
        };
        Some(StaleSkill { name: skill.name.clone(), state })
    }
}
