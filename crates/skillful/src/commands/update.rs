//! `skillful outdated` and `skillful update`

use std::collections::BTreeMap;
use std::process::ExitCode;

use pack::check::{Pack, PackedSkill, Rules};
use pack::diff::Changes;
use pack::install::{Opened, Plan, PlannedSkill, Replace, Root, compare_with_installed, state_of};
use pack::refusal::Flaw;
use pack::source::{Fetched, Source};
use schemars::JsonSchema;
use serde::Serialize;
use skill::lock::{LockedSkill, Lockfile};
use skill::text::for_terminal;

use crate::commands::install::{policy, require_signature};
use crate::commands::uninstall::keeping_trust;
use crate::failure::{Exit, Failure};
use crate::installing::{Scope, byte_bar, changing, check, fetch, parse_flaw, times};
use crate::output::{Output, Palette};
use crate::session::Session;

/// List installed skills whose source has something else now
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful outdated\n  skillful outdated --scope project --json | jq '.outdated[].name'"
)]
pub(crate) struct Outdated {
    #[command(flatten)]
    which: Which,
}

/// Update installed skills from where they came from
///
/// Shows what changes: new scripts, addresses, tools, and files that you changed. Those stay as they are.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful update --dry-run\n  skillful update csv-report\n  skillful update --force --allow-unsafe"
)]
pub(crate) struct Update {
    #[command(flatten)]
    which: Which,
    /// Replace files that you changed, too; the skill as it was is kept in .backup
    #[arg(long)]
    force: bool,
    /// Update in spite of scripts, high-risk tools or findings, without being asked
    #[arg(long)]
    allow_unsafe: bool,
    /// Let a refusal of trust pass, by its code (can be repeated)
    #[arg(long, value_name = "CODE", value_parser = parse_flaw)]
    allow: Vec<Flaw>,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Only these skills
    names: Vec<String>,
    /// Only those installed here
    #[arg(long, value_enum)]
    scope: Option<Scope>,
}

/// Skills whose source has something else now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OutdatedSkills {
    outdated: Vec<OutdatedSkill>,
    /// Skills that could not be looked for, and why.
    failed: Vec<FailedSource>,
}

/// A skill that could be updated, or was.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OutdatedSkill {
    name: String,
    /// `user` or `project`.
    source: &'static str,
    origin: String,
    installed: Option<String>,
    available: Option<String>,
    changes: Changes,
}

/// A source that could not be looked at.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FailedSource {
    origin: String,
    skills: Vec<String>,
    code: &'static str,
    message: String,
}

/// Skills that were updated.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UpdateResult {
    updated: Vec<OutdatedSkill>,
    written: bool,
}

/// Installed skills from one source.
struct Group<'a> {
    scope: Scope,
    root: Root,
    origin: &'a str,
    source: Source,
    skills: Vec<&'a LockedSkill>,
}

impl Which {
    fn lockfiles(&self, session: &Session) -> Result<Vec<(Scope, Root, Lockfile)>, Failure> {
        let mut found = Vec::new();
        for scope in
            Scope::ALL.into_iter().filter(|scope| self.scope.is_none_or(|wanted| wanted == *scope))
        {
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
                format!("`{name}` was not installed from a source"),
            )
            .hint("only what `skillful install` installed can be updated")),
            None => Ok(found),
        }
    }

    fn groups<'a>(
        &self,
        lockfiles: &'a [(Scope, Root, Lockfile)],
        session: &Session,
    ) -> Result<Vec<Group<'a>>, Failure> {
        let mut groups = Vec::new();
        for (scope, root, lockfile) in lockfiles {
            let mut sources: BTreeMap<&str, Vec<&LockedSkill>> = BTreeMap::new();
            let wanted =
                |skill: &&LockedSkill| self.names.is_empty() || self.names.contains(&skill.name);
            lockfile
                .skills()
                .iter()
                .filter(wanted)
                .for_each(|skill| sources.entry(&skill.source).or_default().push(skill));
            for (origin, skills) in sources {
                let source = session.locked_source(origin)?;
                groups.push(Group { scope: *scope, root: root.clone(), origin, source, skills });
            }
        }
        Ok(groups)
    }
}

