//! Keeping trust when the user changes a project's skills through this program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use skill::index::Entry;
use skill::load::check_trusted;
use skill::trust::TrustStore;

use super::project::{content_of, entries};
use super::{no_home, project_roots};
use crate::failure::Failure;
use crate::installing::{Scope, times};
use crate::session::Session;

/// What was trusted of a project before the user changed it. Take it once the folder of skills is open: opening it
/// finishes what was interrupted, which may come with the project, and nobody has looked at that.
pub(crate) struct Before {
    /// Folders of skills that were what the user trusted, to the last byte. Not names: another skill of the same name
    /// is nothing that the user looked at.
    trusted: BTreeSet<PathBuf>,
    /// Whether that was all of them.
    is_all: bool,
}

/// Whether the skill in this folder of a project is not what the user trusted.
pub(crate) fn is_waiting(session: &Session, folder: &Path) -> Result<bool, Failure> {
    let options = session.index_options()?;
    let mut all = project_roots(session).into_iter().flat_map(|root| entries(&root, &options));
    Ok(all.any(|entry| entry.path == folder && !(entry.trusted && check_trusted(&entry).is_ok())))
}

/// Remembers where the user had skills of a project installed from, so that they can be updated from there.
pub(crate) fn remember_source(
    session: &Session,
    scope: Scope,
    names: &[String],
    source: &str,
) -> Result<(), Failure> {
    let Some(file) = session.trust_file().filter(|_| session.is_projects(scope)) else {
        return Ok(());
    };
    let lockfile = session.install_root(scope)?.lockfile_path();
    TrustStore::change(&file, |store| {
        names.iter().for_each(|name| store.remember_source(&lockfile, name, source));
    })?;
    Ok(())
}

impl Before {
    pub(crate) fn of(session: &Session, scope: Scope) -> Result<Self, Failure> {
        let (mut trusted, mut count) = (BTreeSet::new(), 0);
        if scope == Scope::Project {
            let options = session.index_options()?;
            for entry in project_roots(session).iter().flat_map(|root| entries(root, &options)) {
                count += 1;
                if entry.trusted && check_trusted(&entry).is_ok() {
                    trusted.insert(entry.path);
                }
            }
        }
        Ok(Self { is_all: count > 0 && trusted.len() == count, trusted })
    }

    /// Trusts the skills of those `names` as they are now, if they were trusted before or all others were. Only for
    /// content that the user chose or wrote, never for what was lying in the project.
    pub(crate) fn keep(&self, session: &Session, names: &[String]) -> Result<(), Failure> {
        let keeps = |entry: &Entry| {
            names.contains(&entry.name) && (self.is_all || self.trusted.contains(&entry.path))
        };
        let (options, (_, now)) = (session.index_options()?, times());
        let mut seen = Vec::new();
        for root in project_roots(session) {
            for entry in entries(&root, &options).filter(keeps) {
                let is_trusted = entry.trusted && check_trusted(&entry).is_ok();
                // What cannot be vouched for waits for the user, as everywhere.
                if let (false, Ok(content)) = (is_trusted, content_of(&entry)) {
                    seen.push((root.path.clone(), entry, content));
                }
            }
        }
        if seen.is_empty() {
            return Ok(());
        }
        TrustStore::change(&session.trust_file().ok_or_else(no_home)?, |store| {
            for (root, entry, content) in seen {
                store.trust(&root, &entry, content, &now);
            }
        })?;
        Ok(())
    }
}
