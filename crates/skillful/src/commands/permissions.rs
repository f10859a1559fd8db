//! `skillful permissions`

use std::process::ExitCode;

use basics::text::for_terminal;
use permission::Grant;
use schemars::JsonSchema;
use serde::Serialize;
use tools::grants::GrantFile;

use crate::failure::{Exit, Failure};
use crate::output::{Output, Palette};
use crate::session::Session;

/// Show or revoke what you approved for always
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful permissions list\n  skillful permissions revoke gr_0a1b2c3d4e5f\n  skillful permissions revoke --all"
)]
pub(crate) struct Permissions {
    #[command(subcommand)]
    what: PermissionsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PermissionsCommand {
    /// List your remembered approvals
    #[command(after_help = "Examples:\n  skillful permissions list --json | jq '.grants[].id'")]
    List,
    /// Revoke remembered approvals
    #[command(
        after_help = "Examples:\n  skillful permissions revoke gr_0a1b2c3d4e5f\n  skillful permissions revoke --all --dry-run"
    )]
    Revoke {
        /// Ids from `skillful permissions list`
        #[arg(required_unless_present = "all")]
        ids: Vec<String>,
        /// Revoke all of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        /// Show what would be revoked, but revoke nothing
        #[arg(long)]
        dry_run: bool,
    },
}

/// Approvals that are remembered, or no longer are.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Grants {
    grants: Vec<Remembered>,
}

/// One approval.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Remembered {
    id: String,
    #[serde(flatten)]
    grant: Grant,
}

impl Permissions {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let no_home =
            || Failure::new(Exit::Usage, "NoHome", "you have no home directory").hint("set HOME");
        let file = session.grants().ok_or_else(no_home)?;
        let chosen = match &self.what {
            PermissionsCommand::List => file.list()?,
            PermissionsCommand::Revoke { ids, all, dry_run } => revoke(&file, ids, *all, *dry_run)?,
        };
        let grants = chosen.into_iter().map(|grant| Remembered { id: grant.id(), grant }).collect();
        let grants = Grants { grants };
        output.result(&grants, |out, Palette { bold, dim, .. }| {
            for Remembered { id, grant } in &grants.grants {
                let what = for_terminal(&grant.pattern);
                writeln!(
                    out,
                    "{bold}{id}{bold:#}  {}  {what}  {dim}{}{dim:#}",
                    grant.permission,
                    for_terminal(&grant.project)
                )?;
            }
            Ok(())
        })?;
        if grants.grants.is_empty() {
            output.note("You approved nothing for always.");
        } else if let PermissionsCommand::Revoke { dry_run, .. } = self.what {
            output.note(if dry_run { "Nothing was revoked." } else { "Forgotten." });
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn revoke(
    file: &GrantFile,
    ids: &[String],
    all: bool,
    dry_run: bool,
) -> Result<Vec<Grant>, Failure> {
    let known = file.list()?;
    let is_known = |id: &&String| known.iter().any(|grant| grant.id() == **id);
    if let Some(unknown) = ids.iter().find(|id| !is_known(id)) {
        return Err(Failure::new(
            Exit::Failed,
            "GrantNotFound",
            format!("there is no approval `{unknown}`"),
        )
        .hint("`skillful permissions list` shows them"));
    }
    let chosen = |grant: &Grant| all || ids.contains(&grant.id());
    Ok(if dry_run { known.into_iter().filter(chosen).collect() } else { file.revoke(chosen)? })
}
