//! Setting a run up: its record, its surroundings, its model.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::LazyLock;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use agent::action::{Action, SkillRef};
use agent::event::Event;
use agent::run::Run;
use agent::setup::{Disclosed, Preloaded, Provenance, RunKind, Setup, ShownCatalog, Terms};
use permission::{Engine, Pattern, Verdict, shell_quoted};
use runtime::driver::{Clock, Toolbox};
use runtime::journal::{self, Durability, IndexSnapshot, Journal, Origin, Owner, Redactor};
use runtime::workbench::{ScriptSettings, Workbench};
use skill::index::Index;
use skill::offer::Offer;
use tools::sandbox::Kernel;
use tools::script::{Environment, Interpreters};

use super::Wanted;
use crate::commands::runs::of_journal;
use crate::config::Disclosure;
use crate::failure::{Exit, Failure};
use crate::models::{Choice, Wish};
use crate::session::Session;

/// Everything a run takes place in.
pub(super) struct Stage<'a> {
    pub(super) session: &'a Session,
    pub(super) index: &'a Index,
    pub(super) offer: &'a Offer<'a>,
    pub(super) engine: &'a Engine,
    pub(super) choice: &'a Choice,
    /// Who signs the record.
    pub(super) owner: Option<&'a Owner>,
}

/// What a run goes on with: itself, its record, the time.
type Staged = (Run, Journal, Box<dyn Clock>);

