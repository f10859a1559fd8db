//! Small doubles to drive whole runs with: a model that reads its lines, a toolbox that writes down what it did.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends there")]
#![allow(unreachable_pub, reason = "each test file is a crate of its own")]

pub mod doubles;
pub mod scenarios;

use std::fs;
use std::path::{Path, PathBuf};

use agent::budget::Budget;
use agent::event::Event;
use agent::model::Cancel;
use agent::run::Run;
use agent::setup::{Patience, Provenance, RunKind, Setup};
use common::run_id::RunId;
use permission::{Configuration, Engine, Invocation, Tool};
use runtime::driver::{Driver, Ending, InHand};
use runtime::journal::{
    Durability, Journal, JournalError, Owner, RecordKey, Redactor, read, restore, setup_of,
};
use tempfile::TempDir;

use doubles::{FixedClock, Hands, Lines, Person};
pub use doubles::{Hooks, Moment};
use scenarios::Scenario;

pub const CATALOG: &str = "Available Skills:\n- name=alpha | source=user | description=A\n";

/// A folder with runs, and a file that every side effect adds a line to.
pub struct World {
    folder: PathBuf,
    /// Removes the folder in the end.
    _owner: Option<TempDir>,
}

impl World {
    pub fn new() -> Self {
        let owner = TempDir::new().unwrap();
        Self { folder: owner.path().to_owned(), _owner: Some(owner) }
    }

    /// A world that somebody else made.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), _owner: None }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    pub fn run_folder(&self) -> PathBuf {
        self.runs().join("20261115_083000_k3f9")
    }

    pub fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub fn events(&self) -> Vec<Event> {
        read(&self.run_folder()).unwrap()
    }

    pub fn begin(&self, durability: Durability) -> Journal {
        let run_id = "20261115_083000_k3f9".parse::<RunId>().unwrap();
        Journal::create(&self.runs(), run_id, durability, Some(&owner())).unwrap()
    }

    /// A whole run, from its beginning.
    pub fn record(&self, scenario: &Scenario) -> Ending {
        let mut journal = self.begin(Durability::NoSync);
        let mut run = Run::start(setup(scenario));
        self.drive(&mut run, &mut journal, scenario, Hooks::default())
    }

    /// The same run, from where its record ends.
    pub fn resume(&self, scenario: &Scenario) -> Ending {
        self.resume_with(scenario, Durability::NoSync, Hooks::default()).unwrap()
    }

    pub fn resume_with(
        &self,
        scenario: &Scenario,
        durability: Durability,
        hooks: Hooks,
    ) -> Result<Ending, JournalError> {
        let (mut journal, events) = Journal::open(&self.run_folder(), durability, &owner())?;
        let mut run = match events.first() {
            None => Run::start(setup(scenario)),
            Some(started) => {
                restore(setup_of(started, CATALOG.to_owned()).unwrap(), &events).unwrap()
            }
        };
        Ok(self.drive(&mut run, &mut journal, scenario, hooks))
    }

    pub fn drive(
        &self,
        run: &mut Run,
        journal: &mut Journal,
        scenario: &Scenario,
        hooks: Hooks,
    ) -> Ending {
        self.drive_on(run, journal, scenario, hooks, &mut InHand::default())
    }

    /// The same, in a process that may hold something already.
    pub fn drive_on(
        &self,
        run: &mut Run,
        journal: &mut Journal,
        scenario: &Scenario,
        hooks: Hooks,
        hand: &mut InHand,
    ) -> Ending {
        let clock = FixedClock::new(scenario.ticks);
        let redactor = Redactor::new([], []).unwrap();
        let mut driver = Driver {
            model: &mut Lines::new(scenario, &hooks),
            toolbox: &mut Hands::new(&self.folder.join("effects"), &hooks),
            engine: &mut Engine::new("/project", Configuration::default()),
            approver: &mut Person(scenario.answer.clone()),
            grants: None,
            listener: &mut hooks.clone(),
            redactor: &redactor,
            clock: &clock,
            cancel: &Cancel::default(),
            invocation: &Invocation { command: vec!["skillful".into()], arguments: Vec::new() },
        };
        let ending = driver.drive(run, journal, hand).unwrap();
        hooks.happened(Moment::Ended);
        journal.finish(run).unwrap();
        ending
    }
}

/// Who makes the records of these tests.
pub fn owner() -> Owner {
    Owner::new(RecordKey::new([7; 32]), Path::new("/project"))
}

pub fn setup(scenario: &Scenario) -> Setup {
    let mut setup = Setup {
        run_id: "20261115_083000_k3f9".to_owned(),
        request: "Do it, and say when it is done — gründlich".to_owned(),
        catalog: CATALOG.to_owned(),
        tools: [Tool::ReadFile, Tool::RunScript, Tool::WriteFile].into_iter().collect(),
        budget: Budget::default(),
        patience: Patience::default(),
        invoked: None,
        preloaded: Vec::new(),
        kind: RunKind::Own,
        store_prompts: false,
        facts: Provenance { model: Some("lines".to_owned()), ..Provenance::default() },
    };
    (scenario.prepare)(&mut setup);
    setup
}

/// The answer of a run that ended.
pub fn answer(ending: &Ending) -> &str {
    match ending {
        Ending::Finished(outcome) => &outcome.answer,
        Ending::Suspended(question) => panic!("suspended: {question:?}"),
    }
}
