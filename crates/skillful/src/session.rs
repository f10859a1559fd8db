//! What a command works with: a runtime, opened for the command line.
//!
//! The environment is read here and nowhere else.

use std::ops::Deref;
use std::sync::Arc;

use agent::budget::Budget;
use runtime::journal::Owner;
use runtime::open::{Runtime, Start};
use skill::index::{Index, RootReport};

use crate::failure::Failure;
use crate::global::Global;
use crate::output::{Output, count};

/// One run of the program in its surroundings.
#[derive(Debug)]
pub(crate) struct Session {
    runtime: Arc<Runtime>,
}

impl Deref for Session {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}

impl Session {
    /// Opens the runtime that the command line means.
    pub(crate) fn start(global: &Global, output: &Output) -> Result<Self, Failure> {
        let runtime = Runtime::open(Start {
            directory: global.directory.clone(),
            roots: global.roots.clone(),
            source: global.source,
            project_config: global.project_config.clone(),
            ..Start::here()
        })?;
        runtime.layers.warnings.iter().for_each(|warning| output.warn(warning));
        Ok(Self { runtime: Arc::new(runtime) })
    }

    /// The runtime, for whoever outlives the command.
    pub(crate) fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime)
    }

    /// Sets limits of this process's runs over those of the settings.
    pub(crate) fn set_budget(&mut self, set: impl FnOnce(&mut Budget)) {
        if let Some(runtime) = Arc::get_mut(&mut self.runtime) {
            set(&mut runtime.layers.config.budget);
        }
    }

    /// Who signs the records that this process makes; nobody where no key can be kept, which is said.
    pub(crate) fn signing_owner(&self, output: &Output) -> Option<Owner> {
        match self.runtime.new_owner() {
            Ok(owner) => Some(owner),
            Err(failure) => {
                output.warn(&format!(
                    "you will not be able to resume or undo this run: {}",
                    failure.message
                ));
                None
            }
        }
    }
}

/// With `--verbose`, the folders that were searched.
pub(crate) fn describe_roots(index: &Index, output: &Output) {
    for root in index.report.roots.iter().filter(|_| output.verbose) {
        output.note(&describe_root(root));
    }
}

pub(crate) fn describe_root(root: &RootReport) -> String {
    let skills = count(root.valid, "skill");
    format!("{skills} in {} ({}, {:.1} ms)", root.path, root.source, root.milliseconds)
}
