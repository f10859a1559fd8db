//! What the loop and its record cost, with a model that answers at once.
#![expect(clippy::print_stdout, reason = "the table is the result")]

#[expect(
    dead_code,
    clippy::unwrap_used,
    reason = "tests need more of it, and end where they cannot go on"
)]
#[path = "../tests/it"]
mod it {
    pub(crate) mod support;
}

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use agent::budget::{Left, Spent};
use agent::context::Prompt;
use agent::event::{BudgetUpdated, EventData, Happening};
use agent::model::{Cancel, Model};
use agent::observation::Observation;
use agent::reply::Reply;
use agent::run::Run;
use agent::step::Input;
use permission::{Configuration, Engine, Invocation};
use rustix::time::{ClockId, clock_gettime};
use skillful_runtime::driver::{Driver, InHand};
use skillful_runtime::journal::{
    Durability, Journal, Redactor, list, read, replay, restore, setup_of, verify,
};

use it::support::doubles::{FixedClock, Hands, Hooks, Person};
use it::support::scenarios::{answer_at_once, finish, read as read_file};
use it::support::{CATALOG, World, owner, setup};

const TURNS: usize = 1_000;

/// A model that reads another file in every turn, and notes when it was asked.
struct Instantly {
    path: &'static str,
    asked: Vec<Moment>,
}

/// When it was, by the clock and by what this process has worked; on a busy machine these differ.
#[derive(Clone, Copy)]
struct Moment {
    clock: Instant,
    work: Duration,
}

impl Moment {
    fn now() -> Self {
        let work = clock_gettime(ClockId::ProcessCPUTime);
        Self { clock: Instant::now(), work: Duration::new(work.tv_sec as u64, work.tv_nsec as u32) }
    }
}

impl Model for Instantly {
    fn decide(&mut self, _: &Prompt<'_>, _: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        self.asked.push(Moment::now());
        match self.asked.len() {
            TURNS => finish("done"),
            turn => read_file(&format!("{}{turn}", self.path)),
        }
    }
}

fn main() {
    println!(
        "{:<62} {:>12} {:>12}",
        "a turn: decision, permission, tool, record", "first 100", "last 100"
    );
    long_run("short observations, without fsync", "short", Durability::NoSync);
    long_run("observations of 7 KB, each in a file, without fsync", "long", Durability::NoSync);
    long_run("short observations, with fsync", "short", Durability::Sync);
    println!();
    println!("{:<62} {:>12} {:>12}", "", "time", "work");
    appends();
    reading();
    listing();
    redacting();
}

fn row(what: &str, start: Moment, times: u32) {
    let now = Moment::now();
    let each = |time: Duration| time.as_secs_f64() * 1_000.0 / f64::from(times);
    println!(
        "{what:<62} {:>9.4} ms {:>9.4} ms",
        each(now.clock - start.clock),
        each(now.work - start.work)
    );
}

fn drive(world: &World, path: &'static str, durability: Durability) -> Vec<Moment> {
    let mut journal = world.begin(durability);
    let mut setup = setup(&answer_at_once());
    setup.budget.max_turns = TURNS as u32 + 1;
    setup.budget.max_tool_calls = TURNS as u32 + 1;
    setup.budget.max_context_chars = usize::MAX;
    let mut run = Run::start(setup);
    let mut model = Instantly { path, asked: Vec::with_capacity(TURNS + 1) };
    let hooks = Hooks::default();
    let redactor = Redactor::new([], []).expect("it is made");
    let mut driver = Driver {
        model: &mut model,
        toolbox: &mut Hands::new(Path::new("effects"), &hooks),
        engine: &mut Engine::new("/project", Configuration::default()),
        approver: &mut Person(None),
        grants: None,
        listener: &mut hooks.clone(),
        redactor: &redactor,
        clock: &FixedClock::new(0),
        cancel: &Cancel::default(),
        invocation: &Invocation { command: Vec::new(), arguments: Vec::new() },
    };
    driver.drive(&mut run, &mut journal, &mut InHand::default()).expect("the run ends");
    journal.finish(&run).expect("the record is written");
    model.asked.push(Moment::now());
    model.asked
}

