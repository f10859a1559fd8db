//! `skillful verify`

use std::process::ExitCode;

use basics::failure::Explain;
use basics::text::for_terminal;
use pack::accept::check_signature;
use pack::check::{CheckError, Rules};
use pack::install::audit;
use pack::policy::scan;
use pack::refusal::{Flaw, Kind, Refusal};
use pack::scan::{Finding, Report, Scanner};
use pack::source::Source;
use schemars::JsonSchema;
use serde::Serialize;
use skill::load::Files;
use skill::lock::{FileRecord, Signer};

use crate::commands::install::note_left_out;
use crate::commands::scan::{scan_entry, scan_folder};
use crate::failure::{Exit, Failure};
use crate::installing::{Scope, check, parse_flaw};
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Check a pack, or whether an installed skill changed
///
/// Checks structure, names, frontmatter, manifest, signature and the hash of every file. Works offline and
/// changes nothing. Also shows scan findings; they do not affect the result.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful verify csv-report.zip\n  skillful verify csv-report --json | jq .problems"
)]
pub(crate) struct Verify {
    /// A pack (file, folder or other source), or the name of an installed skill
    target: String,
    /// Check the skill installed for you or for this project
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Accept this refusal, by its code (repeatable)
    #[arg(long, value_name = "CODE", value_parser = parse_flaw)]
    allow: Vec<Flaw>,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Verification {
    ok: bool,
    /// Every file, with its hash.
    files: Vec<FileRecord>,
    problems: Vec<Problem>,
    /// Who signed it.
    signer: Option<Signer>,
    /// Where an installed skill came from.
    origin: Option<String>,
    /// What a scan of the files found; a finding is no proof, and none is no proof either.
    findings: Vec<FoundIn>,
    /// Further findings of the same kinds that are not listed.
    omitted: usize,
    /// Files of the source that belong to no skill, and so would not be installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

/// A finding in a skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FoundIn {
    skill: String,
    #[serde(flatten)]
    finding: Finding,
}

/// Something that is not as it must be.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// A stable name, such as `WrongHash`.
    code: &'static str,
    /// The path within the pack or the skill.
    entry: Option<String>,
    message: String,
    hint: &'static str,
    #[serde(skip)]
    kind: Kind,
}

/// What to do about files that are not what was installed.
const CHANGED: &str =
    "if you made the change, keep it; if not, do not use the skill: install it again with --force";

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let (code, entry) = (refusal.code(), refusal.entry.clone());
        Self {
            code,
            entry,
            message: refusal.message.clone(),
            hint: refusal.flaw.hint(),
            kind: refusal.flaw.kind(),
        }
    }
}

impl Problem {
    /// Something that is not as it was installed: likely a change by the user, not by the pack's author.
    fn of_installed(refusal: &Refusal) -> Self {
        let changed = [
            Flaw::WrongHash,
            Flaw::WrongSize,
            Flaw::WrongMode,
            Flaw::PresentButUnlisted,
            Flaw::ListedButAbsent,
        ];
        let problem = Self::from(refusal);
        match changed.contains(&refusal.flaw) {
            true => Self { hint: CHANGED, ..problem },
            false => problem,
        }
    }
}

