//! Which skills runs were offered, which they chose and loaded, and what came of it.
//!
//! Invariant: each record is read once, line by line, and no more of it is kept than is counted. Only records that were
//! made here count; one that cannot be read hides no other.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::thread;

use agent::action::SkillRef;
use agent::outcome::Status;
use basics::run_id::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use state::Folder;

use super::error::JournalError;
use super::limits;
use super::lines::EVENTS;
use super::listing::{Unlisted, in_words, open_runs, origin, run_ids};
use super::owner::Owner;

/// How runs ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Endings {
    /// Runs with an answer.
    pub answered: u64,
    /// Runs that stopped without one, or whose answer only says why nothing came of it.
    pub failed: u64,
    /// Runs that somebody stopped.
    pub cancelled: u64,
    /// Runs that go on, wait for somebody, or were cut off.
    pub unfinished: u64,
}

/// What runs did with one skill. Counts are of runs, unless they say otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkillUsage {
    /// In so many runs the list of skills named it.
    pub offered: u64,
    /// The model or the user chose it.
    pub chosen: u64,
    /// Its text was handed over.
    pub loaded: u64,
    /// How the runs ended that loaded it.
    #[serde(flatten)]
    pub endings: Endings,
    /// How often its scripts ran.
    pub scripts: u64,
    /// How often they failed.
    pub failed_scripts: u64,
    /// When it was chosen or loaded last.
    pub last_used: Option<String>,
}

/// What all runs did with skills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// How many runs there are, child runs left out.
    pub runs: u64,
    /// How they ended.
    pub endings: Endings,
    /// Runs that were not made here, and do not count.
    pub elsewhere: u64,
    /// Each skill that a record names.
    pub skills: BTreeMap<String, SkillUsage>,
    /// Records that cannot be read.
    pub problems: Vec<Unlisted>,
}