fn long_run(what: &str, path: &'static str, durability: Durability) {
    let asked = drive(&World::new(), path, durability);
    let mean = |turns: &[Moment], time: fn(&Moment, &Moment) -> Duration| {
        let all = time(&turns[0], &turns[turns.len() - 1]);
        all.as_secs_f64() * 1_000.0 / (turns.len() - 1) as f64
    };
    let (first, last) = (&asked[1..102], &asked[TURNS - 101..TURNS]);
    for (kind, time) in [
        ("time", (|from, to| to.clock - from.clock) as fn(&Moment, &Moment) -> Duration),
        ("work", |from, to| to.work - from.work),
    ] {
        let (first, last) = (mean(first, time), mean(last, time));
        println!("{what:<55} {kind:>6} {first:>9.4} ms {last:>9.4} ms   {:.2} x", last / first);
    }
}

fn appends() {
    let world = World::new();
    let mut journal = world.begin(Durability::NoSync);
    let left = Left { turns: 1, tool_calls: 2, script_runs: 3, context_chars: 4, seconds: 5 };
    let updated =
        BudgetUpdated { elapsed_ms: Some(1), resumed: None, spent: Spent::default(), left };
    let data = EventData::BudgetUpdated(Box::new(updated));
    let now = jiff::Timestamp::UNIX_EPOCH;
    let start = Moment::now();
    for turn in 0..10_000 {
        let happening = Happening { turn, data: data.clone() };
        journal.append(happening, now).expect("it is added");
    }
    row("append of one event of 500 bytes", start, 10_000);
    let start = Moment::now();
    journal.commit().expect("it is written");
    row("commit of 10,000 events without fsync", start, 1);
}

fn reading() {
    let world = World::new();
    drive(&world, "long", Durability::NoSync);
    let folder = world.run_folder();
    let timed = |what: &str, work: &mut dyn FnMut()| {
        let start = Moment::now();
        work();
        row(what, start, 1);
    };
    timed("1,000 turns: read", &mut || assert!(read(&folder).expect("it is sound").len() > TURNS));
    timed("1,000 turns: verify", &mut || {
        assert!(verify(&folder, Some(&owner())).expect("it is there").ok)
    });
    let events = read(&folder).expect("it is sound");
    let setup = setup_of(&events[0], CATALOG.to_owned()).expect("it begins");
    timed("1,000 turns: replay", &mut || replay(setup.clone(), &events).expect("it is the same"));
    timed("1,000 turns: open and restore", &mut || {
        let (_, events) =
            Journal::open(&folder, Durability::NoSync, &owner()).expect("it is sound");
        assert!(restore(setup.clone(), &events).expect("it is the same").outcome().is_some());
    });
}

fn listing() {
    let model = World::new();
    model.record(&answer_at_once());
    for (what, names) in [
        ("list of 10,000 runs that ended", &["run.json"][..]),
        ("list of 10,000 runs that were cut off", &["events.jsonl"][..]),
    ] {
        let world = World::new();
        let start: jiff::Timestamp = "2026-11-15T08:30:00Z".parse().expect("it is a time");
        for number in 0..10_000_u32 {
            let run_id = skillful_runtime::journal::name_run(
                start + Duration::from_secs(u64::from(number)),
                number,
            );
            let folder = world.runs().join(run_id.as_str());
            fs::create_dir_all(&folder).expect("it is created");
            for name in names {
                fs::copy(model.run_folder().join(name), folder.join(name)).expect("it is copied");
            }
        }
        let start = Moment::now();
        let (runs, problems) = list(&world.runs(), None, None).expect("they are listed");
        row(what, start, 1);
        assert_eq!((runs.len(), problems.len()), (10_000, 0));
        let start = Moment::now();
        assert_eq!(
            list(&world.runs(), Some(20), Some(&owner())).expect("they are listed").0.len(),
            20
        );
        row("the newest 20 of them", start, 1);
    }
}

fn redacting() {
    let start = Moment::now();
    let redactor = Redactor::new(["a-secret-of-the-environment"], []).expect("it is made");
    row("redactor: made", start, 1);
    let prose =
        "The quick brown fox reads task-lists, tokens: 12, and http://host:80/a@b.\n".repeat(1_500);
    redactor.text(&prose);
    let start = Moment::now();
    for _ in 0..20 {
        assert!(matches!(redactor.text(&prose), std::borrow::Cow::Borrowed(_)));
    }
    row("redactor: 110 KB of text without a secret", start, 20);
    let input = Input::Observed(Observation::of("nothing secret in here\n".repeat(20)));
    let start = Moment::now();
    for _ in 0..1_000 {
        assert_eq!(redactor.apply(input.clone()), input);
    }
    row("redactor: an observation of 460 bytes", start, 1_000);
}
