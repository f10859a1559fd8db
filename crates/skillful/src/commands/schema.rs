//! `skillful schema`

use std::process::ExitCode;

use schemars::{Schema as JsonSchemaValue, schema_for};

use crate::commands;
use crate::config::{Config, closest};
use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Print the JSON Schema of a file or an output
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful schema\n  skillful schema config > config.schema.json"
)]
pub(crate) struct Schema {
    /// Which one; all names are listed without it
    name: Option<String>,
}

type Make = fn() -> JsonSchemaValue;

/// Every schema, by name.
pub(crate) const SCHEMAS: &[(&str, Make)] = &[
    ("config", || schema_for!(Config)),
    ("entry", || schema_for!(skill::index::Entry)),
    ("inspect", || schema_for!(commands::inspect::Inspection<'static>)),
    ("list", || schema_for!(commands::list::Listing<'static>)),
    ("search", || schema_for!(commands::search::Hits)),
    ("validate", || schema_for!(commands::validate::Validation)),
    ("why", || schema_for!(commands::why::Reasons<'static>)),
];

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
