//! `skillful eval`

mod compared;
mod folder;
mod from_run;
pub(crate) mod gate;
mod judge;
mod new;
mod plan;
mod progress;
mod results;
mod run;
mod settings;
mod summary;
mod triggers;

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;

pub(crate) use judge::Judged;
pub(crate) use new::Written;
pub(crate) use plan::Plan;
pub(crate) use triggers::Rates;

/// Measure skills: are they chosen, do runs behave, do they help?
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful eval new csv-report\n  skillful eval run\n  skillful eval run my-skill --model openai:gpt-5-mini --runs 3\n  skillful eval run my-skill --with-without my-skill --model openai:gpt-5-mini\n  skillful eval triggers my-skill\n  skillful eval from-run last\n  skillful eval judge last --case .agent/evals/csv/basic/case.json"
)]
pub(crate) struct Eval {
    #[command(subcommand)]
    what: EvalCommand,
}

#[derive(Debug, clap::Subcommand)]
enum EvalCommand {
    Run(run::Run),
    Judge(judge::Judge),
    Triggers(triggers::Triggers),
    FromRun(from_run::FromRun),
    New(new::New),
}

impl Eval {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        match &self.what {
            EvalCommand::Run(command) => command.run(session, output),
            EvalCommand::Judge(command) => command.run(session, output),
            EvalCommand::Triggers(command) => command.run(session, output),
            EvalCommand::FromRun(command) => command.run(session, output),
            EvalCommand::New(command) => command.run(session, output),
        }
    }
}
