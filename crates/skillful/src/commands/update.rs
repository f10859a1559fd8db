//! `skillful outdated` and `skillful update`

mod compare;

use std::process::ExitCode;

use basics::text::for_terminal;
use pack::accept::{Agreement, Concerns, Likeness, Terms, accept, hold};
use pack::check::{Pack, Rules, Verified};
use pack::diff::Changes;
use pack::install::{Plan, Record, Replace};
use pack::refusal::Flaw;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::commands::install::policy;
use crate::commands::trust::keep::Before;
use crate::failure::Failure;
use crate::installing::{byte_bar, changing, check, fetch, parse_flaw, times};
use crate::output::{Output, Palette};
use crate::session::Session;
use compare::{FailedSource, Found, Group, Which};

/// List installed skills that have a newer version
///
/// Skills whose files you changed are in the list, too: they differ from their source.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful outdated\n  skillful outdated --scope project --json | jq '.outdated[].name'"
)]
pub(crate) struct Outdated {
    #[command(flatten)]
    which: Which,
}

/// Update installed skills
///
/// Shows what changes first: new scripts, addresses and tools. Files that you changed stay as they are.
/// Skills from one source are updated together. If one source fails, the others are still updated.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful update --dry-run\n  skillful update csv-report\n  skillful update --force --allow-unsafe"
)]
pub(crate) struct Update {
    #[command(flatten)]
    which: Which,
    /// Also replace files that you changed; the old skill goes to .backup
    #[arg(long)]
    force: bool,
    /// Do not ask about scripts, high-risk tools or scan findings
    #[arg(long)]
    allow_unsafe: bool,
    /// Accept this refusal, by its code (repeatable)
    #[arg(long, value_name = "CODE", value_parser = parse_flaw)]
    allow: Vec<Flaw>,
    /// Show what would change, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Skills whose source has something else now.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OutdatedSkills {
    outdated: Vec<OutdatedSkill>,
    /// Skills that could not be looked for, and why.
    failed: Vec<FailedSource>,
}

/// A skill that could be updated, or was.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OutdatedSkill {
    name: String,
    /// `user` or `project`.
    source: &'static str,
    origin: String,
    installed: Option<String>,
    available: Option<String>,
    changes: Changes,
}

/// Skills that were updated.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct UpdateResult {
    updated: Vec<OutdatedSkill>,
    /// Skills that are not as their source has them, because you changed files of theirs.
    kept: Vec<OutdatedSkill>,
    /// Skills that could not be updated, and why.
    failed: Vec<FailedSource>,
    written: bool,
}

impl Outdated {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let lockfiles = self.which.lockfiles(session)?;
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: Rules::NEGOTIABLE };
        let mut result = OutdatedSkills { outdated: Vec::new(), failed: Vec::new() };
        for group in self.which.groups(&lockfiles, session, &mut result.failed) {
            let pack = fetch(&group.source, &session.fetching(None), output)
                .and_then(|fetched| Ok(check(fetched, &rules, output)?));
            match pack {
                Ok(pack) => {
                    let found = group.compare(&pack, session, &mut result.failed);
                    result.outdated.extend(found.iter().map(|found| group.describe(found)));
                }
                Err(failure) => result.failed.push(group.failed(failure)),
            }
        }
        output.result(&result, |out, palette| {
            result.outdated.iter().try_for_each(|skill| skill.write(out, palette))?;
            result.failed.iter().try_for_each(|failed| failed.write(out, palette))
        })?;
        if result.outdated.is_empty() && result.failed.is_empty() {
            output.note("Everything is up to date.");
        }
        Ok(ExitCode::from(u8::from(!result.failed.is_empty())))
    }
}

