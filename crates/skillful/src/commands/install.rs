//! `skillful install`

mod locked;
pub(crate) mod policy;

use std::collections::HashMap;
use std::process::ExitCode;

use basics::text::for_terminal;
use pack::accept::{Agreement, Concerns, Likeness, Terms, accept, hold};
use pack::check::{Pack, PackedSkill, Rules, Verified};
use pack::install::{InstallError, Installed, Plan, Record, Replace, Root};
use pack::refusal::Flaw;
use pack::source::Source;
use schemars::JsonSchema;
use serde::Serialize;
use skill::lock::Signer;

use crate::commands::trust::keep::{Before, remember_source};
use crate::failure::{Exit, Failure};
use crate::installing::{Scope, byte_bar, changing, check, fetch, parse_flaw, times};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Install skills from a pack, a folder, a git repository or a URL
///
/// SOURCE is a zip file, a folder, a git repository (REPOSITORY#REF//FOLDER) or the https address of a
/// zip file. All skills are checked before any is installed. If anything fails, your skills stay as they
/// were.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful install csv-report.zip\n  skillful install https://example.com/skills.git#v1.2 --skill csv-report\n  skillful install pack.zip --skill csv-report --dry-run\n  skillful install --locked --scope project"
)]
pub(crate) struct Install {
    /// A zip file, folder, git repository or https address
    #[arg(id = "pack", value_name = "SOURCE", required_unless_present = "locked")]
    source: Option<String>,
    /// Install for you (`user`) or for this project (`project`) [default: user, or where --root says]
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Install only this skill of the pack (repeatable)
    #[arg(long = "skill", value_name = "NAME")]
    skills: Vec<String>,
    /// Install exactly what the lockfile lists, or fail
    #[arg(long)]
    locked: bool,
    /// If a skill has the same name, keep it in .backup
    #[arg(long, conflicts_with = "force")]
    backup: bool,
    /// If a skill has the same name, replace it
    #[arg(long)]
    force: bool,
    /// Do not ask about scripts, high-risk tools or scan findings
    #[arg(long)]
    allow_unsafe: bool,
    /// Accept this refusal, by its code (repeatable)
    #[arg(long, value_name = "CODE", value_parser = parse_flaw)]
    allow: Vec<Flaw>,
    /// Check everything, but install nothing
    #[arg(long)]
    dry_run: bool,
}

/// What was installed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InstallResult {
    pub(crate) installed: Vec<InstalledSkill>,
    /// Of the index with the new skills in it.
    pub(crate) index_hash: String,
    pub(crate) written: bool,
    /// Files of the source that belong to no skill, and so are not installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) left_out: Vec<String>,
}

/// A skill that was installed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InstalledSkill {
    name: String,
    version: Option<String>,
    /// `user` or `project`.
    source: &'static str,
    /// Where it came from.
    origin: String,
    path: String,
    /// The hash over all files.
    sha256: String,
    /// Where the one before it is kept.
    backup: Option<String>,
    signer: Option<Signer>,
}

impl Install {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let result = match &self.source {
            Some(source) => self.install(&session.source(source)?, session, output)?,
            None => self.install_locked(session, output)?,
        };
        print(&result, output)?;
        Ok(ExitCode::SUCCESS)
    }

    fn install(
        &self,
        source: &Source,
        session: &Session,
        output: &Output,
    ) -> Result<InstallResult, Failure> {
        let scope = session.target_scope(self.scope)?;
        let root = session.install_root(scope)?;
        let fetched = fetch(source, &session.fetching(None), output)?;
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        let origin = session.source_text(source, scope);
        let left_out = fetched.material.left_out().to_vec();
        let (resolved, detached) = (fetched.resolved.clone(), fetched.detached.clone());
        let terms = Terms {
            rules,
            needs_signature: session.needs_signature(source),
            lockfile: &root.lockfile()?,
            likeness: if self.locked { Likeness::Exact } else { Likeness::Successor },
        };
        // Asked before anything is locked: nobody else waits for the answer.
        let pack = check(fetched, &rules, output)?;
        let agreement = self.agree(&pack, &terms, &root, output)?;
        if self.dry_run {
            let chosen = choose(&pack, &self.skills)?.into_iter();
            let installed = chosen
                .map(|skill| describe(planned(&root, &pack, skill), scope, origin.clone()))
                .collect();
            session.finish_interrupted_installs();
            return Ok(InstallResult {
                installed,
                index_hash: session.index()?.hash(),
                written: false,
                left_out,
            });
        }
        let (label, now) = times();
        let material = pack.into_material();
        let (before, installed) = changing(&root, &label, |opened| {
            let before = Before::of(session, scope)?;
            let bar = byte_bar(&material, output);
            let staged = opened.stage(material, detached, &rules, &|bytes| bar.inc(bytes));
            bar.finish_and_clear();
            let pack = staged?;
            // What is installed may be something else by now.
            let terms = Terms { lockfile: &opened.lockfile, ..terms };
            let accepted = accept(&pack, choose(&pack, &self.skills)?, &terms, &agreement)?;
            let plan = Plan {
                keep: HashMap::new(),
                replace: self.replace(),
                label: label.clone(),
                record: Record::New { source: origin.clone(), resolved, now },
            };
            Ok((before, opened.install(&accepted, &plan)?))
        })?;
        let names: Vec<String> = installed.iter().map(|skill| skill.name.clone()).collect();
        before.keep(session, &names)?;
        remember_source(session, scope, &names, &origin)?;
        session.finish_interrupted_installs();
        let index = session.index()?;
        index.prepare_search();
        let installed =
            installed.into_iter().map(|one| describe(one, scope, origin.clone())).collect();
        Ok(InstallResult { installed, index_hash: index.hash(), written: true, left_out })
    }

    /// A person's word for the skills that were chosen, if nothing else speaks against them.
    fn agree(
        &self,
        pack: &Verified<Pack>,
        terms: &Terms<'_>,
        root: &Root,
        output: &Output,
    ) -> Result<Agreement, Failure> {
        let chosen = choose(pack, &self.skills)?;
        let let_pass = hold(pack, &chosen, terms)?;
        let_pass.iter().for_each(|refusal| output.warn(&format!("accepted: {refusal}")));
        // What is in the way is said before anybody is asked.
        if let (Replace::Never, Some(skill)) =
            (self.replace(), chosen.iter().find(|skill| root.has(skill.name())))
        {
            let (name, path) = (skill.name().to_owned(), root.skill(skill.name()));
            return Err(InstallError::Exists { name, path }.into());
        }
        let concerns = Concerns::of(pack, &chosen)?;
        policy::approve(concerns, chosen.len(), self.allow_unsafe || self.dry_run, output)
    }

    fn replace(&self) -> Replace {
        match (self.backup, self.force) {
            (true, _) => Replace::Backup,
            (_, true) => Replace::Force,
            _ => Replace::Never,
        }
    }
}

