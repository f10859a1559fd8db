//! `skillful runs adopt`

use std::path::Path;
use std::process::ExitCode;

use agent::action::{Action, SkillRef};
use agent::event::{Event, EventData};
use agent::run::Run;
use agent::setup::Provenance;
use agent::step::Step;
use basics::run_id::RunId;
use basics::text::{for_terminal, prefix};
use runtime::conversation::read_setup;
use runtime::journal;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::installing::ask;
use crate::output::{Output, Palette};
use crate::session::Session;

/// Accept a run that was recorded elsewhere as your own
///
/// You can look at a record that came with a project, but you cannot resume or undo it. This command shows you what the
/// record would do, and asks. If you say yes, you can resume it, under your own rules. What it would apply to your files
/// or undo there is dropped.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs adopt 20261115_083000_k3f9 --dry-run\n  skillful runs adopt 20261115_083000_k3f9"
)]
pub(super) struct Adopt {
    /// The run's name
    run: String,
    /// Adopt it without asking
    #[arg(long)]
    yes: bool,
    /// Show what the record would do, but change nothing
    #[arg(long)]
    dry_run: bool,
}

/// A record and what it would do.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Adopted {
    run_id: String,
    /// Whether it was taken over.
    adopted: bool,
    request: String,
    /// Who decided.
    model: Option<String>,
    /// Where the model was.
    server: Option<String>,
    /// Where the run worked.
    workspace: Option<String>,
    /// Texts of skills in the record, which go to the model with it.
    skills: Vec<TextOfSkill>,
    /// What `run --resume` would do next.
    next: Option<String>,
    /// Files that the record says were changed. What it would apply or undo is dropped, so they stay as they are.
    changes: Vec<String>,
}

/// A text in a record, and which skill's it says it is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TextOfSkill {
    name: String,
    source: String,
}

/// Characters of an action that are shown.
const SHOWN: usize = 2_000;

impl Adopt {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        if self.run.parse::<RunId>().is_err() {
            let message = format!("`{}` is not a run", for_terminal(&self.run));
            return Err(Failure::new(Exit::Usage, "Usage", message).hint(
                "use the name from `skillful runs list`, so that you adopt the run you looked at",
            ));
        }
        let owner = session.new_owner()?;
        let folder = session.run_folder(&self.run)?;
        let found = journal::verify(&folder, Some(&owner))?;
        if !found.ok {
            let message = format!("the record of `{}` is damaged", self.run);
            return Err(Failure::new(Exit::Refused, "RecordDamaged", message)
                .hint(format!("`skillful runs verify {}` shows where", self.run)));
        }
        if found.origin.is_own() {
            let message =
                format!("run `{}` is yours: it was {}", self.run, found.origin.describe());
            return Err(Failure::new(Exit::Usage, "Usage", message).hint(format!(
                "`skillful run --resume {0}` or `skillful runs undo {0}`",
                self.run
            )));
        }
        let mut adopted = self.look(&folder)?;
        if !output.json {
            describe(&adopted).iter().for_each(|line| output.note(line));
        }
        if !self.dry_run {
            self.confirm()?;
            journal::adopt(&folder, &owner)?;
            adopted.adopted = true;
        }
        output.result(&adopted, |out, Palette { good, .. }| match adopted.adopted {
            true => writeln!(out, "{good}adopted{good:#}  {}", adopted.run_id),
            false => Ok(()),
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// What the record would do.
    fn look(&self, folder: &Path) -> Result<Adopted, Failure> {
        let events = journal::read(folder)?;
        let setup = read_setup(folder, &events)?;
        let Provenance { model, server, workspace, .. } = setup.facts.clone();
        let run = journal::restore(setup, &events)?;
        let text = |skill: SkillRef| TextOfSkill {
            source: skill.source.map_or_else(String::new, |source| source.to_string()),
            name: skill.name,
        };
        Ok(Adopted {
            skills: run.selected_skills().into_iter().map(text).collect(),
            run_id: self.run.clone(),
            adopted: false,
            request: run.request().to_owned(),
            next: next(&run),
            model,
            server,
            workspace,
            changes: applied_paths(&events),
        })
    }

    fn confirm(&self) -> Result<(), Failure> {
        match self.yes.then_some(true).or_else(|| ask("Adopt this run?")) {
            Some(true) => Ok(()),
            Some(false) => {
                Err(Failure::new(Exit::Approval, "ApprovalDenied", "nothing was changed")
                    .hint("you can still look at the run with `skillful runs show`"))
            }
            None => Err(Failure::new(
                Exit::Approval,
                "ApprovalRequired",
                format!("run `{}` was not made here, so adopting it needs your approval", self.run),
            )
            .hint(format!("to adopt it, run: skillful runs adopt {} --yes", self.run))),
        }
    }
}

fn next(run: &Run) -> Option<String> {
    let action = |action: &Action| {
        let payload = json!(action)["payload"].to_string();
        format!("{}: {}", action.kind(), prefix(&payload, SHOWN))
    };
    match run.step() {
        Step::CallModel(_) => Some("asks the model".to_owned()),
        Step::Prepare(planned) => Some(action(planned)),
        Step::Ask(noted) | Step::Perform(noted) => Some(action(noted.action)),
        Step::Question(question) => Some(format!("asks: {}", prefix(&question.question, SHOWN))),
        Step::Done(_) => None,
    }
}

/// What was applied where it was made, as far as the record names it.
fn applied_paths(events: &[Event]) -> Vec<String> {
    let applied = events.iter().filter_map(|event| match &event.data {
        EventData::ChangesApplied(applied) => Some(applied.changes.paths.clone()),
        _ => None,
    });
    applied.flatten().collect()
}

/// Line by line, for whoever is asked.
fn describe(adopted: &Adopted) -> Vec<String> {
    let mut lines = vec![format!("Run {} was not made here.", adopted.run_id)];
    let mut add = |label: &str, value: &str| lines.push(format!("  {label:<10}{value}"));
    add("request", &adopted.request);
    if let Some(workspace) = &adopted.workspace {
        add("worked in", workspace);
    }
    let model = adopted.model.as_deref().unwrap_or("an unknown model");
    match &adopted.server {
        Some(server) => add("model", &format!("{model} at {server}")),
        None => add("model", model),
    }
    for TextOfSkill { name, source } in &adopted.skills {
        add("tells", &format!("the model a text, said to be the {source} skill {name}"));
    }
    add("next", adopted.next.as_deref().unwrap_or("nothing, the run has ended"));
    if !adopted.changes.is_empty() {
        add("changed", &adopted.changes.join(", "));
    }
    add("files", "what it would apply or undo is dropped");
    lines
}
