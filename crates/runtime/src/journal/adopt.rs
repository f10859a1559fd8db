//! Taking over a record that somebody else made.

use std::path::Path;

use basics::run_id::RunId;
use state::{Folder, StateError};

use super::chain::check;
use super::child::children;
use super::error::JournalError;
use super::lines::{Files, SEALS};
use super::open::lock;
use super::owner::{Origin, Owner};
use super::record_folder::RecordFolder;
use super::{Durability, sealed};
use crate::changes::{APPLIED, OF_A_LAYER, PLAN, UNDER_WAY};

/// Signs a record, and those of its child runs, as adopted. Only what is whole can be taken over, and what the record
/// would apply or undo is dropped.
pub fn adopt(folder: &Path, owner: &Owner) -> Result<(), JournalError> {
    adopt_at(&RecordFolder::open(folder)?, owner)
}

fn adopt_at(place: &RecordFolder, owner: &Owner) -> Result<(), JournalError> {
    let run_id: RunId = place.name().parse()?;
    let _lock = lock(place)?;
    // The child runs first: a record is the owner's when all of it is.
    for child in children(place)? {
        adopt_at(&place.beside(&child)?, owner)?;
    }
    let checked = check(&Files::read(place)?);
    if let Some(problem) = checked.problems.into_iter().next() {
        let seq = problem.seq.unwrap_or(1);
        let folder = place.path().to_owned();
        return Err(JournalError::Damaged { folder, seq, message: problem.message });
    }
    if checked.hashes.is_empty() {
        return Err(JournalError::NotFound { folder: place.path().to_owned() });
    }
    // What a stranger has for the workspace: nobody looked at it, and no signature covers it.
    for name in OF_A_LAYER {
        place.own().remove_tree(name)?;
    }
    drop_applied(place.own())?;
    place.runs().remove_file(format!("{UNDER_WAY}{run_id}"))?;
    let (events, hashes) = (checked.hashes.len() as u64, checked.hashes.join(" "));
    let seals = sealed(Some(owner), Origin::Adopted, &run_id, events, &hashes) + "\n";
    place.own().replace(SEALS, seals.as_bytes(), Durability::Sync)?;
    Ok(())
}

/// Leaves of what was applied only the lists that the events name: without the files, they are words.
fn drop_applied(run: &Folder) -> Result<(), StateError> {
    let applied = match run.folder(APPLIED) {
        Ok(applied) => applied,
        Err(_) => return run.remove_tree(APPLIED),
    };
    for name in applied.names()? {
        let Ok(one) = applied.folder(&name) else {
            applied.remove_tree(&name)?;
            continue;
        };
        for part in one.names()?.iter().filter(|part| *part != PLAN) {
            one.remove_tree(part)?;
        }
    }
    Ok(())
}
