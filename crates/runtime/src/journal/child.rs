//! The record of a child run, begun or taken up again.

use std::error::Error;

use agent::run::Run;
use agent::setup::Setup;
use basics::run_id::RunId;

use super::Journal;
use super::error::JournalError;
use super::lines::EVENTS;
use super::listing::run_ids;
use super::record::{restore, setup_of};
use super::record_folder::RecordFolder;

impl Journal {
    /// A child run with its record. One that an interruption cut off goes on where it was: beginning it
    /// again would repeat what it did.
    pub fn child(&self, setup: Setup) -> Result<(Run, Self), JournalError> {
        let run_id: RunId = setup.run_id.parse()?;
        match self.sibling(run_id.as_str()) {
            Ok(journal) => Ok((Run::start(setup), journal)),
            Err(JournalError::Exists { .. }) => {
                let folder = self.folder().with_file_name(run_id.as_str());
                let foreign = || JournalError::Foreign { run_id: run_id.to_string() };
                let owner = self.owner.as_ref().ok_or_else(foreign)?;
                let (journal, events) = Self::open(&folder, self.durability, owner)?;
                let Some(started) = events.first() else {
                    return Ok((Run::start(setup), journal));
                };
                let setup =
                    setup_of(started, setup.catalog).map_err(|error| differs(&run_id, error))?;
                let run = restore(setup, &events).map_err(|error| differs(&run_id, error))?;
                Ok((run, journal))
            }
            Err(error) => Err(error),
        }
    }
}

/// The child runs that a run has begun, oldest first.
pub(super) fn children(place: &RecordFolder) -> Result<Vec<RunId>, JournalError> {
    let own = place.name();
    let mut all = Vec::new();
    for run_id in run_ids(place.runs())? {
        // A folder without events was left by an interruption.
        if run_id.parent() == Some(&own)
            && place.runs().find(format!("{run_id}/{EVENTS}"))?.is_some()
        {
            all.push(run_id);
        }
    }
    // By number: as a text, the tenth comes before the second.
    all.sort_by_key(|run_id| (run_id.as_str().len(), run_id.clone()));
    Ok(all)
}

fn differs(run_id: &RunId, error: impl Error + Send + Sync + 'static) -> JournalError {
    JournalError::Child { run_id: run_id.to_string(), source: Box::new(error) }
}
