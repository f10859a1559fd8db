//! Small doubles to drive whole runs with: a model that reads its lines, a toolbox that writes down what it did.

pub(crate) mod doubles;
pub(crate) mod scenarios;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use agent::event::{Event, EventData};
use agent::model::Cancel;
use agent::run::Run;
use agent::setup::{Provenance, Setup};
use basics::run_id::RunId;
use doubles::{FixedClock, Hands, Lines, Person};
pub(crate) use doubles::{Hooks, Moment};
use permission::{Configuration, Engine, Invocation, Tool};
use scenarios::Scenario;
use skillful_runtime::driver::{Driver, Ending, InHand};
use skillful_runtime::journal::{
    Durability, Journal, JournalError, Owner, RecordKey, Redactor, read, restore, setup_of,
};
use tempfile::TempDir;

pub(crate) const CATALOG: &str = "Available Skills:\n- name=alpha | source=user | description=A\n";

/// Made once, since that takes longer than most runs.
static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([], []).unwrap());

/// A folder with runs, and a file that every side effect adds a line to; in memory where that is possible, since a
/// kill does not lose what was written.
pub(crate) struct World {
    folder: PathBuf,
    /// Removes the folder in the end.
    _owner: Option<TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let owner = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
        let owner = owner.unwrap();
        Self { folder: owner.path().to_owned(), _owner: Some(owner) }
    }

    /// A world that somebody else made.
    pub(crate) fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), _owner: None }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.folder.join("runs")
    }

    pub(crate) fn run_folder(&self) -> PathBuf {
        self.runs().join("20261115_083000_k3f9")
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder.join("effects")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Nothing may be done twice, however often a run is taken up.
    pub(crate) fn assert_nothing_happened_twice(&self) {
        let effects = self.effects();
        assert_eq!(effects.iter().collect::<BTreeSet<_>>().len(), effects.len(), "{effects:?}");
    }

    /// The folders of the run and of its child runs that have a record.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.runs()).unwrap().flatten();
        let has_record = |path: &PathBuf| path.join("events.jsonl").exists();
        entries.map(|entry| entry.path()).filter(has_record).collect()
    }

    /// How many results say that nobody knows whether something was done.
    pub(crate) fn interruptions(&self) -> usize {
        let is_interrupted = |event: &Event| match &event.data {
            EventData::ActionExecuted(executed) => {
                executed.observation.code.as_deref() == Some("Interrupted")
            }
            _ => false,
        };
        let events = self.records().into_iter().flat_map(|folder| read(&folder).unwrap());
        events.filter(is_interrupted).count()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        read(&self.run_folder()).unwrap()
    }

    pub(crate) fn begin(&self, durability: Durability) -> Journal {
        let run_id = "20261115_083000_k3f9".parse::<RunId>().unwrap();
        Journal::create(&self.runs(), run_id, durability, Some(&owner())).unwrap()
    }

    /// A whole run, from its beginning.
    pub(crate) fn record(&self, scenario: &Scenario) -> Ending {
        let mut journal = self.begin(Durability::NoSync);
        let mut run = Run::start(setup(scenario));
        self.drive(&mut run, &mut journal, scenario, Hooks::default())
    }

    /// The same run, from where its record ends.
    pub(crate) fn resume(&self, scenario: &Scenario) -> Ending {
        self.resume_with(scenario, Durability::NoSync, Hooks::default()).unwrap()
    }

    pub(crate) fn resume_with(
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

    pub(crate) fn drive(
        &self,
        run: &mut Run,
        journal: &mut Journal,
        scenario: &Scenario,
        hooks: Hooks,
    ) -> Ending {
        self.drive_on(run, journal, scenario, hooks, &mut InHand::default())
    }

    /// The same, in a process that may hold something already.
    pub(crate) fn drive_on(
        &self,
        run: &mut Run,
        journal: &mut Journal,
        scenario: &Scenario,
        hooks: Hooks,
        hand: &mut InHand,
    ) -> Ending {
        let clock = FixedClock::new(scenario.ticks);
        let mut driver = Driver {
            model: &mut Lines::new(scenario, &hooks),
            toolbox: &mut Hands::new(&self.folder.join("effects"), &hooks),
            engine: &mut Engine::new("/project", rules()),
            approver: &mut Person(scenario.answer.clone()),
            grants: None,
            listener: &mut hooks.clone(),
            redactor: &REDACTOR,
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

/// What is denied here; everything else is as by default.
fn rules() -> Configuration {
    let user = serde_json::from_str(r#"{"write_file": "deny"}"#).unwrap();
    Configuration { user, ..Configuration::default() }
}

/// Who makes the records of these tests.
pub(crate) fn owner() -> Owner {
    Owner::new(RecordKey::new([7; 32]), Path::new("/project"))
}

pub(crate) fn setup(scenario: &Scenario) -> Setup {
    let mut setup = Setup {
        catalog: CATALOG.to_owned(),
        tools: [Tool::ReadFile, Tool::RunScript, Tool::WriteFile].into_iter().collect(),
        facts: Provenance { model: Some("lines".to_owned()), ..Provenance::default() },
        ..Setup::new("20261115_083000_k3f9", "Do it, and say when it is done — gründlich")
    };
    (scenario.prepare)(&mut setup);
    setup
}

/// The answer of a run that ended.
pub(crate) fn answer(ending: &Ending) -> &str {
    match ending {
        Ending::Finished(outcome) => &outcome.answer,
        waiting => panic!("it waits: {waiting:?}"),
    }
}