impl Update {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let lockfiles = self.which.lockfiles(session)?;
        let mut result = UpdateResult { written: !self.dry_run, ..UpdateResult::default() };
        let groups = self.which.groups(&lockfiles, session, &mut result.failed);
        let is_only = groups.len() == 1 && result.failed.is_empty();
        for group in groups {
            match self.update(&group, session, &mut result, output) {
                Ok(()) => {}
                // What there is to say about one thing is the whole answer.
                Err(failure) if is_only && result.failed.is_empty() => return Err(failure),
                Err(failure) => result.failed.push(group.failed(failure)),
            }
        }
        session.finish_interrupted_installs();
        session.index()?.prepare_search();
        output.result(&result, |out, palette| {
            let shown = result.updated.iter().chain(&result.kept);
            shown.into_iter().try_for_each(|skill| skill.write(out, palette))?;
            result.failed.iter().try_for_each(|failed| failed.write(out, palette))
        })?;
        output.note(result.words());
        let worst = result.failed.iter().map(|failed| failed.exit as u8).max();
        Ok(ExitCode::from(worst.unwrap_or_default()))
    }

    /// Updates the skills of one source together.
    fn update(
        &self,
        group: &Group<'_>,
        session: &Session,
        result: &mut UpdateResult,
        output: &Output,
    ) -> Result<(), Failure> {
        let fetched = fetch(&group.source, &session.fetching(None), output)?;
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        let (resolved, detached) = (fetched.resolved.clone(), fetched.detached.clone());
        let pack = check(fetched, &rules, output)?;
        let (news, kept) = self.sort(group.compare(&pack, session, &mut result.failed));
        result.kept.extend(kept.iter().map(|found| group.describe(found)));
        if self.dry_run || news.is_empty() {
            result.updated.extend(news.iter().map(|found| group.describe(found)));
            return Ok(());
        }
        let terms = Terms {
            rules,
            needs_signature: session.needs_signature(&group.source),
            lockfile: &group.root.lockfile()?,
            likeness: Likeness::Successor,
        };
        // Asked before anything is locked: nobody else waits for the answer.
        let agreement = self.agree(&pack, &news, &terms, group, output)?;
        drop((news, kept));
        let material = pack.into_material();
        let (label, now) = times();
        let (before, updated) = changing(&group.root, &label, |opened| {
            let before = Before::of(session, group.scope)?;
            let bar = byte_bar(&material, output);
            let staged = opened.stage(material, detached, &rules, &|bytes| bar.inc(bytes));
            bar.finish_and_clear();
            let pack = staged?;
            // What failed was said before.
            let (found, _) = self.sort(group.compare(&pack, session, &mut Vec::new()));
            let shown: Vec<OutdatedSkill> =
                found.iter().map(|found| group.describe(found)).collect();
            // What is installed may be something else by now.
            let terms = Terms { lockfile: &opened.lockfile, ..terms };
            let chosen = found.iter().map(|found| found.skill).collect();
            let accepted = accept(&pack, chosen, &terms, &agreement)?;
            let kept = found.iter().filter(|_| !self.force);
            let keep =
                kept.map(|found| (found.locked.name.clone(), found.changes.kept.clone())).collect();
            let replace = if self.force { Replace::Backup } else { Replace::Force };
            let plan = Plan {
                keep,
                replace,
                label: label.clone(),
                record: Record::New { source: group.origin.to_owned(), resolved, now },
            };
            opened.install(&accepted, &plan)?;
            Ok((before, shown))
        })?;
        let names: Vec<String> = updated.iter().map(|skill| skill.name.clone()).collect();
        before.keep(session, &names)?;
        result.updated.extend(updated);
        Ok(())
    }

    /// What is to be installed, and what stays as the user has it.
    fn sort<'p>(&self, found: Vec<Found<'p>>) -> (Vec<Found<'p>>, Vec<Found<'p>>) {
        found.into_iter().partition(|found| self.force || found.is_news())
    }

    /// A person's word for the skills that are new, if nothing else speaks against them.
    fn agree(
        &self,
        pack: &Verified<Pack>,
        found: &[Found<'_>],
        terms: &Terms<'_>,
        group: &Group<'_>,
        output: &Output,
    ) -> Result<Agreement, Failure> {
        let chosen: Vec<_> = found.iter().map(|found| found.skill).collect();
        let let_pass = hold(pack, &chosen, terms)?;
        let_pass.iter().for_each(|refusal| output.warn(&format!("accepted: {refusal}")));
        for Found { locked, changes, .. } in found {
            changes.conflicts.iter().filter(|_| !self.force).for_each(|path| {
                output.warn(&format!("you and the update both changed {}/{path}; yours stays (use --force to take theirs)", locked.name));
            });
        }
        let concerns = Concerns::of(pack, &chosen)?;
        if self.allow_unsafe || concerns.found.is_empty() {
            return policy::approve(concerns, chosen.len(), self.allow_unsafe, output);
        }
        let shown: Vec<OutdatedSkill> = found.iter().map(|found| group.describe(found)).collect();
        shown.iter().for_each(OutdatedSkill::show);
        policy::approve(concerns, chosen.len(), false, output).map_err(|mut failure| {
            if let Some(details) = &mut failure.details {
                details["changes"] = json!(shown);
            }
            failure
        })
    }
}

impl UpdateResult {
    fn words(&self) -> &'static str {
        match (self.updated.is_empty(), self.written) {
            (false, true) => "Updated.",
            (false, false) => "Nothing was written.",
            (true, _) if !self.failed.is_empty() => "Nothing was updated.",
            (true, _) if !self.kept.is_empty() => {
                "Nothing is new. Your changes stay; --force replaces them."
            }
            (true, _) => "Everything is up to date.",
        }
    }
}

impl FailedSource {
    fn write(
        &self,
        out: &mut dyn std::io::Write,
        Palette { bold, dim, bad, .. }: Palette,
    ) -> std::io::Result<()> {
        let (names, message) = (self.skills.join(", "), for_terminal(&self.message));
        writeln!(out, "{bold}{}{bold:#}  {bad}failed{bad:#}: {message}", for_terminal(&names))?;
        let mut hints = self.hint.iter();
        hints.try_for_each(|hint| writeln!(out, "  {dim}{}{dim:#}", for_terminal(hint)))
    }
}

impl OutdatedSkill {
    /// Shows what would change, before any question.
    fn show(&self) {
        let mut stderr = std::io::stderr();
        let palette = Palette::for_stream(&stderr);
        let _ = self.write(&mut stderr, palette);
    }

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
            ("changed fields", &changes.controls),
            ("added", &changes.added),
            ("removed", &changes.removed),
            ("changed", &changes.changed),
            ("changed by you; yours stays", &changes.kept),
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
