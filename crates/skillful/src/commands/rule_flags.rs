//! What may be done, as said on the command line.

use permission::{CommandLine, Engine, Mode};

use crate::failure::Failure;
use crate::session::Session;

/// Flags that approve and deny.
#[derive(Debug, Default, clap::Args)]
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
    /// How much is asked: read-only, ask, contained or plan
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
    /// Use this permission profile from your settings
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

impl RuleFlags {
    /// The engine of the configuration and these flags.
    pub(crate) fn engine(&self, session: &Session) -> Result<Engine, Failure> {
        self.engine_with(session, false)
    }

    /// The same; with `apply`, what a run changes is applied unasked.
    pub(crate) fn engine_with(&self, session: &Session, apply: bool) -> Result<Engine, Failure> {
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
        if apply {
            command_line = command_line.approve("apply_changes")?;
        }
        let mut engine = session.engine(command_line, self.profile.as_deref())?;
        if let Some(mode) = self.mode {
            engine.set_mode(session.layers.mode_with(mode));
        }
        Ok(engine)
    }
}
