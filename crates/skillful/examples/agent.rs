//! The whole agent with a model of one's own: skills, permissions, sandbox and record included.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::LazyLock;
use std::time::Duration;

use skillful::agent::action::{Action, Decision, SkillRef};
use skillful::agent::budget::Usage;
use skillful::agent::context::Prompt;
use skillful::agent::event::Event;
use skillful::agent::model::{Cancel, Model};
use skillful::agent::reply::{Raw, Reply};
use skillful::agent::run::Run;
use skillful::agent::setup::Setup;
use skillful::common::skill::Source;
use skillful::permission::{Answer, ApprovalRequest, Configuration, Engine, Grant, Invocation};
use skillful::runtime::driver::{Approver, Driver, Ending, InHand, Listener, SystemClock};
use skillful::runtime::journal::{Durability, Journal, Redactor};
use skillful::runtime::workbench::{ScriptSettings, Workbench};
use skillful::skill::index::{Index, IndexOptions};
use skillful::skill::offer::CatalogLimits;
use skillful::skill::roots::Root;
use skillful::tools::sandbox::{Confinement, Kernel};
use skillful::tools::script::{Environment, Interpreters};
use skillful::tools::workspace::Workspace;

/// Decides; a real one sends the prompt to a language model and reads its reply.
struct Careful;

impl Model for Careful {
    fn decide(&mut self, prompt: &Prompt<'_>, _: &Cancel, _: &mut dyn FnMut(&str)) -> Reply {
        let action = match prompt.last {
            None => Action::SelectSkills {
                skills: vec![SkillRef::named("csv-report")],
                reason: "the request is about a table".to_owned(),
            },
            Some(loaded) => Action::FinalAnswer {
                content: format!("The skill has {} lines.", loaded.text.lines().count()),
            },
        };
        let decision = Decision { action, plan_update: None, diagnostics: None };
        Reply::decided(decision, Usage::default(), Raw::default())
    }
}

/// Nobody is asked.
struct Nobody;

impl Approver for Nobody {
    fn ask(&mut self, _: &ApprovalRequest) -> Option<Answer> {
        None
    }

    fn remember(&mut self, _: &[Grant]) {}
}

impl Listener for Nobody {
    fn event(&mut self, event: &Event) {
        println!("{}", event.data.kind());
    }

    fn delta(&mut self, _: &str) {}
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = Root { source: Source::Builtin, path: "builtin:".into(), priority: 0 };
    let index = Index::build(&[root], &IndexOptions::default());
    let offer = index.offer(|_| true);
    let mut engine = Engine::new("example", Configuration::default());
    let redactor = Redactor::new([], [])?;
    let run_id = runtime::journal::name_run(jiff::Timestamp::now(), 0);
    let mut journal = Journal::create(&folder.path().join("runs"), run_id, Durability::Sync, None)?;
    let mut run = Run::start(Setup {
        catalog: offer.catalog(CatalogLimits::default(), "sales.csv").text,
        tools: engine.tools(),
        ..Setup::new(journal.run_id().as_str(), "What is in sales.csv?")
    });
    let mut workbench = Workbench {
        index: &index,
        offer: &offer,
        invoked: None,
        read: Default::default(),
        limits: Default::default(),
        workspace: Workspace::open(folder.path())?,
        folder: folder.path().to_owned(),
        engine: engine.clone(),
        scripts: ScriptSettings {
            kernel: LazyLock::new(Kernel::detect),
            environment: Environment { path: None, language: None, time_zone: None },
            interpreters: Interpreters::default(),
            arguments: Default::default(),
            confinement: Confinement::default(),
        },
        redactor: redactor.clone(),
    };
    let ending = Driver {
        model: &mut Careful,
        toolbox: &mut workbench,
        engine: &mut engine,
        approver: &mut Nobody,
        listener: &mut Nobody,
        redactor: &redactor,
        clock: &SystemClock::starting(Duration::ZERO),
        cancel: &Cancel::default(),
        invocation: &Invocation { command: vec!["example".into()], arguments: Vec::new() },
    }
    .drive(&mut run, &mut journal, &mut InHand::default())?;
    journal.finish(&run)?;
    match ending {
        Ending::Finished(outcome) => println!("{}", outcome.answer),
        Ending::Suspended(question) => println!("waits for an approval: {}", question.effect),
    }
    Ok(())
}
