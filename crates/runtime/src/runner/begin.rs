//! A new run: its record, and what it begins with.

use std::borrow::Borrow;
use std::hash::{BuildHasher, RandomState};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use agent::action::{Action, SkillRef};
use agent::model::Cancel;
use agent::run::Run;
use agent::setup::{Disclosed, Preloaded, Provenance, Setup, ShownCatalog};
use basics::failure::Failure;
use basics::sha256::Sha256;
use permission::Verdict;
use skill::index::Index;
use skill::offer::Catalog;

use super::continued::Continued;
use super::{Stage, Staged, Wanted};
use crate::driver::{Means, Toolbox};
use crate::here::here;
use crate::journal::{
    self, Durability, IndexSnapshot, Journal, JournalError, Owner, Redactor, summarise_scan,
};
use crate::open::Runtime;
use crate::settings::Disclosure;
use crate::workbench::Workbench;

/// What the record of a new run has from the start.
#[derive(Clone, Copy)]
pub struct NewRecord<'a> {
    /// Where it is made.
    pub runtime: &'a Runtime,
    /// The skills there are.
    pub index: &'a Index,
    /// What the user wants.
    pub request: &'a str,
    /// Who signs it.
    pub owner: Option<&'a Owner>,
    /// What takes secrets out of it.
    pub redactor: &'a Redactor,
}

/// Makes the record of a new run, and what its setup has in common with that of every other; the rest is the
/// default. `skills` and `catalog` say what is kept of the skills, and what is shown of them for the request.
pub fn begin<I: Borrow<IndexSnapshot> + Send, C: Borrow<Catalog>>(
    new: NewRecord<'_>,
    skills: impl FnOnce() -> I + Send,
    catalog: impl FnOnce(&str) -> C,
) -> Result<(Setup, Journal), JournalError> {
    let NewRecord { runtime, index, request, owner, redactor } = new;
    let random = RandomState::new().hash_one(std::process::id()) as u32;
    let run_id = journal::name_run(jiff::Timestamp::now(), random);
    let request = redactor.text(request).into_owned();
    // One waits for the disk, and with thousands of skills the others take their time.
    let (journal, skills, catalog) = thread::scope(|scope| {
        let runs = runtime.runs();
        let journal = scope.spawn(move || Journal::create(&runs, run_id, Durability::Sync, owner));
        let skills = scope.spawn(skills);
        let catalog = catalog(&request);
        (join(journal), join(skills), catalog)
    });
    let (mut journal, skills, catalog) = (journal?, skills.borrow(), catalog.borrow());
    journal.write_index(skills)?;
    journal.write_catalog(&catalog.text)?;
    let workspace = &runtime.surroundings.working_directory;
    let facts = Provenance {
        index_hash: Some(skills.hash().to_owned()),
        scan: Some(summarise_scan(&index.report, |text| redactor.text(text).into_owned())),
        catalog: Some(ShownCatalog {
            shown: catalog.shown.clone(),
            not_shown: catalog.not_shown,
            format: runtime.layers.config.catalog.format,
            sha256: Some(Sha256::of(&catalog.text)),
        }),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        workspace: Some(workspace.to_string_lossy().into_owned()),
        ..Provenance::default()
    };
    let catalog = catalog.text.clone();
    Ok((Setup { facts, catalog, ..Setup::new(journal.run_id().as_str(), request) }, journal))
}

impl Stage<'_, '_> {
    /// A new run and its record.
    pub(super) fn begin(&self, wanted: &Wanted) -> Result<Staged, Failure> {
        let Self { runtime, index, owner, redactor, decider, .. } = *self;
        let config = &runtime.layers.config;
        let continued = self.continues.map(|run_id| self.continued(run_id, self.compact));
        let (continues, carried, layer) = match continued.transpose()? {
            Some(Continued { link, carried, layer }) => (Some(link), Some(carried), layer),
            None => (None, None, None),
        };
        let new = NewRecord { runtime, index, request: &wanted.request, owner, redactor };
        let (setup, mut journal) = begin(
            new,
            || IndexSnapshot::of(index),
            |request| self.offer.catalog(config.catalog_limits(), request),
        )?;
        let (preloaded, disclosure) = self.preload(&mut journal)?;
        let setup = Setup {
            tools: self.engine.tools_of_run(),
            budget: config.budget.clone(),
            patience: config.patience,
            invoked: wanted.skill.clone(),
            preloaded,
            continues,
            carried,
            store_prompts: config.audit.store_prompts,
            mode: self.engine.mode(),
            apply: self.apply,
            attended: self.attended,
            here: Some(here(runtime)),
            facts: Provenance {
                disclosure,
                model: Some(decider.name().to_owned()),
                server: decider.server().map(str::to_owned),
                ..setup.facts
            },
            ..setup
        };
        let clock = decider.clock(Duration::ZERO);
        Ok(Staged { run: Run::start(setup), journal, clock, layer })
    }

    /// Bodies that are in the context from the start, as far as rules allow it unasked and half the context
    /// reaches; and which skills are there with their body, which with their metadata alone.
    fn preload(
        &self,
        journal: &mut Journal,
    ) -> Result<(Vec<Preloaded>, Option<Disclosed>), Failure> {
        let config = &self.runtime.layers.config;
        if config.disclosure == Disclosure::Metadata {
            return Ok((Vec::new(), None));
        }
        let mut workbench = Workbench::open(self.runtime, self.index, self.offer)?;
        let mut room = config.budget.max_context_chars / 2;
        let (mut preloaded, mut core, mut metadata) = (Vec::new(), Vec::new(), Vec::new());
        for entry in self.offer.skills() {
            let wanted = SkillRef { name: entry.name.clone(), source: Some(entry.source) };
            let loaded = self
                .is_allowed(&mut workbench, &wanted)
                .then(|| workbench.load(&wanted, &[], self.engine, self.redactor, journal));
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
        let means = Means {
            engine: self.engine,
            redactor: self.redactor,
            cancel: &Cancel::default(),
            chunks: &[],
            selected: &[],
            sees: false,
            show: &|_| {},
        };
        workbench.prepare(&selection, &means).is_ok_and(|request| {
            let hash = request.skill_hash.clone();
            matches!(self.engine.decide(request, hash.as_ref()), Verdict::Allowed(_))
        })
    }
}

fn join<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