impl Group<'_> {
    /// What is different, skill by skill.
    fn compare<'p>(
        &self,
        pack: &'p Pack,
        session: &Session,
    ) -> Result<Vec<(&'p PackedSkill, &LockedSkill, Changes)>, Failure> {
        let mut found = Vec::new();
        for locked in &self.skills {
            let Some(skill) = pack.skills.iter().find(|skill| skill.name() == locked.name) else {
                let message = format!("`{}` is not in `{}` any more", locked.name, self.origin);
                return Err(Failure::new(Exit::Failed, "SkillNotFound", message)
                    .hint("uninstall it, or install it from elsewhere"));
            };
            if skill.sha256 != locked.sha256 {
                let state = state_of(&self.root, locked)?;
                let read = session.layers.config.read_options();
                let changes = Changes::between(&self.root, locked, &state, pack, skill, &read);
                found.push((skill, *locked, changes.map_err(pack::check::CheckError::from)?));
            }
        }
        Ok(found)
    }

    fn shown(&self, skill: &PackedSkill, locked: &LockedSkill, changes: Changes) -> OutdatedSkill {
        OutdatedSkill {
            name: locked.name.clone(),
            source: self.scope.as_str(),
            origin: self.origin.to_owned(),
            installed: locked.version.clone(),
            available: skill.version().map(str::to_owned),
            changes,
        }
    }
}

impl Outdated {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let lockfiles = self.which.lockfiles(session)?;
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: Rules::NEGOTIABLE };
        let mut result = OutdatedSkills { outdated: Vec::new(), failed: Vec::new() };
        for group in self.which.groups(&lockfiles, session)? {
            let looked = || -> Result<Vec<OutdatedSkill>, Failure> {
                let pack =
                    check(fetch(&group.source, &session.fetching(None), output)?, &rules, output)?;
                let found = group.compare(&pack, session)?;
                Ok(found
                    .into_iter()
                    .map(|(skill, locked, changes)| group.shown(skill, locked, changes))
                    .collect())
            };
            match looked() {
                Ok(found) => result.outdated.extend(found),
                Err(failure) => result.failed.push(FailedSource {
                    origin: group.origin.to_owned(),
                    skills: group.skills.iter().map(|skill| skill.name.clone()).collect(),
                    code: failure.code,
                    message: failure.message,
                }),
            }
        }
        output.result(&result, |out, palette| {
            result.outdated.iter().try_for_each(|skill| skill.write(out, palette))
        })?;
        for failed in &result.failed {
            output.warn(&format!("{}: {}", failed.skills.join(", "), failed.message));
        }
        if result.outdated.is_empty() && result.failed.is_empty() {
            output.note("Everything is as its source has it.");
        }
        Ok(ExitCode::from(u8::from(!result.failed.is_empty())))
    }
}

