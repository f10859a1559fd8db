//! `skillful eval run`

use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eval::case::Located;
use eval::fingerprint::Fingerprints;
use eval::regressions::Changes;
use eval::report::{About, Report};
use eval::runner::{self, CaseResult, Grader, Job, Options};
use eval::suite;
use state::Folder;

use super::folder::{self, SkillFolder};
use super::plan::Plan;
use super::results::{Format, Results};
use super::{compared, gate, progress, settings, summary};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;
use runtime::plain_file::read_plain;

/// Run cases and report the results
///
/// Each case runs in its own new folder and home. Without --model you need no network: the case has scripted replies,
/// or the offline planner decides. A project's cases run only after you trust them (`skillful trust project`). They run
/// in the sandbox and cannot loosen your settings.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval run\n  skillful eval run .agent/evals/csv --report md,html\n  skillful eval run my-skill --model openai:gpt-5-mini --runs 3\n  skillful eval run my-skill --with-without my-skill --model openai:gpt-5-mini\n  skillful eval run --baseline main.json --fail-under 0.95\n  skillful eval run --resume last"
)]
pub(super) struct Run {
    /// Files, folders or skills with cases [default: .agent/evals]
    paths: Vec<PathBuf>,
    /// Run every case with this model
    #[arg(long)]
    model: Option<String>,
    /// Use the model server at this address
    #[arg(long, value_name = "URL", requires = "model")]
    base_url: Option<String>,
    /// Let this model judge assertions [default: the one in --model]
    #[arg(long, value_name = "MODEL")]
    grader: Option<String>,
    /// Run each case this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Run this many cases at the same time
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Run each case with and without this skill, and compare
    #[arg(long, value_name = "SKILL")]
    with_without: Option<String>,
    /// Fail if a case passes less often than in this earlier report.json
    #[arg(long, value_name = "REPORT")]
    baseline: Option<PathBuf>,
    /// Write reports in these formats
    #[arg(long, value_enum, value_delimiter = ',', default_value = "json")]
    report: Vec<Format>,
    /// Fail if the pass rate is below this number, from 0 to 1
    #[arg(long, value_name = "RATE", default_value_t = 1.0, value_parser = rate)]
    fail_under: f64,
    /// Continue an earlier run of the suite: its name, or `last`
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// List the cases, but run none
    #[arg(long)]
    dry_run: bool,
}

impl Run {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let baseline =
            self.baseline.as_deref().map(|path| read_report(session, path)).transpose()?;
        let (paths, skills) = self.paths(session)?;
        let (found, problems) = suite::find(&paths);
        if found.is_empty() && problems.is_empty() {
            return Err(Failure::new(Exit::Usage, "NoCases", "there are no cases")
                .hint("`skillful eval new SKILL` creates a case"));
        }
        settings::check(&found)?;
        let passed = match self.dry_run {
            true => None,
            false => Some(gate::pass(session, &found, &folder::list_written(&skills))?),
        };
        let cases = passed.as_ref().map_or(found.as_slice(), |passed| &passed.cases);
        if let Some(skill) = &self.with_without {
            compared::check(session, skill, cases)?;
        }
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        let earlier = self.resume.as_ref().map(|name| Results::open(session, name)).transpose()?;
        let options = self.options(session)?;
        let done = earlier.as_ref().map(Results::read).unwrap_or_default();
        same_suite(cases, &done)?;
        let (done, jobs) = self.left(cases, done, &options);
        if self.dry_run {
            return Plan::of(&jobs, problems).print(output);
        }
        let results = match earlier {
            Some(results) => results,
            None => Results::create(session, jiff::Timestamp::now())?,
        };
        let options = Options { records: results.begin()?, ..options };
        let stop = crate::commands::run::stop_on_interrupt()?;
        let all = carry_out(&jobs, done, &options, &results, &stop, output)?;
        let interrupted = stop.load(Ordering::Relaxed);
        let about = About {
            created: jiff::Timestamp::now().to_string(),
            model: self.model.clone(),
            problems,
            compared: self.with_without.as_deref(),
            trigger_threshold: session.layers.config.eval.trigger_threshold,
        };
        let mut report = Report::new(about, all);
        report.changes = baseline.map(|before| Changes::between(&before.results, &report.results));
        let written = results.report(&report, &self.report)?;
        output.result(&report, |out, palette| summary::print(&report, out, palette))?;
        written.iter().for_each(|path| output.note(&format!("Written: {}", path.display())));
        if interrupted {
            output.note("Interrupted. `skillful eval run --resume last` runs the rest.");
            return Ok(ExitCode::from(130));
        }
        Ok(self.verdict(&report))
    }

    fn verdict(&self, report: &Report) -> ExitCode {
        let worse = report.changes.as_ref().is_some_and(|changes| !changes.regressions.is_empty());
        let too_low = report.summary.pass_rate < self.fail_under;
        if worse || too_low || !report.problems.is_empty() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        }
    }

    /// Results that are there already, and what is left to do.
    fn left<'c>(
        &'c self,
        cases: &'c [Located],
        done: Vec<CaseResult>,
        options: &Options,
    ) -> (Vec<CaseResult>, Vec<Job<'c>>) {
        let named =
            done.into_iter().filter_map(|result| Some((result.fingerprint.clone()?, result)));
        let mut kept: HashMap<String, CaseResult> = named.collect();
        let (mut done, mut jobs) = (Vec::new(), Vec::new());
        let mut fingerprints = Fingerprints::new(options);
        for job in self.jobs(cases) {
            let fingerprint = fingerprints.of(job.located, job.number, job.without);
            // What changed since has another fingerprint, and is run again.
            match fingerprint.as_ref().and_then(|fingerprint| kept.remove(fingerprint)) {
                Some(result) => done.push(result),
                None => jobs.push(Job { fingerprint, ..job }),
            }
        }
        (done, jobs)
    }

    fn jobs<'c>(&'c self, cases: &'c [Located]) -> Vec<Job<'c>> {
        let without = self.with_without.as_deref();
        let variants = std::iter::once(None).chain(without.map(Some));
        let each = |located: &'c Located| {
            let variants = variants.clone();
            (1..=self.runs).flat_map(move |number| {
                variants.clone().map(move |without| Job {
                    located,
                    number,
                    without,
                    fingerprint: None,
                })
            })
        };
        cases.iter().flat_map(each).collect()
    }

    /// Records have no place yet.
    fn options(&self, session: &Session) -> Result<Options, Failure> {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(Options {
            // With a model of its own, a server is the bottleneck, not this machine.
            jobs: self.jobs.unwrap_or(cores).get(),
            // The offline planner cannot judge a sentence.
            grader: self.grader.as_ref().or(self.model.as_ref()).filter(|m| *m != "offline").map(
                |model| {
                    let (environment, config) = settings::handed_on(session, true);
                    Grader { model: reachable(session, model), environment, config }
                },
            ),
            ..options(session, self.model.as_deref(), self.base_url.as_deref(), PathBuf::new())?
        })
    }

    /// Paths as they are; what is no path may be the name of a skill.
    fn paths(&self, session: &Session) -> Result<(Vec<PathBuf>, Vec<SkillFolder>), Failure> {
        let here = &session.surroundings.working_directory;
        if self.paths.is_empty() {
            let evals = session.surroundings.project().join(".agent/evals");
            let found = match Folder::open(&evals) {
                Ok(_) => vec![evals],
                Err(error) if error.is_missing() => Vec::new(),
                Err(error) => return Err(error.into()),
            };
            return Ok((found, Vec::new()));
        }
        let (mut found, mut skills) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let own = here.join(path);
            if own.exists() {
                found.push(own);
                continue;
            }
            session.finish_interrupted_installs();
            let index = session.index()?;
            let entry = index.get(&path.to_string_lossy(), None).ok_or_else(|| {
                let message = format!("`{}` is neither a path nor a skill", path.display());
                Failure::new(Exit::Usage, "NoCases", message)
                    .hint("`skillful list` shows the skills")
            })?;
            let skill = SkillFolder::of(entry)?;
            found.push(skill.path.clone());
            skills.push(skill);
        }
        Ok((found, skills))
    }
}

