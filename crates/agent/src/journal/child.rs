//! The record of a child run, begun or taken up again.

use std::error::Error;
use std::path::Path;

use super::error::JournalError;
use super::listing::run_ids;
use super::record::{restore, setup_of};
use super::{Journal, RunId};
use crate::run::{Run, Setup};

impl Journal {
    /// A child run with its record. One that an interruption cut off goes on where it was: beginning it
    /// again would repeat what it did.
    pub fn child(&self, setup: Setup) -> Result<(Run, Self), JournalError> {
        let run_id: RunId = setup.run_id.parse()?;
        match self.sibling(run_id.as_str()) {
            Ok(journal) => Ok((Run::start(setup), journal)),
            Err(JournalError::Exists { .. }) => {
                let folder = self.folder.with_file_name(run_id.as_str());
                let (journal, events) = Self::open(&folder, self.durability)?;
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
pub(super) fn children(folder: &Path) -> Result<Vec<RunId>, JournalError> {
    let own = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut all = run_ids(folder.parent().unwrap_or(Path::new(".")))?;
    all.retain(|run_id| run_id.parent() == Some(&own));
    // By number: as a text, the tenth comes before the second.
    all.sort_by_key(|run_id| (run_id.as_str().len(), run_id.clone()));
    Ok(all)
}

fn differs(run_id: &RunId, error: impl Error + Send + Sync + 'static) -> JournalError {
    JournalError::Child { run_id: run_id.to_string(), source: Box::new(error) }
}
