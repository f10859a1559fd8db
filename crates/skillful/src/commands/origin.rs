//! Where an installed skill came from, for `list`, `inspect` and `why`.

use basics::text::for_terminal;
use pack::install::{Root, audit};
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::Entry;
use skill::lock::{LockedSkill, Signer};

use crate::session::Session;

/// What is known of an installed skill.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Origin {
    /// The source it was installed from.
    pub(crate) origin: String,
    /// The commit or address that this was.
    pub(crate) resolved: Option<String>,
    pub(crate) signer: Option<Signer>,
    pub(crate) installed_at: String,
}

/// Whether an installed skill is still what was installed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Provenance {
    /// Nothing where the lockfile cannot be read.
    #[serde(flatten)]
    pub(crate) origin: Option<Origin>,
    /// Whether all files are what was installed.
    pub(crate) unchanged: bool,
    /// What differs.
    pub(crate) differences: Vec<String>,
}

impl From<&LockedSkill> for Origin {
    fn from(locked: &LockedSkill) -> Self {
        Self {
            origin: locked.source.clone(),
            resolved: locked.resolved.clone(),
            signer: locked.signer.clone(),
            installed_at: locked.installed_at.clone(),
        }
    }
}

/// The root that a skill was installed into, if it is in one.
fn root_of(entry: &Entry, session: &Session) -> Option<Root> {
    let roots = session.scopes().into_iter().filter_map(|scope| session.install_root(scope).ok());
    roots.into_iter().find(|root| root.skill(&entry.name) == entry.path)
}

impl Provenance {
    /// Reads every file of the skill, if it was installed.
    pub(crate) fn of(entry: &Entry, session: &Session) -> Option<Self> {
        let root = root_of(entry, session)?;
        let lockfile = match root.lockfile() {
            Ok(lockfile) => lockfile,
            Err(error) => {
                let differences = vec![error.to_string()];
                return Some(Self { origin: None, unchanged: false, differences });
            }
        };
        let locked = lockfile.get(&entry.name)?;
        let trust = session.trust_store().unwrap_or_default();
        let differences: Vec<String> = match audit(&root, locked, &trust) {
            Ok(state) => state.refusals.iter().map(ToString::to_string).collect(),
            Err(error) => vec![error.to_string()],
        };
        Some(Self { origin: Some(locked.into()), unchanged: differences.is_empty(), differences })
    }

    /// Lines for people, each with its label.
    pub(crate) fn facts(&self) -> Vec<(&'static str, String)> {
        let Some(origin) = &self.origin else {
            return vec![("from", format!("unknown: {}", self.differences.join("; ")))];
        };
        let mut facts = vec![("from", origin.describe())];
        match self.unchanged {
            true => facts.push(("files", "as they were installed".to_owned())),
            false => facts
                .extend(self.differences.iter().map(|difference| ("differs", difference.clone()))),
        }
        facts
    }
}

impl Origin {
    /// On one line.
    pub(crate) fn describe(&self) -> String {
        let resolved =
            self.resolved.as_ref().map(|resolved| format!(" ({resolved})")).unwrap_or_default();
        let signer = match &self.signer {
            Some(signer) => format!("signed by {} ({})", signer.name, signer.key),
            None => "not signed".to_owned(),
        };
        for_terminal(&format!("{}{resolved}, {signer}", self.origin)).into_owned()
    }
}

/// What was installed, by the lockfiles alone: the name, where it is, and the origin.
pub(crate) fn installed(session: &Session) -> Vec<(String, &'static str, Origin)> {
    let mut found = Vec::new();
    for scope in session.scopes() {
        let lockfile = session.install_root(scope).ok().and_then(|root| root.lockfile().ok());
        for locked in lockfile.iter().flat_map(|lockfile| lockfile.skills()) {
            found.push((locked.name.clone(), scope.as_str(), locked.into()));
        }
    }
    found
}
