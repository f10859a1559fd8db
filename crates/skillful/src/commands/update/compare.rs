//! Installed skills beside what their sources have now.
//!
//! Invariant: what is wrong with one skill or one source is said of it, and hides no other.

use std::collections::BTreeMap;

use pack::check::{CheckError, Pack, PackedSkill};
use pack::diff::Changes;
use pack::install::{Root, state_of};
use pack::source::Source;
use schemars::JsonSchema;
use serde::Serialize;
use skill::lock::{LockedSkill, Lockfile};

use super::OutdatedSkill;
use crate::failure::{Exit, Failure};
use crate::installing::Scope;
use crate::session::Session;

#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// Only these skills
    names: Vec<String>,
    /// Only skills installed for you, or only those for this project
    #[arg(long, value_enum)]
    scope: Option<Scope>,
}

/// Skills that could not be looked for or updated.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FailedSource {
    pub(super) origin: String,
    pub(super) skills: Vec<String>,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: Option<String>,
    #[serde(skip)]
    pub(super) exit: Exit,
}

/// Installed skills from one source.
pub(super) struct Group<'a> {
    pub(super) scope: Scope,
    pub(super) root: Root,
    pub(super) origin: &'a str,
    pub(super) source: Source,
    skills: Vec<&'a LockedSkill>,
}

/// An installed skill that its source has otherwise.
pub(super) struct Found<'p> {
    pub(super) skill: &'p PackedSkill,
    pub(super) locked: &'p LockedSkill,
    pub(super) changes: Changes,
}

impl Found<'_> {
    /// Whether the source has something else than was installed; if not, the user has.
    pub(super) fn is_news(&self) -> bool {
        self.skill.sha256 != self.locked.sha256
    }
}

impl FailedSource {
    fn new(origin: &str, skills: &[&LockedSkill], failure: Failure) -> Self {
        Self {
            origin: origin.to_owned(),
            skills: skills.iter().map(|skill| skill.name.clone()).collect(),
            code: failure.code,
            message: failure.message,
            hint: failure.hint,
            exit: failure.exit,
        }
    }
}

impl Which {
    pub(super) fn lockfiles(
        &self,
        session: &Session,
    ) -> Result<Vec<(Scope, Root, Lockfile)>, Failure> {
        let mut found = Vec::new();
        let scopes = session.scopes().into_iter();
        for scope in scopes.filter(|scope| self.scope.is_none_or(|wanted| wanted == *scope)) {
            let Ok(root) = session.install_root(scope) else { continue };
            // Working in the home directory does not make its skills two.
            if found.iter().all(|(_, other, _): &(_, Root, _)| other.path() != root.path()) {
                let lockfile = root.lockfile()?;
                found.push((scope, root, lockfile));
            }
        }
        let known =
            |name: &String| found.iter().any(|(_, _, lockfile)| lockfile.get(name).is_some());
        match self.names.iter().find(|name| !known(name)) {
            Some(name) => Err(Failure::new(
                Exit::Failed,
                "NotInstalled",
                format!("`{name}` has no source to update from"),
            )
            .hint("you can update only skills that `skillful install` installed")),
            None => Ok(found),
        }
    }

    pub(super) fn groups<'a>(
        &self,
        lockfiles: &'a [(Scope, Root, Lockfile)],
        session: &Session,
        failed: &mut Vec<FailedSource>,
    ) -> Vec<Group<'a>> {
        let mut groups = Vec::new();
        for (scope, root, lockfile) in lockfiles {
            let mut sources: BTreeMap<&str, Vec<&LockedSkill>> = BTreeMap::new();
            let wanted =
                |skill: &&LockedSkill| self.names.is_empty() || self.names.contains(&skill.name);
            for skill in lockfile.skills().iter().filter(wanted) {
                match session.check_source(*scope, skill) {
                    Ok(()) => sources.entry(&skill.source).or_default().push(skill),
                    Err(failure) => {
                        failed.push(FailedSource::new(&skill.source, &[skill], failure));
                    }
                }
            }
            for (origin, skills) in sources {
                match session.locked_source(origin) {
                    Ok(source) => {
                        let (scope, root) = (*scope, root.clone());
                        groups.push(Group { scope, root, origin, source, skills });
                    }
                    Err(failure) => failed.push(FailedSource::new(origin, &skills, failure)),
                }
            }
        }
        groups
    }
}

impl Group<'_> {
    /// What is different, skill by skill.
    pub(super) fn compare<'p>(
        &'p self,
        pack: &'p Pack,
        session: &Session,
        failed: &mut Vec<FailedSource>,
    ) -> Vec<Found<'p>> {
        let mut found = Vec::new();
        for locked in &self.skills {
            match self.compare_one(pack, locked, session) {
                Ok(other) => found.extend(other),
                Err(failure) => failed.push(FailedSource::new(self.origin, &[locked], failure)),
            }
        }
        found
    }

    fn compare_one<'p>(
        &'p self,
        pack: &'p Pack,
        locked: &'p LockedSkill,
        session: &Session,
    ) -> Result<Option<Found<'p>>, Failure> {
        let skill = pack.skills.iter().find(|skill| skill.name() == locked.name);
        let skill = skill.ok_or_else(|| {
            let message = format!("`{}` is no longer in `{}`", locked.name, self.origin);
            Failure::new(Exit::Failed, "SkillNotFound", message)
                .hint("uninstall it, or install it from another source")
        })?;
        let state = state_of(&self.root, locked).map_err(|error| {
            let path = self.root.skill(&locked.name);
            let message = format!("cannot read `{}`: {error}", path.display());
            Failure::new(Exit::Failed, "NotAsInstalled", message)
                .hint("`skillful install --locked` brings it back; `skillful uninstall` removes it from the lockfile")
        })?;
        let read = session.layers.config.read_options();
        let changes = Changes::between(&self.root, locked, &state, pack, skill, &read)
            .map_err(CheckError::from)?;
        Ok((changes != Changes::default()).then_some(Found { skill, locked, changes }))
    }

    /// The same failure of all skills of this source.
    pub(super) fn failed(&self, failure: Failure) -> FailedSource {
        FailedSource::new(self.origin, &self.skills, failure)
    }

    pub(super) fn describe(&self, found: &Found<'_>) -> OutdatedSkill {
        OutdatedSkill {
            name: found.locked.name.clone(),
            source: self.scope.as_str(),
            origin: self.origin.to_owned(),
            installed: found.locked.version.clone(),
            available: found.skill.version().map(str::to_owned),
            changes: found.changes.clone(),
        }
    }
}
