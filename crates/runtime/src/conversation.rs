//! Runs that continue each other: the chain behind a run, what goes over from one link to the next, and where the layer
//! of a conversation lies.
//!
//! Invariants: what goes over is made from the records alone, each as it was when it was continued. A layer is with one
//! run at a time, and a kill on its way leaves it whole.

use std::path::{Path, PathBuf};

use agent::conversation::{Carried, Link};
use agent::event::{ChangesMade, Event, EventData};
use agent::setup::Setup;
use basics::failure::{Exit, Failure};
use basics::run_id::RunId;
use basics::sha256::Sha256;
use state::Folder;
use tools::changes::ChangeSet;

use crate::changes::{LAYER, OF_A_LAYER, noted};
use crate::journal::{self, Durability, Journal, JournalError, Owner};

/// Runs of one conversation; a chain that is longer was made by somebody else.
const LONGEST: usize = 10_000;

/// A run of a conversation, as it was when the next one continued it.
#[derive(Debug)]
pub struct EarlierRun {
    /// Its name.
    pub run_id: RunId,
    /// Its folder.
    pub folder: PathBuf,
    /// What it began with; what it carried over itself is not in it.
    pub setup: Setup,
    /// What happened in it.
    pub events: Vec<Event>,
}

/// The runs before one that says `link`, the first one first.
pub fn earlier(runs: &Path, link: &Link) -> Result<Vec<EarlierRun>, Failure> {
    let mut chain: Vec<EarlierRun> = Vec::new();
    let mut next = Some(link.clone());
    while let Some(link) = next {
        let broken = |message: String| {
            Failure::new(Exit::Refused, "RecordDamaged", message)
                .hint("`skillful runs verify` shows more")
        };
        let run_id: RunId = link
            .run
            .parse()
            .map_err(|_| broken(format!("`{}` is no run that could be continued", link.run)))?;
        // Names sort by time, so a chain that does not go back in time has no beginning.
        let is_older = chain.last().is_none_or(|later| run_id < later.run_id);
        if !is_older || chain.len() == LONGEST {
            return Err(broken("the conversation has no beginning".to_owned()));
        }
        let folder = runs.join(run_id.as_str());
        let events = journal::read_until(&folder, &link.event)?;
        let setup = own_setup(&folder, &events)?;
        next = setup.continues.clone();
        chain.push(EarlierRun { run_id, folder, setup, events });
    }
    chain.reverse();
    Ok(chain)
}

/// What these runs hand over to the next; nothing where there are none.
fn carried(chain: &[EarlierRun]) -> Result<Option<Box<Carried>>, Failure> {
    let mut carried = None;
    for run in chain {
        let setup = Setup { carried, ..run.setup.clone() };
        let run = journal::restore(setup, &run.events).map_err(|error| {
            Failure::from_error(Exit::Refused, "RecordMismatch", &error)
                .hint("`skillful runs verify` shows more")
        })?;
        carried = Some(Box::new(run.carried()));
    }
    Ok(carried)
}

/// What a recorded run began with, without what it carried over.
fn own_setup(folder: &Path, events: &[Event]) -> Result<Setup, Failure> {
    let empty = || {
        Failure::new(Exit::Refused, "RecordDamaged", "the record is empty")
            .hint("start the run again")
    };
    let catalog = journal::catalog(folder)?;
    journal::setup_of(events.first().ok_or_else(empty)?, catalog).map_err(|error| {
        Failure::from_error(Exit::Refused, "RecordDamaged", &error)
            .hint("`skillful runs verify` shows more")
    })
}

/// What a recorded run began with.
pub fn read_setup(folder: &Path, events: &[Event]) -> Result<Setup, Failure> {
    Ok(read_chain(folder, events)?.0)
}

/// The same, with the runs before it.
pub(crate) fn read_chain(
    folder: &Path,
    events: &[Event],
) -> Result<(Setup, Vec<EarlierRun>), Failure> {
    let setup = own_setup(folder, events)?;
    let Some(link) = &setup.continues else { return Ok((setup, Vec::new())) };
    let runs = folder.parent().unwrap_or(Path::new("."));
    let before = earlier(runs, link)?;
    let carried = carried(&before)?;
    Ok((Setup { carried, ..setup }, before))
}

/// The run of a conversation that has its layer, if any has; `folders` are those of its runs, the last one first.
pub(crate) fn layer_among<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Option<PathBuf> {
    let has_layer = |folder: &&Path| {
        Folder::open(folder).is_ok_and(|folder| matches!(folder.find(LAYER), Ok(Some(_))))
    };
    folders.into_iter().find(has_layer).map(Path::to_owned)
}

/// Moves the layer of an earlier run into the folder of the one that continues it.
///
/// The layer itself goes last: before that it is with the earlier run, and a second try moves the rest.
pub(crate) fn take_layer(from: &Path, to: &Folder, owner: &Owner) -> Result<(), JournalError> {
    if to.find(LAYER)?.is_some() {
        return Ok(());
    }
    let (mut journal, _) = Journal::open(from, Durability::Sync, owner)?;
    let runs = Folder::open(from.parent().unwrap_or(Path::new(".")))?;
    let place = |run: &Path, part: &str| Path::new(run.file_name().unwrap_or_default()).join(part);
    for part in OF_A_LAYER.iter().rev() {
        let (old, new) = (place(from, part), place(to.path(), part));
        if runs.find(&old)?.is_some() && runs.find(&new)?.is_none() {
            runs.rename(old, new)?;
        }
    }
    let list = serde_json::to_string(&ChangeSet::default()).unwrap_or_default();
    let name = journal.keep(list.as_bytes())?;
    let changes = noted(&[], &[], name, Sha256::of(&list));
    let made = EventData::ChangesMade(Box::new(ChangesMade { changes }));
    journal.add_epilogue(made, jiff::Timestamp::now())
}
