//! Running cases: each in a process, a workspace and a home of its own.
//!
//! Invariant: what one case does is seen by no other. A case that crashes or hangs is a failed case, and
//! the others go on.

mod process;
mod scratch;
mod tree;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use agent::event::Event;
use agent::outcome::StopReason;
use basics::sha256::Sha256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use state::{Durability, Folder};

use crate::case::Located;
use crate::grade::{self, Graded};
use crate::judge::{Dimension, Evidence, Verdict, judge};
use crate::trace::Trace;
use process::Ended;
use scratch::{Beginning, Scratch};
use tree::Tree;

/// How cases are run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that runs the agent.
    pub program: PathBuf,
    /// Which program that is, and the rules that it is given: results of another one are not taken up again.
    pub program_id: String,
    /// The model, for cases without a script of their own or for all where it is named.
    pub model: Option<String>,
    /// Further arguments of `run`, such as a base URL.
    pub arguments: Vec<OsString>,
    /// Variables that the program sees besides `HOME`, `PATH` and the locale.
    pub environment: Vec<(OsString, OsString)>,
    /// Settings of the user, which all cases begin with and none can loosen.
    pub config: Map<String, Value>,
    /// Where relative paths are looked for after the case's folder.
    pub elsewhere: PathBuf,
    /// Where the records are kept.
    pub records: PathBuf,
    /// Cases at a time.
    pub jobs: usize,
    /// How long a case may take.
    pub time_limit: Duration,
    /// Who judges sentences; without anyone they are not judged.
    pub grader: Option<Grader>,
}

/// The model that judges sentences. Cases see nothing of what it needs.
#[derive(Debug, Clone)]
pub struct Grader {
    /// The model.
    pub model: String,
    /// Variables that it sees, instead of those of the cases.
    pub environment: Vec<(OsString, OsString)>,
    /// Its settings, instead of those of the cases.
    pub config: Map<String, Value>,
}

/// Whether the skill in question is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// It is, or none is in question.
    With,
    /// It is not.
    Without,
}

/// One run of one case that is wanted.
#[derive(Debug, Clone)]
pub struct Job<'c> {
    /// The case.
    pub located: &'c Located,
    /// Which of several runs, counted from 1.
    pub number: u32,
    /// A skill that is left out.
    pub without: Option<&'c str>,
    /// What its result rests on, as [`Fingerprints`](crate::fingerprint::Fingerprints) say.
    pub fingerprint: Option<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseResult {
    /// The suite.
    pub suite: String,
    /// The case.
    pub id: String,
    /// What was wanted.
    pub input: String,
    /// Which of several runs, counted from 1.
    pub number: u32,
    /// Whether the skill in question was there.
    pub variant: Variant,
    /// Whether every check holds.
    pub passed: bool,
    /// For a query of a trigger set, whether it should trigger its skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub should_trigger: Option<bool>,
    /// Why there was nothing to judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the judges say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Sentences that a model judged; they do not count in `passed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graded: Vec<Graded>,
    /// How many sentences no model was asked about.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged: usize,
    /// Where the record is kept, relative to the report.
    pub record: String,
    /// What it rests on: another one where the case, its skills, the settings, the model or the program is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl CaseResult {
    /// Suite and case.
    pub fn name(&self) -> String {
        format!("{}/{}", self.suite, self.id)
    }

    /// Whether something failed other than the choice of skills.
    pub(crate) fn is_broken(&self) -> bool {
        let checks = self.verdict.iter().flat_map(|verdict| &verdict.checks);
        self.error.is_some()
            || checks.into_iter().any(|c| !c.passed && c.dimension != Dimension::Trigger)
    }
}

impl Job<'_> {
    /// Whether the skill in question is there.
    pub fn variant(&self) -> Variant {
        if self.without.is_some() { Variant::Without } else { Variant::With }
    }

    /// A name for its record, unlike that of any other job.
    fn record(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' })
                .take(60)
                .collect()
        };
        // Names that differ only in what was replaced must not share a file.
        let hash = &Sha256::of(self.located.name()).to_string()[..8];
        let variant = if self.without.is_some() { "-without" } else { "" };
        format!("{}-{hash}-{}{variant}.jsonl", plain(&self.located.name()), self.number)
    }
}