impl Verify {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let looks_like_path = self.target.contains("://")
            || session.surroundings.working_directory.join(&self.target).exists();
        let is_installed = || {
            session
                .scopes()
                .iter()
                .any(|scope| session.install_root(*scope).is_ok_and(|root| root.has(&self.target)))
        };
        // A folder of the name of a skill is likely to be something else.
        let verification = match session.source(&self.target) {
            Ok(source)
                if looks_like_path && !(matches!(source, Source::Folder(_)) && is_installed()) =>
            {
                self.pack(&source, session, output)?
            }
            _ => self.installed(session)?,
        };
        output
            .result(&verification, |out, palette| verification.write(&self.target, out, palette))?;
        note_left_out(&verification.left_out, output);
        if verification.problems.is_empty() && verification.signer.is_none() {
            output.note("It is not signed: the hashes show that it is complete, not who made it.");
        }
        let worst = verification
            .problems
            .iter()
            .map(|problem| problem.kind.exit())
            .max_by_key(|exit| *exit as u8);
        Ok(worst.map_or(ExitCode::SUCCESS, |exit| ExitCode::from(exit as u8)))
    }

    fn pack(
        &self,
        source: &Source,
        session: &Session,
        output: &Output,
    ) -> Result<Verification, Failure> {
        let trust = session.trust_store()?;
        let read = session.layers.config.read_options();
        let rules = Rules { trust: &trust, read: &read, allowed: &self.allow };
        let fetched = match source.fetch(&session.fetching(None)) {
            Ok(fetched) => fetched,
            Err(pack::source::SourceError::Content(pack::material::ArchiveError::Refused(
                refusal,
            ))) => {
                return Ok(Verification::failed(&[refusal]));
            }
            Err(error) => return Err(error.into()),
        };
        let pack = match check(fetched, &rules, output) {
            Ok(pack) => pack,
            Err(CheckError::Refused(refusals)) => return Ok(Verification::failed(&refusals)),
            Err(error) => return Err(error.into()),
        };
        let mut problems = Vec::new();
        if session.needs_signature(source)
            && let Err(refusal) = check_signature(&pack)
        {
            problems.push(Problem::from(&Refusal { entry: None, ..refusal }));
        }
        let scanner = Scanner::new();
        let (mut findings, mut omitted) = (Vec::new(), 0);
        for skill in &pack.skills {
            let report = scan(&scanner, &pack, skill).map_err(CheckError::from)?;
            omitted += report.omitted;
            let own = report.findings.into_iter();
            findings.extend(own.map(|finding| FoundIn { skill: skill.name().to_owned(), finding }));
        }
        Ok(Verification {
            findings,
            omitted,
            ok: problems.is_empty(),
            files: pack.files.clone(),
            problems,
            signer: pack.signer.clone(),
            origin: None,
            left_out: pack.material.left_out().to_vec(),
        })
    }

    fn installed(&self, session: &Session) -> Result<Verification, Failure> {
        let scope = session.scope_of(&self.target, self.scope)?;
        let root = session.install_root(scope)?;
        let lockfile = root.lockfile()?;
        let Some(locked) = lockfile.get(&self.target) else { return self.unlocked(session) };
        let state = audit(&root, locked, &session.trust_store()?).map_err(|error| {
            Failure::new(
                Exit::Refused,
                "NotAsInstalled",
                format!("cannot read `{}`: {error}", root.skill(&self.target).display()),
            )
            .hint("install it again")
        })?;
        let problems: Vec<Problem> = state.refusals.iter().map(Problem::of_installed).collect();
        let report = scan_folder(&Scanner::new(), &root.skill(&self.target))?;
        Ok(Verification {
            ok: problems.is_empty(),
            files: state.files,
            problems,
            signer: locked.signer.clone(),
            origin: Some(locked.source.clone()),
            omitted: report.omitted,
            findings: self.findings(report),
            left_out: Vec::new(),
        })
    }

    /// A skill that was not installed by us has nothing to be held to; its hashes are still worth seeing.
    fn unlocked(&self, session: &Session) -> Result<Verification, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        let entry = session.find(&index, &self.target)?;
        let files = Files::open(entry)?.content().records();
        let report = scan_entry(&Scanner::new(), entry)?;
        Ok(Verification {
            ok: true,
            files,
            problems: Vec::new(),
            signer: None,
            origin: None,
            omitted: report.omitted,
            findings: self.findings(report),
            left_out: Vec::new(),
        })
    }

    fn findings(&self, report: Report) -> Vec<FoundIn> {
        let found = report.findings.into_iter();
        found.map(|finding| FoundIn { skill: self.target.clone(), finding }).collect()
    }
}

impl Verification {
    fn failed(refusals: &[Refusal]) -> Self {
        let problems = refusals.iter().map(Problem::from).collect();
        Self {
            ok: false,
            files: Vec::new(),
            problems,
            signer: None,
            origin: None,
            findings: Vec::new(),
            omitted: 0,
            left_out: Vec::new(),
        }
    }

    fn write(
        &self,
        target: &str,
        out: &mut dyn std::io::Write,
        Palette { bold, dim, good, bad, .. }: Palette,
    ) -> std::io::Result<()> {
        for problem in &self.problems {
            let entry = problem
                .entry
                .as_deref()
                .map(|entry| format!("{}: ", for_terminal(entry)))
                .unwrap_or_default();
            writeln!(
                out,
                "{bad}{}{bad:#}  {entry}{}",
                problem.code,
                for_terminal(&problem.message)
            )?;
            writeln!(out, "  {dim}{}{dim:#}", problem.hint)?;
        }
        for FoundIn { skill, finding } in &self.findings {
            let place = format!("{skill}/{}:{}", finding.file, finding.line);
            let severity = finding.severity.as_str();
            writeln!(
                out,
                "{severity}  {}  {}",
                for_terminal(&place),
                for_terminal(&finding.explanation)
            )?;
        }
        if self.omitted > 0 {
            writeln!(out, "{} of the same kinds", count(self.omitted, "more finding"))?;
        }
        for file in &self.files {
            writeln!(out, "{dim}{}{dim:#}  {}", file.sha256, for_terminal(&file.path))?;
        }
        if self.ok {
            let signer = self.signer.as_ref().map(|signer| {
                format!(", signed by {} ({})", for_terminal(&signer.name), signer.key)
            });
            let files = count(self.files.len(), "file");
            writeln!(
                out,
                "{good}intact{good:#}  {bold}{}{bold:#}  {files}{}",
                for_terminal(target),
                signer.unwrap_or_default()
            )?;
        }
        Ok(())
    }
}
