//! `skillful chat`

mod attach;
mod command;
mod complete;
mod history;
mod pick;
mod talk;

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use agent::model::Cancel;
use permission::Invocation;

use crate::commands::rule_flags::RuleFlags;
use crate::commands::run::approver::is_attended;
use crate::commands::run::{Closing, can_be_live, on_interrupt};
use crate::failure::Failure;
use crate::output::{Output, Palette};
use crate::session::Session;
use crate::terminal::editor::Editor;
use crate::terminal::stage::Stage;
use history::History;
use talk::{Next, Talk};

/// Talk with the agent: one request after the other
///
/// Type a request and press Enter. `/help` lists the commands, `@` completes files, `/` completes skills. What you type
/// while it works waits for its turn. Without a terminal, each line of stdin is a request.
#[derive(Debug, Default, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful chat\n  skillful chat \"What is in sales.csv?\"\n  skillful chat --continue\n  printf 'What is here?\\n' | skillful chat"
)]
pub(crate) struct Chat {
    /// Your first request
    request: Vec<String>,
    /// The model to use: anthropic:NAME, openai:NAME (and compatible servers), offline or scripted:FILE
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Use the model server at this address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Go on with a conversation: pick one, or name its run (--continue=RUN)
    #[arg(
        long = "continue",
        value_name = "RUN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ""
    )]
    continues: Option<String>,
    #[command(flatten)]
    rules: RuleFlags,
}

impl Chat {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        session.finish_interrupted_changes().iter().for_each(|line| output.note(line));
        let invocation = invocation();
        let mut talk = Talk::new(session, output, &self.rules, &invocation)
            .model(self.model.clone(), self.base_url.clone());
        match self.continues.as_deref() {
            Some("") => talk.go_on_with(&pick::conversation(session, output)?)?,
            Some(run) => talk.go_on_with(run)?,
            None => {}
        }
        let first = Some(self.request.join(" ")).filter(|request| !request.is_empty());
        match is_attended() && can_be_live(session, output) {
            true => live(talk, first),
            false => by_line(talk, first),
        }
    }
}

/// With a line editor at the bottom of the terminal.
fn live(mut talk: Talk<'_>, first: Option<String>) -> Result<ExitCode, Failure> {
    let mut history = History::read(talk.session);
    let index = talk.session.index()?;
    let completer = complete::completer(&index, &talk.session.surroundings.working_directory);
    crate::commands::trust::tell_hidden(&index, talk.output);
    talk.greet()?;
    let stage = Stage::open(Some(Editor::new(history.entries(), completer)));
    let _closing = Closing(stage.clone());
    let heard = stage.clone();
    on_interrupt(move || heard.interrupt())?;
    let Palette { bold, .. } = Palette::for_stream(&std::io::stderr());
    let mut request = first.or_else(|| stage.request());
    while let Some(text) = request {
        history.add(&text);
        stage.say(&format!("\n{bold}> {}{bold:#}\n", attach::shortened(&text)));
        if talk.handle(&text, Some(&stage)) == Next::Leave {
            break;
        }
        request = stage.request();
    }
    stage.close();
    Ok(ExitCode::SUCCESS)
}

/// Each line is a request.
fn by_line(mut talk: Talk<'_>, first: Option<String>) -> Result<ExitCode, Failure> {
    // The run that goes on is stopped; without one, the program ends.
    let stop = talk.stop.clone();
    on_interrupt(move || {
        let running: Option<Cancel> = stop.lock().ok().and_then(|running| running.clone());
        match running.filter(|cancel| !cancel.requested()) {
            Some(cancel) => cancel.request(),
            None => std::process::exit(130),
        }
    })?;
    let is_terminal = std::io::stdin().is_terminal();
    let mut next = first;
    let mut code = ExitCode::SUCCESS;
    loop {
        let line = match next.take() {
            Some(line) => line,
            None => {
                if is_terminal {
                    let mut stderr = std::io::stderr();
                    let _ = stderr.write_all(b"> ").and_then(|()| stderr.flush());
                }
                let mut line = String::new();
                // The lock is not kept: questions read there, too.
                match std::io::stdin().lock().read_line(&mut line) {
                    Ok(1..) => line,
                    Ok(0) | Err(_) => return Ok(code),
                }
            }
        };
        if line.trim().is_empty() {
            continue;
        }
        match talk.handle(line.trim(), None) {
            Next::Leave => return Ok(code),
            Next::Failed(failed) => code = failed,
            Next::GoOn => {}
        }
    }
}

/// This process's command line up to the command, which `skillful` alone does not have.
fn invocation() -> Invocation {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if arguments.iter().any(|argument| argument == "chat") {
        return crate::commands::run::invocation("chat");
    }
    let words = [OsString::from("skillful")].into_iter().chain(arguments);
    Invocation { command: words.chain([OsString::from("chat")]).collect(), arguments: Vec::new() }
}
