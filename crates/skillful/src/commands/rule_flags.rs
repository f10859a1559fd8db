//! What may be done, as said on the command line.

use permission::{CommandLine, Engine};

use crate::failure::Failure;
use crate::session::Session;

/// Flags that approve and deny.
#[derive(Debug, clap::Args)]
pub(crate) struct RuleFlags {
    /// Approve everything of medium risk, this time only
    #[arg(long)]
    yes: bool,
    /// Approve a tool, or only its use with PATTERN (repeatable)
    #[arg(long, value_name = "TOOL[:PATTERN]")]
    approve: Vec<String>,
    /// Deny a tool, or only its use with PATTERN (repeatable)
    #[arg(long, value_name = "TOOL[:PATTERN]")]
    deny: Vec<String>,
    /// Use this permission profile from your settings
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl RuleFlags {
    /// The engine of the configuration and these flags.
    pub(crate) fn engine(&self, session: &Session) -> Result<Engine, Failure> {
        let mut command_line = CommandLine::default();
        for approved in &self.approve {
            command_line = command_line.approve(approved)?;
        }
        for denied in &self.deny {
            command_line = command_line.deny(denied)?;
        }
        if self.yes {
            command_line = command_line.yes();
        }
        session.engine(command_line, self.profile.as_deref())
    }
}
