//! The folder of one run of a suite: each result as soon as it is there, the records, the reports.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use basics::run_id::RunId;
use eval::report::{Report, html, junit, markdown};
use eval::runner::CaseResult;
use runtime::journal::Owner;
use serde::Serialize;
use state::{Access, Folder, StateError};

use crate::failure::{Exit, Failure};
use crate::session::Session;

const RESULTS: &str = "results.jsonl";
/// A signature for each of them: a clone can bring results that nobody had here.
const SEALS: &str = "results.seal";
/// A hundred thousand results with what was wrong in each.
const LARGEST: u64 = 1 << 30;

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
    folder: Folder,
    /// Who signs results; without a home nobody does, and none is taken up again.
    owner: Option<Owner>,
}

impl Results {
    /// A new folder below `.agent/eval-runs`.
    pub(super) fn create(session: &Session, now: jiff::Timestamp) -> Result<Self, Failure> {
        let mut name = runtime::journal::name_run(now, std::process::id());
        let all = Folder::create(&folder(session))?;
        loop {
            match all.new_folder(name.as_str(), Access::Mask) {
                Err(error) if error.is_taken() => name = name.next(),
                made => return Ok(Self { folder: made?, owner: session.new_owner().ok() }),
            }
        }
    }

    /// The folder of an earlier run, by its name or `last`.
    pub(super) fn open(session: &Session, name: &str) -> Result<Self, Failure> {
        let missing = || {
            let message = format!("there is no eval run `{name}`");
            Failure::new(Exit::Failed, "RunNotFound", message)
                .hint("see .agent/eval-runs for names, or leave out --resume")
        };
        let open = || -> Result<Option<Folder>, StateError> {
            let all = Folder::open(&folder(session))?;
            let id = if name == "last" { newest(&all)? } else { name.parse().ok() };
            id.map(|id: RunId| all.folder(id.as_str())).transpose()
        };
        match open() {
            Ok(Some(folder)) => Ok(Self { folder, owner: session.owner()? }),
            Ok(None) => Err(missing()),
            Err(error) if error.is_missing() => Err(missing()),
            Err(error) => Err(error.into()),
        }
    }

    /// Makes it ready for more results, and answers with the place for their records.
    pub(super) fn begin(&self) -> std::io::Result<PathBuf> {
        self.end_last_line()?;
        Ok(self.folder.create_folder("records", Access::Mask)?.real_path()?)
    }

    /// What was done here already; neither a line that was cut off, nor one that nobody here has signed.
    pub(super) fn read(&self) -> Vec<CaseResult> {
        let read = |name: &str| -> Option<String> {
            String::from_utf8(self.folder.read(name, LARGEST).ok()?).ok()
        };
        let (Some(owner), Some(text), Some(seals)) = (&self.owner, read(RESULTS), read(SEALS))
        else {
            return Vec::new();
        };
        let seals: HashSet<&str> = seals.lines().collect();
        let purpose = self.purpose();
        let is_own = |line: &&str| seals.contains(owner.sign_text(&purpose, line).as_str());
        let lines = text.lines().filter(is_own);
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Adds a result; whoever stops the program later finds it.
    pub(super) fn add(&self, result: &CaseResult) -> std::io::Result<()> {
        let line = serde_json::to_string(result)?;
        if let Some(owner) = &self.owner {
            let seal = owner.sign_text(&self.purpose(), &line) + "\n";
            self.folder.append_or_create(SEALS)?.write_all(seal.as_bytes())?;
        }
        self.folder.append_or_create(RESULTS)?.write_all((line + "\n").as_bytes())
    }

    /// What is signed: the results of this run of a suite, and of no other.
    fn purpose(&self) -> String {
        let name = self.folder.path().file_name().unwrap_or_default().to_string_lossy();
        format!("eval run {name}")
    }

    /// A line that was cut off must not swallow the next one.
    fn end_last_line(&self) -> std::io::Result<()> {
        let mut file = match self.folder.open_to_append(RESULTS) {
            Err(error) if error.is_missing() => return Ok(()),
            opened => opened?,
        };
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    /// Writes the reports that are wanted, and answers with their paths.
    pub(super) fn report(
        &self,
        report: &Report,
        formats: &[Format],
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut written = Vec::new();
        for format in formats {
            let mut file = self.folder.create_anew(format.file())?;
            match format {
                Format::Json => write_json(file, report)?,
                Format::Md => file.write_all(markdown(report).as_bytes())?,
                Format::Html => file.write_all(html(report).as_bytes())?,
                Format::Junit => file.write_all(junit(report).as_bytes())?,
            }
            written.push(self.folder.path().join(format.file()));
        }
        if let Some(benchmark) = &report.benchmark {
            write_json(self.folder.create_anew("benchmark.json")?, benchmark)?;
            written.push(self.folder.path().join("benchmark.json"));
        }
        Ok(written)
    }
}

/// Writes as it goes: the text of a large report need not fit into memory.
fn write_json(file: File, document: &impl Serialize) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    serde_json::to_writer_pretty(&mut file, document)?;
    writeln!(file)?;
    file.flush()
}

fn folder(session: &Session) -> PathBuf {
    session.surroundings.project().join(".agent/eval-runs")
}

/// Names sort by time.
fn newest(all: &Folder) -> Result<Option<RunId>, StateError> {
    let names = all.names()?;
    Ok(names.iter().filter_map(|name| name.to_str()?.parse().ok()).max())
}
