//! `skillful eval judge`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent::event::Event;
use basics::text::for_terminal;
use eval::case::{self, Located};
use eval::judge::{Evidence, Files, Verdict, judge};
use eval::left::Left;
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Check a recorded run against a case
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval judge last --case .agent/evals/csv/basic/case.json\n  skillful eval judge ./other/events.jsonl --case cases.json --id basic"
)]
pub(super) struct Judge {
    /// A run of this project, a run's folder, or a file of events
    run: String,
    /// Read the case from this file
    #[arg(long, value_name = "FILE")]
    case: PathBuf,
    /// Choose a case, if the file has several
    #[arg(long)]
    id: Option<String>,
}

/// What the judges say.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Judged {
    passed: bool,
    #[serde(flatten)]
    verdict: Verdict,
}

impl Judge {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let here = &session.surroundings.working_directory;
        let cases = case::read_file(&here.join(&self.case))?;
        let located = self.chosen(&cases)?;
        let (events, folder) = self.events(session)?;
        let files = folder.map(|run| Left::open(here, &run)).transpose()?;
        let expected = located.expected_contents().map_err(|error| {
            Failure::from_error(Exit::Refused, "CaseUnfit", &error)
                .hint("`expected/` may contain only regular files")
        })?;
        let evidence = Evidence {
            events: &events,
            expected: &expected,
            files: files.as_ref().map(|files| files as &dyn Files),
            touched: None,
            is_live: false,
        };
        let verdict = judge(&located.case, &evidence);
        let judged = Judged { passed: verdict.passed(), verdict };
        output.result(&judged, |out, palette| print(&judged, out, palette))?;
        Ok(if judged.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn chosen<'c>(&self, cases: &'c [Located]) -> Result<&'c Located, Failure> {
        let wanted = |located: &&Located| self.id.as_ref().is_none_or(|id| *id == located.case.id);
        let mut found = cases.iter().filter(wanted);
        match (found.next(), found.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => Err(Failure::new(Exit::Usage, "UnknownCase", "the file has no such case")),
            (Some(_), Some(_)) => {
                Err(Failure::new(Exit::Usage, "UnknownCase", "the file has several cases"))
            }
        }
        .map_err(|failure| {
            let ids: Vec<&str> = cases.iter().map(|located| located.case.id.as_str()).collect();
            failure.hint(format!("choose one with --id: {}", ids.join(", ")))
        })
    }

    /// The events, and the run's folder where it is one of this project.
    fn events(&self, session: &Session) -> Result<(Vec<Event>, Option<PathBuf>), Failure> {
        let path = session.surroundings.working_directory.join(&self.run);
        if path.is_file() {
            return Ok((read_lines(&path)?, None));
        }
        let (folder, own) = match path.join("events.jsonl").is_file() {
            true => (path, false),
            false => (session.run_folder(&self.run)?, true),
        };
        let events = runtime::journal::read(&folder)?;
        Ok((events, own.then_some(folder)))
    }
}

fn read_lines(path: &Path) -> Result<Vec<Event>, Failure> {
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| {
                let message = format!("{}:{}: {error}", path.display(), number + 1);
                Failure::new(Exit::Usage, "InvalidEvents", message)
                    .hint("each line must be an event, as `skillful schema event` shows")
            })
        })
        .collect()
}

fn print(judged: &Judged, out: &mut dyn std::io::Write, palette: Palette) -> std::io::Result<()> {
    let Palette { dim, good, bad, .. } = palette;
    if let Some(error) = &judged.verdict.error {
        writeln!(out, "{bad}✗{bad:#} {}", for_terminal(error))?;
    }
    for check in &judged.verdict.checks {
        let (style, mark) = if check.passed { (good, "✓") } else { (bad, "✗") };
        let dimension = check.dimension.as_str();
        write!(out, "{style}{mark}{style:#} {dimension:<10} {}", for_terminal(&check.message))?;
        if !check.events.is_empty() {
            let events: Vec<String> = check.events.iter().map(u64::to_string).collect();
            write!(out, " {dim}(event {}){dim:#}", events.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
