//! `skillful install`

mod locked;
pub(crate) mod policy;

use std::process::ExitCode;

use common::text::for_terminal;
use pack::check::{Pack, PackedSkill, Rules, Verified};
use pack::install::{
    Installed, Opened, Plan, PlannedSkill, Record, Replace, Root, compare_with_installed,
};
use pack::refusal::{Flaw, Refusal};
use pack::source::Source;
use schemars::JsonSchema;
use serde::Serialize;
use skill::lock::{Lockfile, Signer};

use crate::commands::trust::keep::{keeping_trust, remember_source};
use crate::config::RequireSignature;
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
        let job = Job {
            install: self,
            scope,
            session,
            output,
            source,
            rules,
            root: &root,
            resolved: fetched.resolved.clone(),
            origin,
        };
        if self.dry_run {
            let pack = check(fetched, &job.rules, output)?;
            let lockfile = root.lockfile()?;
            let chosen = job.accept(&pack, &lockfile)?;
            let installed =
                chosen.iter().map(|skill| job.shown(planned(&root, &pack, skill))).collect();
            return Ok(InstallResult {
                installed,
                index_hash: session.index()?.hash(),
                written: false,
                left_out,
            });
        }
        let (label, now) = times();
        let install = || {
            changing(&root, &label, |opened| {
                let bar = byte_bar(&fetched.material, output);
                let staged =
                    opened.stage(fetched.material, fetched.detached, &job.rules, &|bytes| {
                        bar.inc(bytes)
                    });
                bar.finish_and_clear();
                job.finish(&staged?, opened, &label, &now)
            })
        };
        let names = |installed: &Vec<Installed>| -> Vec<String> {
            installed.iter().map(|skill| skill.name.clone()).collect()
        };
        let installed = keeping_trust(session, scope, install, names)?;
        remember_source(session, scope, &names(&installed), &job.origin)?;
        let index = session.index()?;
        index.prepare_search();
        let installed = installed.into_iter().map(|one| job.shown(one)).collect();
        Ok(InstallResult { installed, index_hash: index.hash(), written: true, left_out })
    }

    fn replace(&self) -> Replace {
        match (self.backup, self.force) {
            (true, _) => Replace::Backup,
            (_, true) => Replace::Force,
            _ => Replace::Never,
        }
    }
}

/// One pack on its way into a root.
struct Job<'a> {
    install: &'a Install,
    scope: Scope,
    session: &'a Session,
    output: &'a Output,
    source: &'a Source,
    rules: Rules<'a>,
    root: &'a Root,
    resolved: Option<String>,
    origin: String,
}

impl Job<'_> {
    /// The skills that were chosen, if nothing speaks against them.
    fn accept<'p>(
        &self,
        pack: &'p Verified<Pack>,
        lockfile: &Lockfile,
    ) -> Result<Vec<&'p PackedSkill>, Failure> {
        let chosen = choose(pack, &self.install.skills)?;
        if self.install.locked {
            locked::compare(pack, &chosen, lockfile)?;
        }
        require_signature(self.session, pack, self.source)?;
        let mut passed = pack.allowed.clone();
        for skill in &chosen {
            let Some(installed) = lockfile.get(skill.name()) else { continue };
            for refusal in compare_with_installed(skill, pack, installed) {
                self.rules.judge(refusal, &mut passed)?;
            }
        }
        passed.iter().for_each(|refusal| self.output.warn(&format!("accepted: {refusal}")));
        // What is in the way is said before anybody is asked.
        if let (Replace::Never, Some(skill)) =
            (self.install.replace(), chosen.iter().find(|skill| self.root.has(skill.name())))
        {
            let path = self.root.skill(skill.name());
            return Err(pack::install::InstallError::Exists {
                name: skill.name().to_owned(),
                path,
            }
            .into());
        }
        let given = self.install.allow_unsafe || self.install.dry_run;
        let concerns = policy::concerns_of(pack, &chosen)?;
        policy::approve(&concerns, chosen.len(), given, self.output)?;
        Ok(chosen)
    }

    fn finish(
        &self,
        pack: &Verified<Pack>,
        opened: &mut Opened<'_>,
        label: &str,
        now: &str,
    ) -> Result<Vec<Installed>, Failure> {
        let chosen = self.accept(pack, &opened.lockfile)?;
        let plan = Plan {
            skills: chosen
                .into_iter()
                .map(|skill| PlannedSkill { skill, keep: Vec::new() })
                .collect(),
            replace: self.install.replace(),
            label: label.to_owned(),
            record: Record::New {
                source: self.origin.clone(),
                resolved: self.resolved.clone(),
                now: now.to_owned(),
            },
        };
        Ok(opened.install(pack, &plan)?)
    }

    fn shown(&self, installed: Installed) -> InstalledSkill {
        shown(installed, self.scope, self.origin.clone())
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

pub(crate) fn shown(installed: Installed, scope: Scope, origin: String) -> InstalledSkill {
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

pub(crate) fn require_signature(
    session: &Session,
    pack: &Pack,
    source: &Source,
) -> Result<(), Failure> {
    let required = match session.layers.config.install.require_signature {
        RequireSignature::Never => false,
        RequireSignature::Remote => source.is_remote(),
        RequireSignature::Always => true,
    };
    if required && pack.signer.is_none() {
        let name = pack.skills.first().map_or("", PackedSkill::name).to_owned();
        let message =
            "no trusted key signed it, and `install.require_signature` asks for one".to_owned();
        return Err(Refusal { flaw: Flaw::SignatureRequired, entry: Some(name), message }.into());
    }
    Ok(())
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