impl Stage<'_> {
    /// A new run and its record.
    pub(super) fn begin(&self, wanted: &Wanted) -> Result<Staged, Failure> {
        let config = &self.session.layers.config;
        let random = RandomState::new().hash_one(std::process::id()) as u32;
        let run_id = journal::name_run(jiff::Timestamp::now(), random);
        let redactor = self.redactor()?;
        let request = redactor.text(&wanted.request).into_owned();
        // One waits for the disk, and with thousands of skills the others take their time.
        let (journal, index, catalog) = std::thread::scope(|scope| {
            let (runs, owner) = (self.session.runs(), self.owner);
            let journal =
                scope.spawn(move || Journal::create(&runs, run_id, Durability::Sync, owner));
            let index = scope.spawn(|| {
                IndexSnapshot::new(serde_json::to_vec(&self.index.skills).unwrap_or_default())
            });
            let catalog = self.offer.catalog(config.catalog_limits(), &request);
            (joined(journal), joined(index), catalog)
        });
        let mut journal = journal.map_err(|error| of_journal(&error))?;
        journal.write_index(&index).map_err(|error| of_journal(&error))?;
        journal.write_catalog(&catalog.text).map_err(|error| of_journal(&error))?;
        let (preloaded, disclosed) = self.preloaded(&mut journal)?;
        let workspace = &self.session.surroundings.working_directory;
        let setup = Setup {
            run_id: journal.run_id().to_string(),
            facts: Provenance {
                disclosure: disclosed,
                index_hash: Some(index.hash().to_owned()),
                scan: Some(journal::summarise_scan(&self.index.report, |text| {
                    redactor.text(text).into_owned()
                })),
                model: Some(self.choice.name.clone()),
                server: self.choice.server().map(str::to_owned),
                catalog: Some(ShownCatalog {
                    shown: catalog.shown,
                    not_shown: catalog.not_shown,
                    format: config.catalog.format,
                }),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                workspace: Some(workspace.to_string_lossy().into_owned()),
                ..Provenance::default()
            },
            request,
            catalog: catalog.text,
            tools: self.engine.tools(),
            budget: config.budget.clone(),
            patience: config.patience,
            invoked: wanted.skill.clone(),
            preloaded,
            kind: RunKind::Own,
            store_prompts: config.audit.store_prompts,
        };
        Ok((Run::start(setup), journal, self.choice.clock(Duration::ZERO)))
    }

    /// Bodies that are in the context from the start, as far as rules allow it unasked and half the context
    /// reaches; and which skills are there with their body, which with their metadata alone.
    fn preloaded(
        &self,
        journal: &mut Journal,
    ) -> Result<(Vec<Preloaded>, Option<Disclosed>), Failure> {
        let config = &self.session.layers.config;
        if config.disclosure == Disclosure::Metadata {
            return Ok((Vec::new(), None));
        }
        let mut workbench = self.workbench(None)?;
        let mut room = config.budget.max_context_chars / 2;
        let (mut preloaded, mut core, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.offer.skills() {
            let wanted = SkillRef { name: entry.name.clone(), source: Some(entry.source) };
            let loaded =
                self.is_allowed(&mut workbench, &wanted).then(|| workbench.load(&wanted, journal));
            match loaded {
                // A skill that cannot be read now is still in the catalog.
                Some(Ok((text, skill))) if text.chars().count() <= room => {
                    room -= text.chars().count();
                    core.push(entry.name.clone());
                    preloaded.push(Preloaded { skill, text });
                }
                _ => metadata.push(entry.name.clone()),
            }
        }
        Ok((preloaded, Some(Disclosed { core, metadata })))
    }

    /// Whether a skill may be read without asking anybody.
    fn is_allowed(&self, workbench: &mut Workbench<'_>, skill: &SkillRef) -> bool {
        let skills = vec![skill.clone()];
        let selection = Action::SelectSkills { skills, reason: String::new() };
        workbench.prepare(&selection).is_ok_and(|request| {
            let hash = request.skill_hash.clone();
            matches!(self.engine.decide(request, hash.as_ref()), Verdict::Allowed(_))
        })
    }

    /// A run that was interrupted, where it was.
    /// A recorded run, where it ended. Its terms are those of today, its model is the one that was chosen for it.
    pub(super) fn resume(&self, run_id: &str, wish: Wish<'_>) -> Result<Staged, Failure> {
        let folder = self.session.run_folder(run_id)?;
        let (mut journal, events) =
            Journal::open(&folder, Durability::Sync, &self.session.known_owner(run_id)?)
                .map_err(|error| of_journal(&error))?;
        let setup = setup_of(&folder, &events)?;
        same_workspace(self.session, &setup, journal.origin(), "run --resume")?;
        if setup.kind != RunKind::Own {
            let message = format!("run `{}` is {}", setup.run_id, kind_of(&setup));
            return Err(Failure::new(Exit::Usage, "NotResumable", message)
                .hint("you can resume only runs that `skillful run` started"));
        }
        let is_same = same_model(&setup, self.choice, wish, journal.origin());
        let mut run = journal::restore(setup, &events).map_err(|error| {
            Failure::from_error(Exit::Refused, "RecordMismatch", &error)
                .hint("`skillful runs verify` shows more")
        })?;
        if run.outcome().is_some() {
            // It may have been killed before it could write its answer.
            journal.finish(&run).map_err(|error| of_journal(&error))?;
            return Err(Failure::new(
                Exit::Failed,
                "AlreadyFinished",
                format!("run `{run_id}` is finished"),
            )
            .hint(format!("`skillful runs show {run_id}` shows it")));
        }
        is_same?;
        let elapsed = events.iter().filter_map(|event| event.data.elapsed_ms()).max().unwrap_or(0);
        run.resume(self.terms(), elapsed)
            .map_err(|error| Failure::from_error(Exit::Failed, "RunError", &error))?;
        let clock = self.choice.clock(Duration::from_millis(elapsed));
        // Whoever was approved for the run is asked about again: a record may come from anywhere.
        Ok((run, journal, clock))
    }

    /// What today's settings say about any run.
    fn terms(&self) -> Terms {
        let config = &self.session.layers.config;
        Terms {
            budget: config.budget.clone(),
            patience: config.patience,
            tools: self.engine.tools(),
            store_prompts: config.audit.store_prompts,
        }
    }

    pub(super) fn redactor(&self) -> Result<Redactor, Failure> {
        redactor(self.session, self.choice.secrets())
    }

    pub(super) fn workbench(&self, invoked: Option<SkillRef>) -> Result<Workbench<'_>, Failure> {
        let Self { session, index, offer, engine, .. } = *self;
        Ok(Workbench { invoked, ..workbench(session, index, offer, engine, self.redactor()?)? })
    }
}

/// What takes secrets out of everything that is recorded.
pub(crate) fn redactor(
    session: &Session,
    more: impl IntoIterator<Item = String>,
) -> Result<Redactor, Failure> {
    let mut secrets = session.secrets();
    secrets.extend(more);
    let patterns = &session.layers.config.audit.redact;
    Redactor::new(secrets.iter().map(String::as_str), patterns.iter().map(String::as_str)).map_err(
        |error| Failure::from_error(Exit::Usage, "InvalidConfiguration", &error).hint(error.hint()),
    )
}

