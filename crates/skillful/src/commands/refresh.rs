//! `skillful refresh`

use std::process::ExitCode;

use skill::index::Index;

use crate::commands::list::Listing;
use crate::failure::Failure;
use crate::output::{Output, count};
use crate::session::{Session, describe_roots};

/// Read all skills again and rebuild the cache
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful refresh\n  skillful refresh --json | jq .report.index_hash"
)]
pub(crate) struct Refresh {}

impl Refresh {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = Index::rebuild(&session.roots(), &session.index_options()?);
        index.prepare_search();
        let listing = Listing::of(&index, session);
        output.result(&listing, |out, _| {
            writeln!(
                out,
                "{}, {} left out, {}",
                count(index.skills.len(), "skill"),
                index.report.ignored.len(),
                listing.report.index_hash
            )
        })?;
        describe_roots(&index, output);
        Ok(ExitCode::SUCCESS)
    }
}
