//! `skillful runs`

mod adopt;
mod list;
mod prune;
mod replay;
mod show;
mod undo;
mod verify;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;
pub(crate) use adopt::Adopted;
pub(crate) use list::Listed;
pub(crate) use prune::Pruned;
pub(crate) use replay::Replayed;
pub(crate) use show::tell_origin;
pub(crate) use undo::Undone;

/// See, check and undo what agents did here
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs list\n  skillful runs show last\n  skillful runs verify last\n  skillful runs replay last\n  skillful runs prune --older-than 30"
)]
pub(crate) struct Runs {
    #[command(subcommand)]
    what: RunsCommand,
}

#[derive(Debug, clap::Subcommand)]
enum RunsCommand {
    List(list::List),
    Show(show::Show),
    Replay(replay::Replay),
    Verify(verify::Verify),
    Undo(undo::Undo),
    Adopt(adopt::Adopt),
    Prune(prune::Prune),
}

impl Runs {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        match &self.what {
            RunsCommand::List(command) => command.run(session, output),
            RunsCommand::Show(command) => command.run(session, output),
            RunsCommand::Replay(command) => command.run(session, output),
            RunsCommand::Verify(command) => command.run(session, output),
            RunsCommand::Undo(command) => command.run(session, output),
            RunsCommand::Adopt(command) => command.run(session, output),
            RunsCommand::Prune(command) => command.run(session, output),
        }
    }
}

/// A value's word in JSON.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}
