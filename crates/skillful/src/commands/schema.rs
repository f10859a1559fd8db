//! `skillful schema`

use std::process::ExitCode;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema as JsonSchemaValue, schema_for};

use crate::commands;
use crate::failure::{ErrorDocument, Exit, Failure};
use crate::output::Output;
use runtime::settings::{Config, closest};

/// Print the JSON Schema of a file or an output
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful schema\n  skillful schema config > config.schema.json"
)]
pub(crate) struct Schema {
    /// The schema's name [default: list all names]
    name: Option<String>,
}

type Make = fn() -> JsonSchemaValue;

/// Every schema, by name.
const SCHEMAS: &[(&str, Make)] = &[
    ("action", || schema_for!(agent::action::Decision)),
    ("case", || schema_for!(eval::case::Case)),
    ("completions", printed::<commands::completions::Script>),
    ("config", || schema_for!(Config)),
    ("config-init", printed::<commands::config::Initialised>),
    ("config-origin", printed::<commands::config::Origins>),
    ("doctor", printed::<commands::doctor::Diagnosis>),
    ("entry", printed::<skill::index::Entry>),
    ("error", printed::<ErrorDocument<'static>>),
    ("eval-judge", printed::<commands::eval::Judged>),
    ("eval-new", printed::<commands::eval::Written>),
    ("eval-plan", printed::<commands::eval::Plan>),
    ("eval-report", printed::<eval::report::Report>),
    ("eval-triggers", printed::<commands::eval::Rates>),
    ("event", || schema_for!(agent::event::Event)),
    ("export", printed::<commands::pack::Packed>),
    ("inspect", printed::<commands::inspect::Inspection<'static>>),
    ("install", printed::<commands::install::InstallResult>),
    ("keygen", printed::<commands::sign::GeneratedKeys>),
    ("list", printed::<commands::list::Listing<'static>>),
    ("mcp-config", printed::<commands::mcp::ClientSettings>),
    ("models", printed::<commands::models::AtHand>),
    ("new", printed::<commands::new::Created>),
    ("outdated", printed::<commands::update::OutdatedSkills>),
    ("pack", printed::<commands::pack::Packed>),
    ("permissions", printed::<commands::permissions::Grants>),
    ("restore", printed::<commands::uninstall::Moved>),
    ("run", || schema_for!(commands::run::RunResult)),
    ("run-summary", || schema_for!(runtime::journal::RunSummary)),
    ("runs-adopt", printed::<commands::runs::Adopted>),
    ("runs-apply", printed::<commands::runs::AppliedFiles>),
    ("runs-changes", printed::<commands::runs::ChangedFiles>),
    ("runs-export", printed::<commands::runs::Exported>),
    ("runs-files", printed::<commands::runs::Produced>),
    ("runs-list", printed::<commands::runs::Listed>),
    ("runs-prune", printed::<commands::runs::Pruned>),
    ("runs-replay", printed::<commands::runs::Replayed>),
    ("runs-show", printed::<Vec<agent::event::Event>>),
    ("runs-take", printed::<commands::runs::Taken>),
    ("runs-undo", printed::<commands::runs::Undone>),
    ("runs-verify", printed::<runtime::journal::Verification>),
    ("scan", printed::<commands::scan::Scanned>),
    ("script", || schema_for!(model::scripted::Script)),
    ("search", printed::<commands::search::Hits>),
    ("sign", printed::<commands::sign::SignedPack>),
    ("trust", printed::<commands::trust::project::Trusted>),
    ("trust-key", printed::<commands::trust::key::KeyChange>),
    ("uninstall", printed::<commands::uninstall::Moved>),
    ("untrust", printed::<commands::trust::Untrusted>),
    ("usage", printed::<commands::usage::UsedSkills>),
    ("validate", printed::<commands::validate::Validation>),
    ("update", printed::<commands::update::UpdateResult>),
    ("verify", printed::<commands::verify::Verification>),
    ("why", printed::<commands::why::Reasons<'static>>),
];

/// The schema of what is printed: a value that is never left out is required, though it may be null.
fn printed<T: JsonSchema>() -> JsonSchemaValue {
    SchemaSettings::default().for_serialize().into_generator().into_root_schema_for::<T>()
}

impl Schema {
    pub(crate) fn run(&self, output: &Output) -> Result<ExitCode, Failure> {
        let names = SCHEMAS.iter().map(|(name, _)| *name);
        let Some(wanted) = &self.name else {
            let names: Vec<&str> = names.collect();
            output.result(&names, |out, _| {
                names.iter().try_for_each(|name| writeln!(out, "{name}"))
            })?;
            return Ok(ExitCode::SUCCESS);
        };
        let Some((_, make)) = SCHEMAS.iter().find(|(name, _)| name == wanted) else {
            let failure = Failure::new(
                Exit::Usage,
                "UnknownSchema",
                format!("there is no schema `{wanted}`"),
            );
            return Err(match closest(wanted, names) {
                Some(name) => failure.hint(format!("did you mean `{name}`?")),
                None => failure.hint("`skillful schema` lists them"),
            });
        };
        let schema = make();
        output.result(&schema, |out, _| {
            serde_json::to_writer_pretty(&mut *out, &schema)?;
            writeln!(out)
        })?;
        Ok(ExitCode::SUCCESS)
    }
}
