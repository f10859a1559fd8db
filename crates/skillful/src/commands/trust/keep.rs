//! Keeping trust when the user changes a project's skills through this program.

use std::collections::BTreeSet;
use std::path::PathBuf;

use skill::index::Entry;
use skill::load::check_trusted;
use skill::trust::TrustStore;

use super::project::{content_of, entries};
use super::{no_home, project_roots};
use crate::failure::Failure;
use crate::installing::{Scope, times};
use crate::session::Session;

/// What was trusted of a project before it was changed.
struct Before {
    /// Folders of skills that were what the user trusted, to the last byte. Not names: another skill of the same name
    /// is nothing that the user looked at.
    trusted: BTreeSet<PathBuf>,
    /// Whether that was all of them.
    is_all: bool,
}

/// Makes a change, after which the skills that it `touched` are trusted if they were before, or if all others are.
pub(crate) fn keeping_trust<T>(
    session: &Session,
    scope: Scope,
    change: impl FnOnce() -> Result<T, Failure>,
    touched: impl FnOnce(&T) -> Vec<String>,
) -> Result<T, Failure> {
    if scope != Scope::Project {
        return change();
    }
    let before = Before::of(session)?;
    let result = change()?;
    before.restore(session, &touched(&result))?;
    Ok(result)
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
    fn of(session: &Session) -> Result<Self, Failure> {
        let options = session.index_options()?;
        let (mut trusted, mut count) = (BTreeSet::new(), 0);
        for entry in project_roots(session).iter().flat_map(|root| entries(root, &options)) {
            count += 1;
            if entry.trusted && check_trusted(&entry).is_ok() {
                trusted.insert(entry.path);
            }
        }
        Ok(Self { is_all: count > 0 && trusted.len() == count, trusted })
    }

    fn restore(&self, session: &Session, touched: &[String]) -> Result<(), Failure> {
        let keeps = |entry: &Entry| {
            touched.contains(&entry.name) && (self.is_all || self.trusted.contains(&entry.path))
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