/// Counts what the records below `runs` say about skills.
pub fn skill_usage(runs: &Path, owner: Option<&Owner>) -> Result<UsageReport, JournalError> {
    let Some(runs) = open_runs(runs)? else { return Ok(UsageReport::default()) };
    let run_ids = run_ids(&runs)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = run_ids.len().div_ceil(threads).max(1);
    let reports: Vec<UsageReport> = thread::scope(|scope| {
        let shares = run_ids.chunks(share);
        let threads: Vec<_> =
            shares.map(|share| scope.spawn(|| count(&runs, share, owner))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined
            .map(|report| report.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut all = UsageReport::default();
    reports.into_iter().for_each(|report| all.add(report));
    Ok(all)
}

fn count(runs: &Folder, run_ids: &[RunId], owner: Option<&Owner>) -> UsageReport {
    let mut report = UsageReport::default();
    for run_id in run_ids {
        let is_child = run_id.parent().is_some();
        if !origin(runs, run_id.as_str(), owner).is_own() {
            report.elsewhere += u64::from(!is_child);
            continue;
        }
        match read(runs, run_id.as_str()) {
            Ok(seen) => report.count(seen, is_child),
            Err(message) => report.problems.push(Unlisted { run_id: run_id.to_string(), message }),
        }
    }
    report
}

/// What one record says.
#[derive(Default)]
struct Seen {
    skills: BTreeMap<String, SeenSkill>,
    /// The skill whose script was planned last.
    planned: Option<String>,
    status: Option<Status>,
}

#[derive(Default)]
struct SeenSkill {
    offered: bool,
    chosen: bool,
    loaded: bool,
    scripts: u64,
    failed_scripts: u64,
    last_used: Option<String>,
}

fn read(runs: &Folder, run_id: &str) -> Result<Seen, String> {
    let file = runs.open_file(format!("{run_id}/{EVENTS}"));
    let file = file.map_err(|error| in_words(EVENTS, &error))?;
    see(file).map_err(|error| format!("`{EVENTS}`: {error}"))
}

fn see(file: File) -> std::io::Result<Seen> {
    let mut reader = BufReader::with_capacity(1 << 16, file.take(limits::EVENTS));
    let (mut seen, mut line) = (Seen::default(), Vec::new());
    while reader.read_until(b'\n', &mut line)? > 0 {
        // What is being written meanwhile is for the next time.
        if line.last() == Some(&b'\n') {
            seen.add(&line)?;
        }
        line.clear();
    }
    Ok(seen)
}

/// An event, as far as it matters here.
#[derive(Deserialize)]
struct Line<T> {
    ts: String,
    data: T,
}

#[derive(Deserialize)]
struct Started {
    #[serde(default)]
    setup: StartedSetup,
}

#[derive(Deserialize, Default)]
struct StartedSetup {
    #[serde(default)]
    facts: Facts,
}

#[derive(Deserialize, Default)]
struct Facts {
    #[serde(default)]
    catalog: Option<ShownNames>,
}

#[derive(Deserialize)]
struct ShownNames {
    #[serde(default)]
    shown: Vec<String>,
}

#[derive(Deserialize)]
struct Planned {
    action: PlannedAction,
}

#[derive(Deserialize)]
struct PlannedAction {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Payload,
}

#[derive(Deserialize, Default)]
struct Payload {
    #[serde(default)]
    skills: Vec<SkillRef>,
    #[serde(default)]
    skill: Option<SkillRef>,
}

#[derive(Deserialize)]
struct Loaded {
    skill: SkillRef,
}

#[derive(Deserialize)]
struct Executed {
    action: String,
    observation: Observed,
}

#[derive(Deserialize)]
struct Observed {
    #[serde(default)]
    code: Option<String>,
}

#[derive(Deserialize)]
struct Finished {
    status: Status,
}

impl Seen {
    fn add(&mut self, line: &[u8]) -> serde_json::Result<()> {
        match kind(line) {
            Some(b"run_started") => {
                let line: Line<Started> = serde_json::from_slice(line)?;
                let shown = line.data.setup.facts.catalog.map(|catalog| catalog.shown);
                for name in shown.unwrap_or_default() {
                    self.skills.entry(name).or_default().offered = true;
                }
            }
            Some(b"action_planned") => {
                let Line { ts, data } = serde_json::from_slice::<Line<Planned>>(line)?;
                let PlannedAction { kind, payload } = data.action;
                self.planned =
                    payload.skill.filter(|_| kind == "run_script").map(|skill| skill.name);
                for skill in payload.skills.into_iter().filter(|_| kind == "select_skills") {
                    self.used(skill.name, &ts).chosen = true;
                }
            }
            Some(b"skill_loaded") => {
                let Line { ts, data } = serde_json::from_slice::<Line<Loaded>>(line)?;
                self.used(data.skill.name, &ts).loaded = true;
            }
            Some(b"action_executed") => {
                let Line { ts, data } = serde_json::from_slice::<Line<Executed>>(line)?;
                if let Some(name) = self.planned.take().filter(|_| data.action == "run_script") {
                    let skill = self.used(name, &ts);
                    skill.scripts += 1;
                    skill.failed_scripts += u64::from(data.observation.code.is_some());
                }
            }
            Some(b"run_finished") => {
                let line: Line<Finished> = serde_json::from_slice(line)?;
                self.status = Some(line.data.status);
            }
            _ => {}
        }
        Ok(())
    }

    fn used(&mut self, name: String, ts: &str) -> &mut SeenSkill {
        let skill = self.skills.entry(name).or_default();
        skill.last_used = Some(ts.to_owned());
        skill
    }
}

/// The kind of an event, which stands near the beginning of its line.
fn kind(line: &[u8]) -> Option<&[u8]> {
    const KEY: &[u8] = b"\"type\":\"";
    let head = &line[..line.len().min(300)];
    let start = head.windows(KEY.len()).position(|part| part == KEY)? + KEY.len();
    let end = head[start..].iter().position(|byte| *byte == b'"')?;
    Some(&head[start..start + end])
}

impl Endings {
    fn of(status: Option<Status>) -> Self {
        let mut endings = Self::default();
        *match status {
            Some(Status::Completed) => &mut endings.answered,
            Some(Status::Degraded) => &mut endings.failed,
            Some(Status::Cancelled) => &mut endings.cancelled,
            Some(Status::Blocked) | None => &mut endings.unfinished,
        } = 1;
        endings
    }

    fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.unfinished += other.unfinished;
    }
}

impl UsageReport {
    fn count(&mut self, seen: Seen, is_child: bool) {
        let endings = Endings::of(seen.status);
        if !is_child {
            self.runs += 1;
            self.endings.add(endings);
        }
        for (name, skill) in seen.skills {
            let usage = self.skills.entry(name).or_default();
            usage.offered += u64::from(skill.offered);
            usage.chosen += u64::from(skill.chosen);
            if skill.loaded {
                usage.loaded += 1;
                usage.endings.add(endings);
            }
            usage.scripts += skill.scripts;
            usage.failed_scripts += skill.failed_scripts;
            usage.last_used = usage.last_used.take().max(skill.last_used);
        }
    }

    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.endings.add(other.endings);
        self.elsewhere += other.elsewhere;
        self.problems.extend(other.problems);
        for (name, more) in other.skills {
            let usage = self.skills.entry(name).or_default();
            usage.offered += more.offered;
            usage.chosen += more.chosen;
            usage.loaded += more.loaded;
            usage.endings.add(more.endings);
            usage.scripts += more.scripts;
            usage.failed_scripts += more.failed_scripts;
            usage.last_used = usage.last_used.take().max(more.last_used);
        }
    }
}
