//! `skillful scan`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use basics::inner_path::InnerPath;
use basics::skill::Source;
use basics::text::for_terminal;
use clap::ValueEnum;
use pack::scan::{File, Finding, FolderError, Report, Scanner, Search, Severity, sarif};
use schemars::JsonSchema;
use serde::Serialize;
use skill::index::Entry;
use skill::load::{Files, LoadError};

use crate::failure::{Exit, Failure};
use crate::output::fit::wrap;
use crate::output::{Output, Palette, count};
use crate::session::Session;

/// Look for dangerous content in skills
///
/// The scan looks for instructions against the user, hidden characters, code that reads or sends your
/// credentials, downloads that run at once, and similar patterns. A report without findings proves
/// nothing. It says what the scan read and what it could not read; unreadable files are findings of high
/// severity.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful scan ./my-skill\n  skillful scan skills/ --fail-on medium\n  skillful scan csv-report --format sarif > scan.sarif"
)]
pub(crate) struct Scan {
    /// Skills (by path or name), or folders that contain skills
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Choose the format of the report
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Exit with 1 if a finding has this severity or more: info, low, medium, high or critical
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
    /// Folders that were searched for skills.
    searched: Vec<Searched>,
}

/// How far a folder was searched for skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Searched {
    /// The folder.
    path: String,
    /// Skills that were found.
    skills: usize,
    /// Folders that were searched, with itself.
    folders: usize,
    /// Files that belong to no skill and were not looked at.
    other_files: usize,
    /// What could not be searched.
    #[serde(flatten)]
    report: Report,
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
            let reports = scanned.reports().map(|(path, report)| {
                let below = Path::new(path).strip_prefix(base).ok().and_then(Path::to_str);
                (below.unwrap_or(path), report)
            });
            output.result(&sarif(env!("CARGO_PKG_VERSION"), reports), |_, _| Ok(()))?;
        } else {
            let width = output.width();
            output.result(&scanned, |out, palette| {
                scanned.skills.iter().try_for_each(|skill| skill.write(width, out, palette))?;
                scanned.searched.iter().try_for_each(|search| search.write(width, out, palette))
            })?;
        }
        output.note(
            "A scan knows only some attacks. The sandbox, not the scan, protects you from a skill.",
        );
        Ok(if scanned.failed { ExitCode::from(Exit::Failed as u8) } else { ExitCode::SUCCESS })
    }

    fn scan(&self, session: &Session) -> Result<Scanned, Failure> {
        let scanner = Scanner::new();
        let (skills, searched) = (Vec::new(), Vec::new());
        let mut scanned = Scanned { fail_on: self.fail_on, failed: false, skills, searched };
        for path in &self.paths {
            scanned.add(&scanner, session, path)?;
        }
        let failed = scanned.reports().any(|(_, report)| report.worst() >= Some(self.fail_on));
        Ok(Scanned { failed, ..scanned })
    }
}

impl Scanned {
    /// Looks at the skills at a path, or at the one of that name.
    fn add(&mut self, scanner: &Scanner, session: &Session, path: &Path) -> Result<(), Failure> {
        let place = session.surroundings.working_directory.join(path);
        // What a link of that name leads to is not what was asked about.
        let folder = match place.parent() {
            Some(folder) if path.ends_with("SKILL.md") && place.symlink_metadata().is_ok() => {
                folder
            }
            _ => &place,
        };
        let Ok(folder) = folder.canonicalize() else {
            session.finish_interrupted_installs();
            let index = session.index()?;
            let entry = session.find(&index, &path.to_string_lossy())?;
            self.skills.push(ScannedSkill::at(&entry.path, scan_entry(scanner, entry)?));
            return Ok(());
        };
        let none = || {
            let message = format!("there is no skill at `{}`", path.display());
            Failure::new(Exit::Failed, "SkillNotFound", message)
                .hint("give a folder that contains a SKILL.md, or a skill from `skillful list`")
        };
        if !folder.is_dir() {
            return Err(none());
        }
        let search = scanner.find_skills(&folder).map_err(unreadable)?;
        // Where something could not be searched, that is the answer.
        if search.skills.is_empty() && search.report.findings.is_empty() {
            return Err(none());
        }
        for skill in &search.skills {
            let report = scanner.scan_folder(skill);
            let report = report.unwrap_or_else(|error| scanner.unreadable(&error));
            self.skills.push(ScannedSkill::at(skill, report));
        }
        if search.skills != [folder.as_path()] {
            self.searched.push(Searched::new(&folder, search));
        }
        Ok(())
    }

