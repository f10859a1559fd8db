//! `skillful runs verify`

use std::process::ExitCode;

use runtime::journal;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Check that nobody changed a run's record, and who made it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs verify last\n  skillful runs verify 20261115_083000_k3f9 --json"
)]
pub(super) struct Verify {
    /// The run, or `last`
    run: String,
}

impl Verify {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let folder = session.run_folder(&self.run)?;
        let verification = journal::verify(&folder, session.owner()?.as_ref())?;
        output.result(&verification, |out, Palette { good, bad, .. }| {
            if verification.ok {
                let (origin, events) = (verification.origin.describe(), verification.events);
                writeln!(out, "{good}intact{good:#}, {origin}  {events} events")?;
                if verification.unsealed > 0 {
                    let unsealed = verification.unsealed;
                    writeln!(
                        out,
                        "  not signed: the last {unsealed}; the power failed, or somebody added them"
                    )?;
                }
                return Ok(());
            }
            writeln!(out, "{bad}changed{bad:#}  {} events", verification.events)?;
            for problem in &verification.problems {
                let place = problem.seq.map_or(String::new(), |seq| format!("event {seq}: "));
                writeln!(out, "  {place}{}", basics::text::for_terminal(&problem.message))?;
            }
            Ok(())
        })?;
        Ok(if verification.ok { ExitCode::SUCCESS } else { ExitCode::from(Exit::Refused as u8) })
    }
}
