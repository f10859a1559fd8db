//! The folder of one run of a suite: each result as soon as it is there, the records, the reports.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use agent::journal::RunId;
use eval::report::{Report, html, junit, markdown};
use eval::runner::CaseResult;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::session::Session;

const RESULTS: &str = "results.jsonl";

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    Json,
    Md,
    Html,
    Junit,
}

impl Format {
    fn file(self) -> &'static str {
        match self {
            Self::Json => "report.json",
            Self::Md => "report.md",
            Self::Html => "report.html",
            Self::Junit => "report.xml",
        }
    }
}

/// The folder of one run of a suite.
pub(super) struct Results {
    folder: PathBuf,
}

impl Results {
    /// A new folder below `.agent/eval-runs`.
    pub(super) fn create(session: &Session, now: jiff::Timestamp) -> Result<Self, Failure> {
        let mut name = RunId::new(now, std::process::id());
        let all = folder(session);
        fs::create_dir_all(&all)?;
        while let Err(error) = fs::create_dir(all.join(name.as_str())) {
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(error.into());
            }
            name = name.next();
        }
        Ok(Self { folder: all.join(name.as_str()) })
    }

    /// The folder of an earlier run, by its name or `last`.
    pub(super) fn open(session: &Session, name: &str) -> Result<Self, Failure> {
        let all = folder(session);
        let found = match name {
            "last" => newest(&all),
            name => name.parse::<RunId>().ok().map(|id| all.join(id.as_str())),
        };
        match found.filter(|folder| folder.is_dir()) {
            Some(folder) => Ok(Self { folder }),
            None => {
                let message = format!("there is no run of a suite called `{name}`");
                Err(Failure::new(Exit::Failed, "RunNotFound", message)
                    .hint("look into .agent/eval-runs, or leave --resume out"))
            }
        }
    }

    /// Makes it ready for more results, and answers with the place for their records.
    pub(super) fn begin(&self) -> std::io::Result<PathBuf> {
        end_last_line(&self.folder.join(RESULTS))?;
        let records = self.folder.join("records");
        fs::create_dir_all(&records)?;
        Ok(records)
    }

    /// What is done already; a line that was cut off is not.
    pub(super) fn read(&self) -> Vec<CaseResult> {
        let Ok(file) = File::open(self.folder.join(RESULTS)) else { return Vec::new() };
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
    }

    /// Adds a result; whoever stops the program later finds it.
    pub(super) fn add(&self, result: &CaseResult) -> std::io::Result<()> {
        let mut line = serde_json::to_string(result)?;
        line.push('\n');
        let mut file =
            OpenOptions::new().create(true).append(true).open(self.folder.join(RESULTS))?;
        file.write_all(line.as_bytes())
    }

    /// Writes the reports that are wanted, and answers with their paths.
    pub(super) fn report(
        &self,
        report: &Report,
        formats: &[Format],
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut written = Vec::new();
        for format in formats {
            let path = self.folder.join(format.file());
            match format {
                Format::Json => write_json(&path, report)?,
                Format::Md => fs::write(&path, markdown(report))?,
                Format::Html => fs::write(&path, html(report))?,
                Format::Junit => fs::write(&path, junit(report))?,
            }
            written.push(path);
        }
        if let Some(benchmark) = &report.benchmark {
            let path = self.folder.join("benchmark.json");
            write_json(&path, benchmark)?;
            written.push(path);
        }
        Ok(written)
    }
}

/// Writes as it goes: the text of a large report need not fit into memory.
fn write_json(path: &Path, document: &impl Serialize) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    serde_json::to_writer_pretty(&mut file, document)?;
    writeln!(file)?;
    file.flush()
}

/// A line that was cut off must not swallow the next one.
fn end_last_line(file: &Path) -> std::io::Result<()> {
    match fs::read(file) {
        Ok(text) if text.last().is_some_and(|byte| *byte != b'\n') => {
            OpenOptions::new().append(true).open(file)?.write_all(b"\n")
        }
        _ => Ok(()),
    }
}

fn folder(session: &Session) -> PathBuf {
    session.surroundings.project().join(".agent/eval-runs")
}

/// Names sort by time.
fn newest(all: &Path) -> Option<PathBuf> {
    fs::read_dir(all).ok()?.flatten().map(|entry| entry.path()).max()
}