/// What a run acts with here.
pub(crate) fn workbench<'a>(
    session: &Session,
    index: &'a Index,
    offer: &'a Offer<'a>,
    engine: &Engine,
    redactor: Redactor,
) -> std::io::Result<Workbench<'a>> {
    let config = &session.layers.config;
    let folder = session.surroundings.working_directory.clone();
    let mut workspace = crate::workspace::open_with(session, index)?;
    let patterns = |hosts: &[String]| hosts.iter().map(Pattern::new).collect();
    workspace.network.hosts = patterns(&config.execution.network_hosts);
    workspace.network.private_hosts = patterns(&config.execution.private_hosts);
    let mut interpreters = Interpreters::default();
    for (extension, command) in &config.execution.interpreters {
        interpreters = interpreters.with(extension.trim_start_matches('.'), command.clone());
    }
    let variable = |name| session.variable(name).cloned();
    Ok(Workbench {
        index,
        offer,
        invoked: None,
        read: config.read_options(),
        limits: config.load_limits(),
        workspace,
        folder,
        engine: engine.clone(),
        redactor,
        scripts: ScriptSettings {
            kernel: LazyLock::new(Kernel::detect),
            environment: Environment {
                path: variable("PATH"),
                language: variable("LANG"),
                time_zone: variable("TZ"),
            },
            interpreters,
            arguments: config.argument_limits(),
            confinement: config.confinement(),
        },
    })
}

/// Refuses to go on with a run, or to take it back, in another folder than its own.
///
/// One that was adopted worked elsewhere, most likely on another machine: here it is at home in the project's folder.
pub(crate) fn same_workspace(
    session: &Session,
    setup: &Setup,
    origin: Origin,
    what: &str,
) -> Result<(), Failure> {
    let here = session.surroundings.working_directory.as_path();
    if origin == Origin::Adopted && here == session.surroundings.project() {
        return Ok(());
    }
    let Some(own) = setup.facts.workspace.as_deref() else {
        let message = format!("run `{}` does not say which folder it used", setup.run_id);
        return Err(Failure::new(Exit::Refused, "OtherWorkspace", message)
            .hint("you can resume or undo only runs that do"));
    };
    if Path::new(own) == here {
        return Ok(());
    }
    let message = format!("run `{}` worked in `{own}`, not here", setup.run_id);
    let hint = format!("use that folder: skillful -C {} {what} {}", quoted(own), setup.run_id);
    Err(Failure::new(Exit::Refused, "OtherWorkspace", message).hint(hint))
}

/// Refuses to go on with a run at another server, or with another model, than before; unless the user names it.
fn same_model(
    setup: &Setup,
    choice: &Choice,
    wish: Wish<'_>,
    origin: Origin,
) -> Result<(), Failure> {
    let Provenance { model, server, .. } = &setup.facts;
    let (model, server) = (model.as_deref().unwrap_or_default(), server.as_deref());
    let provider = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let is_adopted = origin == Origin::Adopted;
    let is_new = wish.base_url.is_some()
        || (wish.model.is_some() && (is_adopted || provider(model) != provider(&choice.name)));
    let is_named = wish.model.is_some() || choice.name == model;
    if is_new || (is_named && choice.server() == server) {
        return Ok(());
    }
    let at = |server: Option<&str>| server.map_or(String::new(), |server| format!(" at {server}"));
    let message = format!(
        "run `{}` used {model}{}; now it would use {}{}",
        setup.run_id,
        at(server),
        choice.name,
        at(choice.server())
    );
    // Whoever made an adopted record chose the model and the server in it, and would get the user's key.
    let (model, server) = match is_adopted {
        true => (choice.name.as_str(), choice.server()),
        false => (model, server),
    };
    let mut again = format!("skillful run --resume {} --model {}", setup.run_id, quoted(model));
    if let Some(server) = server {
        again += &format!(" --base-url {}", quoted(server));
    }
    Err(Failure::new(Exit::Refused, "OtherModel", message)
        .hint(format!("choose the model that continues: {again}")))
}

fn quoted(word: &str) -> String {
    shell_quoted(word.as_ref())
}

/// What a recorded run began with.
pub(crate) fn setup_of(folder: &Path, events: &[Event]) -> Result<Setup, Failure> {
    let empty = || {
        Failure::new(Exit::Refused, "RecordDamaged", "the record is empty")
            .hint("start the run again")
    };
    let catalog = journal::catalog(folder).map_err(|error| of_journal(&error))?;
    journal::setup_of(events.first().ok_or_else(empty)?, catalog).map_err(|error| {
        Failure::from_error(Exit::Refused, "RecordDamaged", &error)
            .hint("`skillful runs verify` shows more")
    })
}

fn kind_of(setup: &Setup) -> &'static str {
    match setup.kind {
        RunKind::Own => "a run of its own",
        RunKind::Child => "a part of another run",
        RunKind::Served => "a session of an MCP client",
    }
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