/// What installing a skill would come to.
fn planned(root: &Root, pack: &Pack, skill: &PackedSkill) -> Installed {
    Installed {
        name: skill.name().to_owned(),
        version: skill.version().map(str::to_owned),
        path: root.skill(skill.name()),
        sha256: skill.sha256.clone(),
        backup: None,
        signer: pack.signer.clone(),
    }
}

pub(crate) fn describe(installed: Installed, scope: Scope, origin: String) -> InstalledSkill {
    let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
    InstalledSkill {
        name: installed.name,
        version: installed.version,
        source: scope.as_str(),
        origin,
        path: text(installed.path),
        sha256: installed.sha256,
        backup: installed.backup.map(text),
        signer: installed.signer,
    }
}

/// The skills of those names, or all.
pub(crate) fn choose<'p>(
    pack: &'p Pack,
    names: &[String],
) -> Result<Vec<&'p PackedSkill>, Failure> {
    let find = |name: &String| {
        let known = pack.skills.iter().map(PackedSkill::name);
        let failure = || {
            let failure = Failure::new(
                Exit::Failed,
                "SkillNotFound",
                format!("the pack has no skill `{name}`"),
            );
            failure.hint(format!("it has {}", known.collect::<Vec<_>>().join(", ")))
        };
        pack.skills.iter().find(|skill| skill.name() == name).ok_or_else(failure)
    };
    if names.is_empty() {
        Ok(pack.skills.iter().collect())
    } else {
        names.iter().map(find).collect()
    }
}

pub(crate) fn print(result: &InstallResult, output: &Output) -> Result<(), Failure> {
    output.result(result, |out, Palette { bold, dim, good, .. }| {
        for skill in &result.installed {
            let version =
                skill.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
            writeln!(
                out,
                "{bold}{}{bold:#}{}  {dim}{}{dim:#}",
                for_terminal(&skill.name),
                for_terminal(&version),
                for_terminal(&skill.path)
            )?;
            if let Some(signer) = &skill.signer {
                writeln!(
                    out,
                    "  {good}signed{good:#} by {} ({})",
                    for_terminal(&signer.name),
                    signer.key
                )?;
            }
            if let Some(backup) = &skill.backup {
                writeln!(out, "  the old one is in {}", for_terminal(backup))?;
            }
        }
        Ok(())
    })?;
    note_left_out(&result.left_out, output);
    output.note(match (result.installed.is_empty(), result.written) {
        (true, _) => "Nothing to install.",
        (false, true) => "Installed. `skillful verify NAME` checks it again later.",
        (false, false) => "Nothing was written.",
    });
    Ok(())
}

/// Says which files of a source belong to no skill.
pub(crate) fn note_left_out(paths: &[String], output: &Output) {
    const SHOWN: usize = 10;
    if paths.is_empty() {
        return;
    }
    let mut shown = paths[..paths.len().min(SHOWN)].to_vec();
    if paths.len() > SHOWN {
        shown.push(format!("and {} more", paths.len() - SHOWN));
    }
    output.note(&format!("Left out, because they belong to no skill: {}.", shown.join(", ")));
}