/// Runs all jobs, several at a time, and hands over each result as soon as it is there. Where `stop` is set, what
/// has not begun is left out and what is under way is ended.
pub fn run(
    jobs: &[Job<'_>],
    options: &Options,
    stop: &AtomicBool,
    done: &(dyn Fn(CaseResult) + Sync),
) {
    let next = AtomicUsize::new(0);
    let turn = Mutex::new(());
    let worker = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            if let Some(result) = run_one(job, options, stop) {
                let _one_at_a_time = turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                done(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.min(jobs.len()) {
            scope.spawn(worker);
        }
        worker();
    });
}

/// Nothing where it was stopped.
fn run_one(job: &Job<'_>, options: &Options, stop: &AtomicBool) -> Option<CaseResult> {
    let case = &job.located.case;
    let mut result = CaseResult {
        suite: job.located.suite.clone(),
        id: case.id.clone(),
        input: case.input.clone(),
        number: job.number,
        variant: job.variant(),
        passed: false,
        should_trigger: job.located.should_trigger,
        error: None,
        verdict: None,
        answer: None,
        graded: Vec::new(),
        unjudged: if options.grader.is_none() { case.assertions.len() } else { 0 },
        record: job.record(),
        fingerprint: job.fingerprint.clone(),
    };
    match carry_out(job, options, stop) {
        Ok(Carried::Stopped) => return None,
        Ok(Carried::Ran { events, mut verdict, failed }) => {
            result.passed = verdict.passed() && failed.is_none();
            result.answer = Trace::new(&events).answer().map(str::to_owned);
            // What the program said about it says more than its record.
            result.error = failed.or(verdict.error.take());
            result.verdict = Some(verdict);
        }
        Err(error) => result.error = Some(error),
    }
    result.graded = grade(job, result.answer.as_deref(), options, stop);
    Some(result)
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

enum Carried {
    Stopped,
    Ran { events: Vec<Event>, verdict: Verdict, failed: Option<String> },
}

/// Errors here are sentences for the report: there is nothing that a program could do about them.
fn carry_out(job: &Job<'_>, options: &Options, stop: &AtomicBool) -> Result<Carried, String> {
    let place = Scratch::prepare(job, options).map_err(|error| error.to_string())?;
    let limit = job.located.case.constraints.max_wall_seconds;
    let limit =
        limit.map_or(options.time_limit, |seconds| Duration::from_secs(seconds.saturating_add(30)));
    let before = Tree::of(&place.workspace());
    let run = |beginning: Beginning<'_>| {
        let ended = process::run(place.command(job, options, beginning), limit, stop)
            .map_err(|error| format!("cannot start the program: {error}"))?;
        Ok::<_, String>(match ended {
            Ended::Stopped => None,
            Ended::TimedOut { output } => {
                Some((output, Some(format!("took longer than {} s", limit.as_secs()))))
            }
            Ended::Exited { output, failed } => Some((output, failed)),
        })
    };
    let Some((mut output, mut failed)) = run(Beginning::New)? else { return Ok(Carried::Stopped) };
    for answer in &job.located.case.setup.answers {
        let events = events(&output)?;
        let waiting = events.first().filter(|_| failed.is_none() && Trace::new(&events).asks());
        let Some(Event { run_id, .. }) = waiting else { break };
        let Some((more, ended)) = run(Beginning::Answered { run_id, answer })? else {
            return Ok(Carried::Stopped);
        };
        output.extend(more);
        failed = ended;
    }
    let record = options.records.join(job.record());
    // A run of a suite can be taken up again, and what is there may have come with a clone.
    Folder::around(&record)
        .and_then(|(folder, name)| folder.replace(name, &output, Durability::NoSync))
        .map_err(|error| format!("{error}: {}", error.cause))?;
    let events = events(&output)?;
    if events.is_empty() {
        return Err(failed.unwrap_or_else(|| "the run left no record".to_owned()));
    }
    let expected = job.located.expected_contents();
    let expected = expected.map_err(|error| format!("cannot read `expected/`: {error}"))?;
    let run_id = events.first().map_or("", |event| event.run_id.as_str());
    let files = place.left(run_id)?;
    let touched = before.differences(&Tree::of(&place.workspace()));
    let evidence = Evidence {
        events: &events,
        files: Some(&files),
        expected: &expected,
        touched: Some(&touched),
        is_live: true,
    };
    let verdict = judge(&job.located.case, &evidence);
    Ok(Carried::Ran { events, verdict, failed })
}

/// Has the grader judge each sentence of the case about the answer.
fn grade(job: &Job<'_>, answer: Option<&str>, options: &Options, stop: &AtomicBool) -> Vec<Graded> {
    let Some(Grader { model, environment, config }) = &options.grader else { return Vec::new() };
    let case = &job.located.case;
    if case.assertions.is_empty() {
        return Vec::new();
    }
    let options =
        Options { environment: environment.clone(), config: config.clone(), ..options.clone() };
    let judged = |assertion: &String, answer: &str| {
        let question = grade::question(assertion, &case.input, answer);
        let place = Scratch::empty(&options).ok()?;
        let command = place.ask(&question, model, &options);
        let Ok(Ended::Exited { output, .. }) = process::run(command, options.time_limit, stop)
        else {
            return None;
        };
        let events = events(&output).ok()?;
        let trace = Trace::new(&events);
        // An answer that was made without the model is no judgement.
        let is_own = trace.stop_reason() == StopReason::FinalAnswer.name();
        trace.answer().filter(|_| is_own).map(str::to_owned)
    };
    let graded = |text: &String| match answer {
        Some(answer) => grade::graded(text, answer, judged(text, answer).as_deref()),
        None => grade::unanswered(text),
    };
    case.assertions.iter().map(graded).collect()
}

/// The events of a program's output; a line that was cut off at the end does not count.
fn events(output: &[u8]) -> Result<Vec<Event>, String> {
    let mut events = Vec::new();
    let mut lines = output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        match serde_json::from_slice(line) {
            Ok(event) => events.push(event),
            Err(_) if lines.peek().is_none() && !output.ends_with(b"\n") => {}
            Err(error) => {
                return Err(format!(
                    "line {} of the record is not an event: {error}",
                    events.len() + 1
                ));
            }
        }
    }
    Ok(events)
}
