//! `install --locked`: what the lockfile says, or nothing.

use std::collections::BTreeMap;

use pack::check::{PackedSkill, Rules};
use pack::install::{Plan, PlannedSkill, Replace, state_of};
use pack::refusal::{Flaw, Refusal};
use pack::source::Source;
use skill::lock::{LockedSkill, Lockfile};

use super::{Install, InstallResult, choose, policy, require_signature, shown};
use crate::failure::Failure;
use crate::installing::{byte_bar, changing, check, fetch, times};
use crate::output::Output;
use crate::session::Session;

/// Holds skills to what the lockfile says of them.
pub(super) fn compare(chosen: &[&PackedSkill], lockfile: &Lockfile) -> Result<(), Refusal> {
    for skill in chosen {
        let locked = lockfile.get(skill.name());
        if locked.is_none_or(|locked| locked.sha256 != skill.sha256) {
            return Err(Refusal {
                flaw: Flaw::NotAsLocked,
                entry: Some(skill.name().to_owned()),
                message: "it differs from the lockfile".to_owned(),
            });
        }
    }
    Ok(())
}

impl Install {
    /// Brings every skill of the lockfile to where it should be. Skills from one source are one change.
    pub(super) fn install_locked(
        &self,
        session: &Session,
        output: &Output,
    ) -> Result<InstallResult, Failure> {
        let root = session.install_root(self.scope)?;
        let lockfile = root.lockfile()?;
        let is_wanted =
            |skill: &&LockedSkill| self.skills.is_empty() || self.skills.contains(&skill.name);
        let differs = |skill: &&LockedSkill| {
            !state_of(&root, skill).is_ok_and(|state| state.refusals.is_empty())
        };
        let mut sources: BTreeMap<(&str, Option<&str>), Vec<&LockedSkill>> = BTreeMap::new();
        for skill in lockfile.skills().iter().filter(is_wanted).filter(differs) {
            sources.entry((&skill.source, skill.resolved.as_deref())).or_default().push(skill);
        }
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        let mut installed = Vec::new();
        for ((text, resolved), skills) in sources {
            let source = session.locked_source(text)?;
            let commit =
                matches!(source, Source::Git(_)).then(|| resolved.map(str::to_owned)).flatten();
            let fetched = fetch(&source, &session.fetching(commit), output)?;
            let resolved = fetched.resolved.clone();
            let names: Vec<String> = skills.iter().map(|skill| skill.name.clone()).collect();
            if self.dry_run {
                let pack = check(fetched, &rules, output)?;
                compare(&choose(&pack, &names)?, &lockfile)?;
                continue;
            }
            let (label, now) = times();
            let done = changing(&root, &label, |opened| {
                let bar = byte_bar(&fetched.material, output);
                let staged = opened
                    .stage(fetched.material, fetched.detached, &rules, &|bytes| bar.inc(bytes));
                bar.finish_and_clear();
                let pack = staged?;
                let chosen = choose(&pack, &names)?;
                compare(&chosen, &opened.lockfile)?;
                require_signature(session, &pack, &source)?;
                let concerns = policy::concerns_of(&pack, &chosen)?;
                policy::approve(&concerns, chosen.len(), self.allow_unsafe, output)?;
                let replace = if self.force { Replace::Force } else { Replace::Backup };
                let skills = chosen
                    .into_iter()
                    .map(|skill| PlannedSkill { skill, keep: Vec::new() })
                    .collect();
                let plan = Plan {
                    skills,
                    replace,
                    source: text.to_owned(),
                    resolved: resolved.clone(),
                    label: label.clone(),
                    now: now.clone(),
                };
                Ok(opened.install(&pack, &plan)?)
            })?;
            installed.extend(done.into_iter().map(|one| shown(one, self.scope, text.to_owned())));
        }
        let index = session.index()?;
        Ok(InstallResult { installed, index_hash: index.hash(), written: !self.dry_run })
    }
}
