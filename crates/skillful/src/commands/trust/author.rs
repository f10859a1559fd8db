//! Offering to trust whatever the user writes in a workspace.
//!
//! Invariant: it is offered only where nobody else's skill is on the disk. What the project's settings hide today, or
//! what is found only from a folder further down, would be trusted as well.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use skill::index::Index;
use skill::load::check_trusted;
use skill::trust::TrustStore;

use super::project::{entries, own_workspace};
use super::project_roots;
use crate::failure::Failure;
use crate::installing::{ask, times};
use crate::output::Output;
use crate::session::Session;

/// A workspace with more files and folders than this is not looked through.
const MOST_ENTRIES: usize = 100_000;

const QUESTION: &str =
    "Do you write the skills in this workspace yourself? Then they stay trusted when they change.";

impl Session {
    /// Offers to trust whatever the user writes here, after they have made the skill in the folder `made`. Whoever
    /// says yes thinks of their own skills, so all others must be trusted as they are.
    pub(crate) fn offer_authorship(&self, made: &Path, output: &Output) -> Result<(), Failure> {
        let Some(file) = self.trust_file().filter(|_| !output.json && !output.quiet) else {
            return Ok(());
        };
        let Ok(workspace) = own_workspace(self) else { return Ok(()) };
        if self.trust_store()?.authors.contains_key(&*workspace.to_string_lossy()) {
            return Ok(());
        }
        let (roots, options) = (project_roots(self), self.index_options()?);
        let (known, waiting): (Vec<_>, Vec<_>) = roots
            .iter()
            .flat_map(|root| entries(root, &options))
            .partition(|entry| entry.path == made || entry.trusted && check_trusted(entry).is_ok());
        let known = known.into_iter().map(|entry| entry.path).collect();
        let left_out = Index::build(&roots, &options).report.ignored;
        if !waiting.is_empty()
            || !left_out.is_empty()
            // What cannot be looked at may be anything.
            || brings_others(workspace, &known).unwrap_or(true)
        {
            return Ok(());
        }
        if ask(QUESTION) == Some(true) {
            let (_, now) = times();
            TrustStore::change(&file, |store| store.trust_author(workspace, &now))?;
        }
        Ok(())
    }
}

/// Whether a workspace has skills in other folders than the `known` ones, or eval cases, or a lockfile, anywhere.
fn brings_others(workspace: &Path, known: &BTreeSet<PathBuf>) -> io::Result<bool> {
    let (mut folders, mut seen) = (vec![workspace.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_skill = name.eq_ignore_ascii_case("SKILL.md") && !known.contains(&folder);
            let is_state = folder.ends_with(".agent") && (name == "evals" || name == "skills.lock");
            seen += 1;
            if is_skill || is_state || seen > MOST_ENTRIES {
                return Ok(true);
            }
            // What a link leads to is in the workspace anyway, or is not trusted with it.
            if entry.file_type()?.is_dir() && name != ".git" {
                folders.push(entry.path());
            }
        }
    }
    Ok(false)
}
