//! A run that was recorded: what it began with, and going on with it.

use std::path::Path;
use std::time::Duration;

use agent::setup::{Provenance, RunKind, Setup, Terms};
use basics::failure::{Exit, Failure};
use permission::shell_quoted;

use super::{Decider, Stage, Staged};
use crate::conversation::{layer_among, read_chain};
use crate::journal::{self, Durability, Journal, Origin};
use crate::open::Runtime;

/// Refuses to go on with a run, or to take it back, in another folder than its own; `command` would do it there.
///
/// One that was adopted worked elsewhere, most likely on another machine: here it is at home in the project's folder.
pub fn check_workspace(
    runtime: &Runtime,
    setup: &Setup,
    origin: Origin,
    command: &str,
) -> Result<(), Failure> {
    let here = runtime.surroundings.working_directory.as_path();
    if origin == Origin::Adopted && here == runtime.surroundings.project() {
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
    let hint = format!("use that folder: skillful -C {} {command} {}", quoted(own), setup.run_id);
    Err(Failure::new(Exit::Refused, "OtherWorkspace", message).hint(hint))
}

impl Stage<'_, '_> {
    /// A recorded run, where it ended. Its terms are those of today, its model is the one that was chosen for it.
    pub(super) fn resume(&self, run_id: &str) -> Result<Staged, Failure> {
        let folder = self.runtime.run_folder(run_id)?;
        let owner = self.runtime.known_owner(run_id)?;
        let (mut journal, events) = Journal::open(&folder, Durability::Sync, &owner)?;
        let (setup, before) = read_chain(&folder, &events)?;
        check_workspace(self.runtime, &setup, journal.origin(), "run --resume")?;
        if setup.kind != RunKind::Own {
            let message = format!("run `{}` is {}", setup.run_id, describe(setup.kind));
            return Err(Failure::new(Exit::Usage, "NotResumable", message)
                .hint("you can resume only runs that `skillful run` started"));
        }
        let layer = layer_among(before.iter().rev().map(|run| run.folder.as_path()));
        let is_same = check_model(&setup, self.decider, journal.origin(), "--resume ");
        let mut run = journal::restore(setup, &events).map_err(|error| {
            Failure::from_error(Exit::Refused, "RecordMismatch", &error)
                .hint("`skillful runs verify` shows more")
        })?;
        if run.outcome().is_some() {
            // It may have been killed before it could write its answer.
            journal.finish(&run)?;
            let message = format!("run `{run_id}` is finished");
            return Err(Failure::new(Exit::Failed, "AlreadyFinished", message)
                .hint(format!("say what comes next: skillful run --continue={run_id} \"…\"")));
        }
        is_same?;
        let elapsed = events.iter().filter_map(|event| event.data.elapsed_ms()).max().unwrap_or(0);
        run.resume(self.terms(), elapsed)
            .map_err(|error| Failure::from_error(Exit::Failed, "RunError", &error))?;
        let clock = self.decider.clock(Duration::from_millis(elapsed));
        // Whatever was approved for the run is asked about again: a record may come from anywhere.
        Ok(Staged { run, journal, clock, layer })
    }

    /// What today's settings say about any run.
    fn terms(&self) -> Terms {
        let config = &self.runtime.layers.config;
        Terms {
            budget: config.budget.clone(),
            patience: config.patience,
            tools: self.engine.tools_of_run(),
            store_prompts: config.audit.store_prompts,
        }
    }
}

/// Refuses to go on with a run at another server, or with another model, than before; unless the user names it.
pub(super) fn check_model(
    setup: &Setup,
    decider: &Decider<'_>,
    origin: Origin,
    option: &str,
) -> Result<(), Failure> {
    let Provenance { model, server, .. } = &setup.facts;
    let (model, server) = (model.as_deref().unwrap_or_default(), server.as_deref());
    let provider = |name: &str| name.split(':').next().unwrap_or_default().to_owned();
    let is_adopted = origin == Origin::Adopted;
    let (names_model, names_server) = decider.is_named();
    let is_new = names_server
        || (names_model && (is_adopted || provider(model) != provider(decider.name())));
    let is_named = names_model || decider.name() == model;
    if is_new || (is_named && decider.server() == server) {
        return Ok(());
    }
    let at = |server: Option<&str>| server.map_or(String::new(), |server| format!(" at {server}"));
    let message = format!(
        "run `{}` used {model}{}; now it would use {}{}",
        setup.run_id,
        at(server),
        decider.name(),
        at(decider.server())
    );
    // Whoever made an adopted record chose the model and the server in it, and would get the user's key.
    let (model, server) = match is_adopted {
        true => (decider.name(), decider.server()),
        false => (model, server),
    };
    let mut again = format!("skillful run {option}{} --model {}", setup.run_id, quoted(model));
    if let Some(server) = server {
        again += &format!(" --base-url {}", quoted(server));
    }
    Err(Failure::new(Exit::Refused, "OtherModel", message)
        .hint(format!("choose the model that continues: {again}")))
}

fn quoted(word: &str) -> String {
    shell_quoted(word.as_ref())
}

pub(super) fn describe(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Own => "a run of its own",
        RunKind::Child => "a part of another run",
        RunKind::Served => "a session of an MCP client",
    }
}
