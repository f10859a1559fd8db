//! `skillful runs files`

use std::process::ExitCode;

use basics::text::for_terminal;
use runtime::changes::{KeptRun, ProducedFile};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;

/// List the files that a run made or changed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs files last\n  skillful runs take last report.pdf -o report.pdf"
)]
pub(super) struct Files {
    /// The run, or `last`
    run: String,
}

/// What a run produced.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Produced {
    files: Vec<ProducedFile>,
}

impl Files {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let files = KeptRun::open(session, &index, &self.run, "runs files")?.files()?;
        let produced = Produced { files };
        output.result(&produced, |out, Palette { dim, .. }| {
            for file in &produced.files {
                let state = if file.applied { "applied" } else { "kept" };
                writeln!(
                    out,
                    "{}  {dim}{} bytes  {}  {state}{dim:#}",
                    for_terminal(&file.path),
                    file.size,
                    for_terminal(&file.media_type),
                )?;
            }
            Ok(())
        })?;
        if produced.files.is_empty() {
            output.note("The run made no files.");
        }
        Ok(ExitCode::SUCCESS)
    }
}