    /// Every report, with the folder it speaks of.
    fn reports(&self) -> impl Iterator<Item = (&str, &Report)> {
        let skills = self.skills.iter().map(|skill| (skill.path.as_str(), &skill.report));
        skills.chain(self.searched.iter().map(|search| (search.path.as_str(), &search.report)))
    }
}

/// Looks through the skill in a folder.
pub(crate) fn scan_folder(scanner: &Scanner, folder: &Path) -> Result<Report, Failure> {
    scanner.scan_folder(folder).map_err(unreadable)
}

fn unreadable(error: FolderError) -> Failure {
    Failure::from_error(Exit::Failed, "IOError", &error).hint("check the folder's permissions")
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
        let Palette { bold, .. } = palette;
        writeln!(out, "{bold}{}{bold:#}", for_terminal(&self.path))?;
        write_findings(&self.report, width, out, palette)?;
        let Report { findings, omitted, looked_at, .. } = &self.report;
        let found = count(findings.len() + omitted, "finding");
        let (files, bytes) = (count(looked_at.files, "file"), looked_at.bytes);
        writeln!(out, "  {found}; scanned {files}, {bytes} bytes")?;
        write_not_looked_at(&self.report, width, out)
    }
}

impl Searched {
    fn new(path: &Path, search: Search) -> Self {
        Self {
            path: path.to_string_lossy().into_owned(),
            skills: search.skills.len(),
            folders: search.folders,
            other_files: search.other_files,
            report: search.report,
        }
    }

    fn write(
        &self,
        width: Option<usize>,
        out: &mut dyn Write,
        palette: Palette,
    ) -> std::io::Result<()> {
        let Palette { bold, .. } = palette;
        writeln!(out, "{bold}{}{bold:#}", for_terminal(&self.path))?;
        write_findings(&self.report, width, out, palette)?;
        let (skills, folders) = (count(self.skills, "skill"), count(self.folders, "folder"));
        writeln!(out, "  {skills} in {folders}")?;
        if self.other_files > 0 {
            let files = count(self.other_files, "file");
            writeln!(out, "  not scanned: {files} outside of skills")?;
        }
        write_not_looked_at(&self.report, width, out)
    }
}

fn write_findings(
    report: &Report,
    width: Option<usize>,
    out: &mut dyn Write,
    palette: Palette,
) -> std::io::Result<()> {
    report.findings.iter().try_for_each(|found| write(found, width, out, palette))?;
    if report.omitted > 0 {
        let (dim, more) = (palette.dim, count(report.omitted, "more finding"));
        writeln!(out, "  {dim}{more} of the same kinds{dim:#}")?;
    }
    Ok(())
}

fn write_not_looked_at(
    report: &Report,
    width: Option<usize>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for skipped in &report.not_looked_at {
        let (file, reason) = (for_terminal(&skipped.file), for_terminal(&skipped.reason));
        let text = format!("not scanned: {file} ({reason})");
        writeln!(out, "  {}", wrap(&text, width, 2))?;
    }
    match report.more_not_looked_at {
        0 => Ok(()),
        more => writeln!(out, "  not scanned: {more} more"),
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
            let text = wrap(&for_terminal(text), width, 12);
            writeln!(out, "            {style}{text}{style:#}")?;
        }
    }
    Ok(())
}