impl Update {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let lockfiles = self.which.lockfiles(session)?;
        let mut updated = Vec::new();
        for group in self.which.groups(&lockfiles, session)? {
            let fetched = fetch(&group.source, &session.fetching(None), output)?;
            updated.extend(self.update(&group, fetched, session, output)?);
        }
        session.index()?.prepare_search();
        let result = UpdateResult { updated, written: !self.dry_run };
        output.result(&result, |out, palette| {
            result.updated.iter().try_for_each(|skill| skill.write(out, palette))
        })?;
        output.note(match (result.updated.is_empty(), self.dry_run) {
            (true, _) => "Everything is as its source has it.",
            (false, true) => "Nothing was written.",
            (false, false) => "Updated.",
        });
        Ok(ExitCode::SUCCESS)
    }

    /// Updates the skills of one source together.
    fn update(
        &self,
        group: &Group<'_>,
        fetched: Fetched,
        session: &Session,
        output: &Output,
    ) -> Result<Vec<OutdatedSkill>, Failure> {
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        let (resolved, detached) = (fetched.resolved.clone(), fetched.detached.clone());
        let pack = check(fetched, &rules, output)?;
        let found = group.compare(&pack, session)?;
        if self.dry_run || found.is_empty() {
            let shown = found.into_iter();
            return Ok(shown
                .map(|(skill, locked, changes)| group.shown(skill, locked, changes))
                .collect());
        }
        let material = pack.into_material();
        let (label, now) = times();
        keeping_trust(session, group.scope, || {
            changing(&group.root, &label, |opened| {
                let bar = byte_bar(&material, output);
                let staged = opened.stage(material, detached, &rules, &|bytes| bar.inc(bytes));
                bar.finish_and_clear();
                let pack = staged?;
                let found = group.compare(&pack, session)?;
                self.accept(&pack, &found, &rules, group, opened, session, output)?;
                let keep =
                    |changes: &Changes| if self.force { Vec::new() } else { changes.kept.clone() };
                let skills = found
                    .iter()
                    .map(|(skill, _, changes)| PlannedSkill { skill, keep: keep(changes) })
                    .collect();
                let replace = if self.force { Replace::Backup } else { Replace::Force };
                let plan = Plan {
                    skills,
                    replace,
                    source: group.origin.to_owned(),
                    resolved,
                    label: label.clone(),
                    now,
                };
                opened.install(&pack, &plan)?;
                Ok(found
                    .into_iter()
                    .map(|(skill, locked, changes)| group.shown(skill, locked, changes))
                    .collect())
            })
        })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "it is one step of the function above, with all that it knows"
    )]
    fn accept(
        &self,
        pack: &Pack,
        found: &[(&PackedSkill, &LockedSkill, Changes)],
        rules: &Rules<'_>,
        group: &Group<'_>,
        opened: &Opened<'_>,
        session: &Session,
        output: &Output,
    ) -> Result<(), Failure> {
        require_signature(session, pack, &group.source)?;
        let mut passed = pack.allowed.clone();
        for (skill, locked, _) in found {
            let installed = opened.lockfile.get(skill.name()).unwrap_or(locked);
            for refusal in compare_with_installed(skill, pack, installed) {
                rules.judge(refusal, &mut passed)?;
            }
        }
        passed.iter().for_each(|refusal| output.warn(&format!("let pass: {refusal}")));
        for (_, locked, changes) in found {
            changes.conflicts.iter().filter(|_| !self.force).for_each(|path| {
                output.warn(&format!("{}/{path} was changed by you and by the update; yours stays (--force takes theirs)", locked.name));
            });
        }
        let chosen: Vec<&PackedSkill> = found.iter().map(|(skill, ..)| *skill).collect();
        policy::approve(pack, &chosen, self.allow_unsafe, false, output)
    }
}

impl OutdatedSkill {
    fn write(
        &self,
        out: &mut dyn std::io::Write,
        Palette { bold, dim, warn, .. }: Palette,
    ) -> std::io::Result<()> {
        let version =
            |version: &Option<String>| version.clone().unwrap_or_else(|| "no version".to_owned());
        let (from, to) = (version(&self.installed), version(&self.available));
        writeln!(
            out,
            "{bold}{}{bold:#}  {} to {}  {dim}{}, from {}{dim:#}",
            for_terminal(&self.name),
            for_terminal(&from),
            for_terminal(&to),
            self.source,
            for_terminal(&self.origin)
        )?;
        let changes = &self.changes;
        let loud = [
            ("new or changed scripts", &changes.scripts),
            ("new addresses", &changes.urls),
            ("new tools", &changes.tools),
            ("changed by you and by the update", &changes.conflicts),
        ];
        let quiet = [
            ("says otherwise", &changes.controls),
            ("added", &changes.added),
            ("removed", &changes.removed),
            ("changed", &changes.changed),
            ("changed by you, stays", &changes.kept),
        ];
        let lines = loud
            .into_iter()
            .map(|line| (warn, line))
            .chain(quiet.into_iter().map(|line| (dim, line)));
        for (style, (label, items)) in lines.filter(|(_, (_, items))| !items.is_empty()) {
            writeln!(out, "  {style}{label}{style:#}: {}", for_terminal(&items.join(", ")))?;
        }
        Ok(())
    }
}
