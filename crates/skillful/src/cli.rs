//! The command line: what can be asked, and how answers and errors leave the process.

mod help;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use basics::text::{for_terminal, one_line};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::commands;
use crate::failure::{Exit, Failure};
use crate::global::Global;
use crate::output::Output;
use crate::session::Session;

/// Run Agent Skills: find them, use them, contain them, measure them, share them
#[derive(Debug, Parser)]
#[command(name = "skillful", version, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  skillful run \"Summarise sales.csv\"       do a task\n  skillful new weekly-report               create a skill\n  skillful mcp --print-config claude-code  use your skills in another agent\n  skillful doctor                          find problems"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Chat(commands::chat::Chat),
    Run(commands::run::Run),
    Runs(commands::runs::Runs),
    Usage(commands::usage::Usage),
    List(commands::list::List),
    Search(commands::search::Search),
    Inspect(commands::inspect::Inspect),
    Why(commands::why::Why),
    Validate(commands::validate::Validate),
    Scan(commands::scan::Scan),
    New(commands::new::New),
    Refresh(commands::refresh::Refresh),
    Models(commands::models::Models),
    Doctor(commands::doctor::Doctor),
    Pack(commands::pack::Pack),
    Export(commands::pack::Export),
    Install(commands::install::Install),
    Uninstall(commands::uninstall::Uninstall),
    Restore(commands::uninstall::Restore),
    Verify(commands::verify::Verify),
    Outdated(commands::update::Outdated),
    Update(commands::update::Update),
    Keygen(commands::sign::Keygen),
    Sign(commands::sign::Sign),
    Eval(commands::eval::Eval),
    Permissions(commands::permissions::Permissions),
    Mcp(commands::mcp::Mcp),
    Trust(commands::trust::Trust),
    Untrust(commands::trust::Untrust),
    Config(commands::config::ConfigCommand),
    Schema(commands::schema::Schema),
    Completions(commands::completions::Completions),
}

/// Runs the command the process was started with.
pub(crate) fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let wants_json = arguments.iter().any(|argument| argument == "--json");
    let is_talk = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) if cli.command.is_some() || is_talk => cli,
        Ok(_) => return usage(&without_command(&arguments), wants_json),
        Err(error) => {
            // What was typed may be a stranger's file name, so the error is made of it escaped.
            let typed = arguments.iter().map(|argument| argument.to_string_lossy());
            let typed = typed.map(|argument| for_terminal(&argument).into_owned());
            let error =
                help::lay_out(Cli::command()).try_get_matches_from(typed).err().unwrap_or(error);
            return usage(&error, wants_json);
        }
    };
    let output = Output::new(&cli.global);
    match execute(cli, &output) {
        Ok(code) => code,
        Err(failure) => output.fail(&failure),
    }
}

/// Runs another command, as if the program were started with these words; says itself what went wrong.
pub(crate) fn run_words(words: Vec<OsString>) -> ExitCode {
    match Cli::try_parse_from(words) {
        Ok(cli) => {
            let output = Output::new(&cli.global);
            execute(cli, &output).unwrap_or_else(|failure| output.fail(&failure))
        }
        Err(error) => usage(&error, false),
    }
}

/// What is said to whoever names no command where nobody can talk.
fn without_command(arguments: &[OsString]) -> clap::Error {
    let help = help::lay_out(Cli::command().arg_required_else_help(true));
    let strict = || Cli::command().subcommand_required(true).try_get_matches_from(arguments);
    let missing = help.clone().try_get_matches_from(arguments).err().or_else(|| strict().err());
    missing.unwrap_or_else(|| help.clone().error(ErrorKind::MissingSubcommand, "name a command"))
}

/// Help and version are answers; everything else is a mistake in the command line.
fn usage(error: &clap::Error, wants_json: bool) -> ExitCode {
    if error.use_stderr() && wants_json {
        return Output::json_only().fail(&misuse(&error.to_string()));
    }
    // Printing can only fail where nobody reads.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The first paragraph says what is wrong; another one may have a tip.
fn misuse(text: &str) -> Failure {
    let mut paragraphs = text.split("\n\n").map(one_line);
    let message = paragraphs.next().unwrap_or_default();
    let failure = Failure::new(Exit::Usage, "Usage", message.trim_start_matches("error: "));
    match paragraphs.find_map(|paragraph| Some(paragraph.strip_prefix("tip: ")?.to_owned())) {
        Some(tip) => failure.hint(tip),
        None => failure.hint("see `skillful --help`"),
    }
}

fn execute(cli: Cli, output: &Output) -> Result<ExitCode, Failure> {
    let session = || Session::start(&cli.global, output);
    let Some(command) = cli.command else {
        return commands::chat::Chat::default().run(&session()?, output);
    };
    match command {
        Command::Chat(command) => command.run(&session()?, output),
        Command::Run(command) => command.run(session()?, output),
        Command::Runs(command) => command.run(&session()?, output),
        Command::Usage(command) => command.run(&session()?, output),
        Command::List(command) => command.run(&session()?, output),
        Command::Search(command) => command.run(&session()?, output),
        Command::Inspect(command) => command.run(&session()?, output),
        Command::Why(command) => command.run(&session()?, output),
        Command::Validate(command) => command.run(&session()?, output),
        Command::Scan(command) => command.run(&session()?, output),
        Command::New(command) => command.run(&session()?, output),
        Command::Refresh(command) => command.run(&session()?, output),
        Command::Models(command) => command.run(&session()?, output),
        Command::Doctor(command) => command.run(&cli.global, output),
        Command::Pack(command) => command.run(&session()?, output),
        Command::Export(command) => command.run(&session()?, output),
        Command::Install(command) => command.run(&session()?, output),
        Command::Uninstall(command) => command.run(&session()?, output),
        Command::Restore(command) => command.run(&session()?, output),
        Command::Verify(command) => command.run(&session()?, output),
        Command::Outdated(command) => command.run(&session()?, output),
        Command::Update(command) => command.run(&session()?, output),
        Command::Keygen(command) => command.run(&session()?, output),
        Command::Sign(command) => command.run(&session()?, output),
        Command::Eval(command) => command.run(&session()?, output),
        Command::Permissions(command) => command.run(&session()?, output),
        Command::Mcp(command) => command.run(session()?, output),
        Command::Trust(command) => command.run(&session()?, output),
        Command::Untrust(command) => command.run(&session()?, output),
        Command::Config(command) => command.run(&session()?, output),
        Command::Schema(command) => command.run(output),
        Command::Completions(command) => command.run(&mut Cli::command(), output),
    }
}