/// Refuses to go on with a run of other cases: its report would lose them.
fn same_suite(cases: &[Located], done: &[CaseResult]) -> Result<(), Failure> {
    let names: HashSet<(&str, &str)> =
        cases.iter().map(|located| (located.suite.as_str(), located.case.id.as_str())).collect();
    let is_other = |one: &&CaseResult| !names.contains(&(one.suite.as_str(), one.id.as_str()));
    match done.iter().find(is_other) {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "that run had the case `{}/{}`, which is not among these cases",
                other.suite, other.id
            );
            Err(Failure::new(Exit::Usage, "OtherSuite", message)
                .hint("give the same paths as before, or start a new run without --resume"))
        }
    }
}

/// Runs what is left, and keeps each result as soon as it is there.
fn carry_out(
    jobs: &[Job<'_>],
    done: Vec<CaseResult>,
    options: &Options,
    results: &Results,
    stop: &AtomicBool,
    output: &Output,
) -> Result<Vec<CaseResult>, Failure> {
    let bar = progress::bar(jobs.len(), output);
    let failed = done.iter().filter(|result| !result.passed).count();
    let state = Mutex::new((done, failed, Ok(())));
    runner::run(jobs, options, stop, &|result| {
        let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Err(error) = results.add(&result) {
            state.2 = Err(error);
        }
        state.1 += usize::from(!result.passed);
        bar.set_message(format!("{} failed", state.1));
        bar.inc(1);
        state.0.push(result);
    });
    bar.finish_and_clear();
    let (done, _, written) = state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    written?;
    Ok(done)
}

/// What runs of cases have in common.
pub(super) fn options(
    session: &Session,
    model: Option<&str>,
    base_url: Option<&str>,
    records: PathBuf,
) -> Result<Options, Failure> {
    let model = model.map(|model| reachable(session, model));
    let (environment, config) = settings::handed_on(session, model.is_some());
    let program = std::env::current_exe()?;
    Ok(Options {
        program_id: settings::program_id(session, &program)?,
        program,
        arguments: base_url.iter().flat_map(|url| ["--base-url", *url]).map(Into::into).collect(),
        environment,
        config,
        elsewhere: session.surroundings.working_directory.clone(),
        records,
        jobs: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
        time_limit: Duration::from_secs(if model.is_some() { 900 } else { 120 }),
        grader: None,
        model,
    })
}

/// A share, as `--fail-under` takes it.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| "use a number from 0 to 1".to_owned())
}

/// A model that is a file stays that file in a workspace elsewhere.
fn reachable(session: &Session, model: &str) -> String {
    match model.strip_prefix("scripted:") {
        Some(file) => {
            format!("scripted:{}", session.surroundings.working_directory.join(file).display())
        }
        None => model.to_owned(),
    }
}

fn read_report(session: &Session, path: &Path) -> Result<Report, Failure> {
    let path = session.surroundings.working_directory.join(path);
    let wrong = |reason: String| {
        let message = format!("cannot use `{}` as a baseline: {reason}", path.display());
        Failure::new(Exit::Usage, "InvalidReport", message)
            .hint("give a report.json that `skillful eval run` wrote")
    };
    let text = read_plain(&path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}
