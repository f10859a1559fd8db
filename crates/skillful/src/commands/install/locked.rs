//! `install --locked`: what the lockfile says, or nothing.
//!
//! Invariant: every source is fetched, compared and approved before the first change.

use std::collections::{BTreeMap, HashMap};

use pack::accept::{Agreement, Concerns, Likeness, Terms, accept, hold};
use pack::check::{Pack, Rules, Verified};
use pack::install::{Installed, Plan, Record, Replace, Root, audit};
use pack::source::Source;
use skill::lock::{LockedSkill, Lockfile};

use super::{Install, InstallResult, choose, describe, policy};
use crate::failure::{Exit, Failure};
use crate::installing::{Scope, byte_bar, changing, check, fetch, times};
use crate::output::Output;
use crate::session::Session;

/// The skills of one source that are to be brought back.
struct Locked<'a> {
    text: &'a str,
    pack: Verified<Pack>,
    detached: Option<String>,
    names: Vec<String>,
    needs_signature: bool,
}

impl Install {
    /// Brings every skill of the lockfile to where it should be. Skills from one source are one change.
    pub(super) fn install_locked(
        &self,
        session: &Session,
        output: &Output,
    ) -> Result<InstallResult, Failure> {
        let scope = session.target_scope(self.scope)?;
        let root = session.install_root(scope)?;
        let lockfile = root.lockfile()?;
        if lockfile.skills().is_empty() {
            let message = format!("`{}` lists no skill", root.lockfile_path().display());
            return Err(Failure::new(Exit::Failed, "NoLockfile", message)
                .hint("choose the lockfile: add --scope project or --scope user"));
        }
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        self.check_names(&lockfile)?;
        let sources = self.fetch_locked((scope, &root), &lockfile, &rules, session, output)?;
        let mut concerns = Concerns::default();
        let mut skills = 0;
        for source in &sources {
            let chosen = choose(&source.pack, &source.names)?;
            skills += chosen.len();
            concerns = concerns.and(Concerns::of(&source.pack, &chosen)?);
        }
        let agreement =
            policy::approve(concerns, skills, self.allow_unsafe || self.dry_run, output)?;
        let mut installed = Vec::new();
        for source in sources {
            let text = source.text.to_owned();
            let done = match self.dry_run {
                true => planned(&root, &source)?,
                false => self.bring_back(&root, source, &rules, &agreement, output)?,
            };
            installed.extend(done.into_iter().map(|one| describe(one, scope, text.clone())));
        }
        session.finish_interrupted_installs();
        let index = session.index()?;
        let index_hash = index.hash();
        Ok(InstallResult { installed, index_hash, written: !self.dry_run, left_out: Vec::new() })
    }

    fn check_names(&self, lockfile: &Lockfile) -> Result<(), Failure> {
        let Some(name) = self.skills.iter().find(|name| lockfile.get(name).is_none()) else {
            return Ok(());
        };
        let known: Vec<&str> = lockfile.skills().iter().map(|skill| skill.name.as_str()).collect();
        let message = format!("the lockfile has no skill `{name}`");
        let failure = Failure::new(Exit::Failed, "SkillNotFound", message);
        Err(match known.is_empty() {
            true => failure.hint("nothing is installed there; try the other --scope"),
            false => failure.hint(format!("it has {}", known.join(", "))),
        })
    }

    /// Fetches the sources of skills that are not as the lockfile says, and compares them with it.
    fn fetch_locked<'a>(
        &self,
        (scope, root): (Scope, &Root),
        lockfile: &'a Lockfile,
        rules: &Rules<'_>,
        session: &Session,
        output: &Output,
    ) -> Result<Vec<Locked<'a>>, Failure> {
        let is_wanted =
            |skill: &&LockedSkill| self.skills.is_empty() || self.skills.contains(&skill.name);
        let differs = |skill: &&LockedSkill| {
            !audit(root, skill, rules.trust).is_ok_and(|state| state.refusals.is_empty())
        };
        let mut sources: BTreeMap<(&str, Option<&str>), Vec<String>> = BTreeMap::new();
        for skill in lockfile.skills().iter().filter(is_wanted).filter(differs) {
            session.check_source(scope, skill)?;
            let source = (skill.source.as_str(), skill.resolved.as_deref());
            sources.entry(source).or_default().push(skill.name.clone());
        }
        let mut found = Vec::new();
        for ((text, resolved), names) in sources {
            let source = session.locked_source(text)?;
            let commit =
                matches!(source, Source::Git(_)).then(|| resolved.map(str::to_owned)).flatten();
            let fetched = fetch(&source, &session.fetching(commit), output)?;
            let detached = fetched.detached.clone();
            let pack = check(fetched, rules, output)?;
            let needs_signature = session.needs_signature(&source);
            let terms =
                Terms { rules: *rules, needs_signature, lockfile, likeness: Likeness::Exact };
            hold(&pack, &choose(&pack, &names)?, &terms)?;
            found.push(Locked { text, pack, detached, names, needs_signature });
        }
        Ok(found)
    }

    fn bring_back(
        &self,
        root: &Root,
        source: Locked<'_>,
        rules: &Rules<'_>,
        agreement: &Agreement,
        output: &Output,
    ) -> Result<Vec<Installed>, Failure> {
        let Locked { pack, detached, names, needs_signature, .. } = source;
        let material = pack.into_material();
        let (label, _) = times();
        changing(root, &label, |opened| {
            let bar = byte_bar(&material, output);
            let staged = opened.stage(material, detached, rules, &|bytes| bar.inc(bytes));
            bar.finish_and_clear();
            let pack = staged?;
            let terms = Terms {
                rules: *rules,
                needs_signature,
                lockfile: &opened.lockfile,
                likeness: Likeness::Exact,
            };
            let accepted = accept(&pack, choose(&pack, &names)?, &terms, agreement)?;
            let plan = Plan {
                keep: HashMap::new(),
                replace: if self.force { Replace::Force } else { Replace::Backup },
                label: label.clone(),
                record: Record::AsLocked,
            };
            Ok(opened.install(&accepted, &plan)?)
        })
    }
}

fn planned(root: &Root, source: &Locked<'_>) -> Result<Vec<Installed>, Failure> {
    let chosen = choose(&source.pack, &source.names)?;
    Ok(chosen.into_iter().map(|skill| super::planned(root, &source.pack, skill)).collect())
}
