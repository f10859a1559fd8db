//! `skillful eval triggers`

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use basics::text::for_terminal;
use eval::case::{self, Located, TriggerQuery, trigger_cases};
use eval::report::{About, Report, TriggerRate};
use eval::runner::{self, Job};
use eval::suite;
use schemars::JsonSchema;
use serde::Serialize;
use skill::load::check_trusted;

use super::folder::{SkillFolder, list_written};
use super::run::options;
use super::{gate, progress};
use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;
use runtime::runner::waits;

/// Measure whether a skill's description gets it chosen
///
/// Runs the queries in the skill's evals folder: some should choose the skill, some should not. The queries are split
/// into two halves, always in the same way. Improve the description with the first half; trust the result of the second.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval triggers csv-report\n  skillful eval triggers my-skill --model openai:gpt-5-mini --runs 3\n  skillful eval triggers my-skill --queries queries.json"
)]
pub(super) struct Triggers {
    /// The skill
    skill: String,
    /// Read queries from this JSON file: [{"query", "should_trigger"}, …]
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,
    /// Run every query with this model
    #[arg(long)]
    model: Option<String>,
    /// Use the model server at this address
    #[arg(long, value_name = "URL", requires = "model")]
    base_url: Option<String>,
    /// Run each query this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
}

/// How often queries chose a skill.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Rates {
    skill: String,
    /// To work with.
    train: Half,
    /// To believe.
    validation: Half,
}

/// One part of the queries.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Half {
    /// Queries whose rate is right.
    passed: usize,
    /// All of them.
    total: usize,
    queries: Vec<TriggerRate>,
}

impl Half {
    fn of(queries: Vec<TriggerRate>) -> Self {
        let passed = queries.iter().filter(|query| query.passed).count();
        Self { passed, total: queries.len(), queries }
    }
}

impl Triggers {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        let index = session.index()?;
        let entry = session.find(&index, &self.skill)?;
        if let Some(waiting) = entry.waiting {
            return Err(waits(&entry.name, waiting));
        }
        check_trusted(entry)?;
        let skills = [SkillFolder::of(entry)?];
        let here = &session.surroundings.working_directory;
        let found = match &self.queries {
            Some(file) => read_queries(&here.join(file))?,
            None => own_queries(&skills[0].path).ok_or_else(|| no_queries(&self.skill))?,
        };
        let passed = gate::pass(session, &found, &list_written(&skills))?;
        let cases = self.cases(&passed.cases, &skills[0].path, here);
        let jobs: Vec<Job<'_>> = cases
            .iter()
            .flat_map(|located| {
                (1..=self.runs).map(move |number| Job {
                    located,
                    number,
                    without: None,
                    fingerprint: None,
                })
            })
            .collect();
        let records = tempfile::tempdir()?;
        let stop = crate::commands::run::stop_on_interrupt()?;
        let bar = progress::bar(jobs.len(), output);
        let done = Mutex::new(Vec::new());
        let options = options(
            session,
            self.model.as_deref(),
            self.base_url.as_deref(),
            records.path().to_owned(),
        )?;
        runner::run(&jobs, &options, &stop, &|result| {
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
            bar.inc(1);
        });
        bar.finish_and_clear();
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(ExitCode::from(130));
        }
        let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(error) = done.iter().find_map(|result| result.error.as_ref()) {
            return Err(Failure::new(Exit::Failed, "RunError", error.clone()));
        }
        let trigger_threshold = session.layers.config.eval.trigger_threshold;
        let report = Report::new(About { trigger_threshold, ..About::default() }, done);
        let (train, validation) = eval::report::split(report.summary.trigger_rates);
        let rates = Rates {
            skill: self.skill.clone(),
            train: Half::of(train),
            validation: Half::of(validation),
        };
        output.result(&rates, |out, palette| print(&rates, out, palette))?;
        let right = rates.validation.passed == rates.validation.total
            && rates.train.passed == rates.train.total;
        Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// A case for each query. The skill is the one that was looked at with its own queries, else the one that is there.
    fn cases(&self, queries: &[Located], skill: &Path, here: &Path) -> Vec<Located> {
        let Some(first) = queries.first() else { return Vec::new() };
        let brought = first.case.setup.preinstall_skills.first().filter(|_| self.queries.is_none());
        let folder = brought.map_or_else(|| skill.to_owned(), |skill| first.resolve(skill, here));
        let query = |located: &Located| TriggerQuery {
            query: located.case.input.clone(),
            should_trigger: located.should_trigger.unwrap_or_default(),
        };
        let name = Some(self.skill.clone());
        let queries = queries.iter().map(query).collect();
        trigger_cases(&first.file, &first.sha256, name, Some(folder), queries)
    }
}

/// The first set of queries in a skill's evals.
fn own_queries(skill: &Path) -> Option<Vec<Located>> {
    let evals = skill.join("evals");
    let (found, _) = if evals.is_dir() { suite::find(&[evals]) } else { Default::default() };
    let mut files = found.chunk_by(|a, b| a.file == b.file);
    files.find(|cases| are_queries(cases)).map(<[Located]>::to_vec)
}

fn are_queries(cases: &[Located]) -> bool {
    cases.iter().all(|located| located.should_trigger.is_some())
}

fn no_queries(skill: &str) -> Failure {
    let message = format!("`{skill}` has no trigger queries");
    Failure::new(Exit::Usage, "NoCases", message)
        .hint("add evals/triggers.json to its folder, or give a file with --queries")
}

fn read_queries(file: &Path) -> Result<Vec<Located>, Failure> {
    let hint = "write [{\"query\": \"…\", \"should_trigger\": true}, …]";
    let cases = case::read_file(file).map_err(|error| Failure::of(&error).hint(hint))?;
    match are_queries(&cases) {
        true => Ok(cases),
        false => {
            let message = format!("{}: this file has no trigger queries", file.display());
            Err(Failure::new(Exit::Usage, "InvalidCase", message).hint(hint))
        }
    }
}

fn print(rates: &Rates, out: &mut dyn Write, palette: Palette) -> std::io::Result<()> {
    let Palette { bold, dim, good, bad, .. } = palette;
    for (name, half) in [("training", &rates.train), ("validation", &rates.validation)] {
        writeln!(out, "{bold}{name}{bold:#} {} of {} right", half.passed, half.total)?;
        for query in &half.queries {
            let (style, mark) = if query.passed { (good, "✓") } else { (bad, "✗") };
            let wanted = if query.should_trigger { "yes" } else { "no " };
            writeln!(
                out,
                "  {style}{mark}{style:#} {:.2} {dim}{wanted}{dim:#} {}",
                query.rate,
                for_terminal(&query.query)
            )?;
        }
    }
    Ok(())
}
