//! `skillful runs`

mod adopt;
mod apply;
mod changes;
mod export;
mod files;
mod list;
mod prune;
mod replay;
mod show;
mod take;
mod undo;
mod verify;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;
pub(crate) use adopt::Adopted;
pub(crate) use apply::AppliedFiles;
pub(crate) use changes::ChangedFiles;
pub(crate) use export::Exported;
pub(crate) use files::Produced;
pub(crate) use list::Listed;
pub(crate) use prune::Pruned;
pub(crate) use replay::Replayed;
pub(crate) use show::tell_origin;
pub(crate) use take::Taken;
pub(crate) use undo::Undone;

/// See, check and undo what agents did here
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs list\n  skillful runs show last\n  skillful runs changes last --diff\n  skillful runs apply last\n  skillful runs undo last\n  skillful runs verify last\n  skillful runs replay last\n  skillful runs export last\n  skillful runs prune --older-than 30"
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
    Changes(changes::Changes),
    Apply(apply::Apply),
    Undo(undo::Undo),
    Files(files::Files),
    Take(take::Take),
    Export(export::Export),
    Adopt(adopt::Adopt),
    Prune(prune::Prune),
}

impl Runs {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_changes().iter().for_each(|line| output.note(line));
        match &self.what {
            RunsCommand::List(command) => command.run(session, output),
            RunsCommand::Show(command) => command.run(session, output),
            RunsCommand::Replay(command) => command.run(session, output),
            RunsCommand::Verify(command) => command.run(session, output),
            RunsCommand::Changes(command) => command.run(session, output),
            RunsCommand::Apply(command) => command.run(session, output),
            RunsCommand::Undo(command) => command.run(session, output),
            RunsCommand::Files(command) => command.run(session, output),
            RunsCommand::Take(command) => command.run(session, output),
            RunsCommand::Export(command) => command.run(session, output),
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
