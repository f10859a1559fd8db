//! `skillful scan`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use pack::scan::{File, Finding, Report, Scanner, Severity, sarif, skill_folders};
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::Entry;
use skill::inner_path::InnerPath;
use skill::load::{Files, LoadError};
use skill::roots::Source;
use skill::text::for_terminal;

use crate::failure::{Exit, Failure};
use crate::output::fit::wrapped;
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Look through skills for what should make you stop
///
/// Few rules of high precision: instructions against the user, hidden characters, credentials read or
/// sent away, downloads that are run at once, and the like. A scan proves nothing: the report says what
/// was looked at and what was not.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful scan ./my-skill\n  skillful scan skills/ --fail-on medium\n  skillful scan csv-report --format sarif > scan.sarif"
)]
pub(crate) struct Scan {
    /// Skills by path or by name, or folders that hold skills
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// How to print the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// End with exit code 1 from this severity on: info, low, medium, high or critical
    #[arg(long, value_name = "SEVERITY", default_value = "high", value_parser = parse_severity)]
    fail_on: Severity,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Text,
    Json,
    Sarif,
}

/// What was found in skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Scanned {
    /// From which severity on a finding counts as a failure.
    fail_on: Severity,
    /// Whether there is such a finding.
    failed: bool,
    skills: Vec<ScannedSkill>,
}

/// What was found in one skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ScannedSkill {
    /// Its folder.
    path: String,
    #[serde(flatten)]
    report: Report,
}

fn parse_severity(text: &str) -> Result<Severity, String> {
    let found = Severity::ALL.into_iter().find(|severity| severity.as_str() == text);
    found.ok_or_else(|| format!("use one of {}", Severity::ALL.map(Severity::as_str).join(", ")))
}

impl Scan {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let json = output.json || self.format != Format::Text;
        let output = Output { json, ..*output };
        let scanned = match self.scan(session) {
            Ok(scanned) => scanned,
            Err(failure) => return Ok(output.fail(&failure)),
        };
        if self.format == Format::Sarif {
            // Code hosts know files by their path below the folder the program was started in.
            let base = &session.surroundings.working_directory;
            let reports = scanned.skills.iter().map(|skill| {
                let below = Path::new(&skill.path).strip_prefix(base).ok().and_then(Path::to_str);
                (below.unwrap_or(&skill.path), &skill.report)
            });
            output.result(&sarif(env!("CARGO_PKG_VERSION"), reports), |_, _| Ok(()))?;
        } else {
            let width = output.width();
            output.result(&scanned, |out, palette| {
                scanned.skills.iter().try_for_each(|skill| skill.write(width, out, palette))
            })?;
        }
        output.note(
            "A scan knows some patterns of attacks and no others; the sandbox is what contains a skill.",
        );
        Ok(if scanned.failed { ExitCode::from(Exit::Failed as u8) } else { ExitCode::SUCCESS })
    }

    fn scan(&self, session: &Session) -> Result<Scanned, Failure> {
        let scanner = Scanner::new();
        let mut skills = Vec::new();
        for path in &self.paths {
            skills.extend(scan_path(&scanner, session, path)?);
        }
        let failed = skills.iter().any(|skill| skill.report.worst() >= Some(self.fail_on));
        Ok(Scanned { fail_on: self.fail_on, failed, skills })
    }
}

/// The skills at a path, or the one of that name.
fn scan_path(
    scanner: &Scanner,
    session: &Session,
    path: &Path,
) -> Result<Vec<ScannedSkill>, Failure> {
    let place = session.surroundings.working_directory.join(path);
    let Ok(place) = place.canonicalize() else {
        let index = session.index()?;
        let entry = session.find(&index, &path.to_string_lossy())?;
        return Ok(vec![ScannedSkill::at(&entry.path, scan_entry(scanner, entry)?)]);
    };
    let folder = match place.parent() {
        Some(folder) if place.ends_with("SKILL.md") => folder,
        _ => &place,
    };
    let folders = skill_folders(folder);
    if folders.is_empty() {
        let message = format!("there is no skill at `{}`", path.display());
        return Err(Failure::new(Exit::Failed, "SkillNotFound", message)
            .hint("name a folder that holds a SKILL.md, or a skill that `skillful list` shows"));
    }
    let scanned = |folder: &PathBuf| Ok(ScannedSkill::at(folder, scan_folder(scanner, folder)?));
    folders.iter().map(scanned).collect()
}

/// Looks through the skill in a folder.
pub(crate) fn scan_folder(scanner: &Scanner, folder: &Path) -> Result<Report, Failure> {
    scanner.scan_folder(folder).map_err(|error| {
        Failure::from_error(Exit::Failed, "IOError", &error).hint("check the folder's permissions")
    })
}

/// Looks through a skill of the index.
pub(crate) fn scan_entry(scanner: &Scanner, entry: &Entry) -> Result<Report, Failure> {
    if entry.source != Source::Builtin {
        return scan_folder(scanner, &entry.path);
    }
    let files = Files::open(entry)?;
    let mut scan = scanner.begin();
    for file in files.list() {
        let path = InnerPath::new(&file.path).map_err(LoadError::from)?;
        let bytes = files.read(&path, file.size)?;
        let executable = bytes.starts_with(b"#!");
        scan.file(File { path: path.as_str(), bytes: &bytes, executable });
    }
    Ok(scan.finish())
}

impl ScannedSkill {
    fn at(path: &Path, report: Report) -> Self {
        Self { path: path.to_string_lossy().into_owned(), report }
    }

    fn write(
        &self,
        width: Option<usize>,
        out: &mut dyn Write,
        palette: Palette,
    ) -> std::io::Result<()> {
        let Palette { bold, dim, .. } = palette;
        writeln!(out, "{bold}{}{bold:#}", for_terminal(&self.path))?;
        self.report.findings.iter().try_for_each(|found| write(found, width, out, palette))?;
        if self.report.omitted > 0 {
            let more = count(self.report.omitted, "more finding");
            writeln!(out, "  {dim}{more} of the same kinds{dim:#}")?;
        }
        let Report { findings, looked_at, not_looked_at, .. } = &self.report;
        let found = count(findings.len() + self.report.omitted, "finding");
        let (files, bytes) = (count(looked_at.files, "file"), looked_at.bytes);
        writeln!(out, "  {found}; looked at {files}, {bytes} bytes")?;
        for skipped in not_looked_at {
            let (file, reason) = (for_terminal(&skipped.file), for_terminal(&skipped.reason));
            let text = format!("not looked at: {file} ({reason})");
            writeln!(out, "  {}", wrapped(&text, width, 2))?;
        }
        Ok(())
    }
}

fn write(
    finding: &Finding,
    width: Option<usize>,
    out: &mut dyn Write,
    Palette { bold, dim, warn, bad, .. }: Palette,
) -> std::io::Result<()> {
    let style = match finding.severity {
        Severity::High | Severity::Critical => bad,
        Severity::Medium => warn,
        Severity::Info | Severity::Low => dim,
    };
    let place = format!("{}:{}:{}", for_terminal(&finding.file), finding.line, finding.column);
    let (severity, rule) = (finding.severity.as_str(), finding.rule);
    writeln!(out, "  {style}{severity:8}{style:#}  {bold}{rule}{bold:#}  {place}")?;
    let excerpt = for_terminal(&finding.excerpt);
    let hint = format!("hint: {}", finding.hint);
    for (text, style) in
        [(excerpt.as_ref(), Default::default()), (finding.explanation.as_str(), dim), (&hint, dim)]
    {
        if !text.is_empty() {
            let text = wrapped(&for_terminal(text), width, 12);
            writeln!(out, "            {style}{text}{style:#}")?;
        }
    }
    Ok(())
}
