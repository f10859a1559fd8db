//! `skillful run`

mod about;
pub(crate) mod approver;
pub(crate) mod diff;
pub(crate) mod ending;
mod question;
pub(crate) mod screen;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent::model::Cancel;
use permission::Invocation;
use runtime::models::{Choice, Wish};
use runtime::runner::{Runner, Wanted};
use runtime::settings::Apply;
use skill::index::Index;

use crate::commands::rule_flags::RuleFlags;
use crate::commands::trust::tell_hidden;
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;
use crate::terminal::stage::Stage;
use approver::{Terminal, is_attended};
use ending::INTERRUPTED;
pub(crate) use ending::RunResult;
use ending::Teller;
use screen::Screen;

/// Do a task with the skills that fit it
///
/// The model chooses skills, reads them and acts. It asks you before anything risky. Everything is recorded
/// under .agent/runs: you can see it, check it and undo it with `skillful runs`. Without a model, the
/// offline planner decides.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful run \"Summarise sales.csv\"\n  skillful run --skill csv-report sales.csv\n  skillful run --approve run_script:csv-report/* \"Summarise sales.csv\"\n  skillful run --model anthropic:claude-sonnet-4-5 \"Summarise sales.csv\"\n  skillful run --mode contained --apply \"Make the tests pass\"\n  skillful run --resume 20261115_083000_k3f9 --answer \"Q1\""
)]
pub(crate) struct Run {
    /// Your task; start with /NAME to choose a skill
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    request: Vec<String>,
    /// Use this skill
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    skill: Option<String>,
    /// The model to use: anthropic:NAME, openai:NAME (and compatible servers), offline or scripted:FILE
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Use the model server at this address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Continue a run that stopped or waits for an approval
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Your answer to the question that the run waits with
    #[arg(long, value_name = "TEXT", requires = "resume")]
    answer: Option<String>,
    /// Tell the model that nobody answers its questions
    #[arg(long)]
    no_questions: bool,
    /// Apply what the run changes without asking, this time only
    #[arg(long)]
    apply: bool,
    #[command(flatten)]
    rules: RuleFlags,
    /// Print only the run's events, as JSON lines
    #[arg(long, conflicts_with = "json")]
    events: bool,
}

impl Run {
    pub(crate) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        session.finish_interrupted_installs();
        session.finish_interrupted_changes().iter().for_each(|line| output.note(line));
        let index = Arc::new(session.index()?);
        // The process ends with this command: nothing is gained by freeing every skill before.
        let _kept = ManuallyDrop::new(Arc::clone(&index));
        let engine = self.rules.engine_with(session, self.apply)?;
        let beginning = match &self.resume {
            Some(run_id) => Beginning::Recorded(run_id),
            None => Beginning::New(self.wanted(session, &index)?),
        };
        tell_hidden(&index, output);
        let wish = Wish { model: self.model.as_deref(), base_url: self.base_url.as_deref() };
        let choice = Choice::new(session, wish)?.with_key()?;
        let cancel = Cancel::default();
        let stage = (!self.events && can_be_live(session, output)).then(|| Stage::open(None));
        stage.iter().for_each(|stage| stage.runs(Some(cancel.clone())));
        stop_run_on_interrupt(&cancel, stage.as_ref())?;
        let _closed = stage.clone().map(Closing);
        let mut screen = Screen::new(output, self.events, stage.as_ref(), &cancel);
        let seat = stage.as_ref().filter(|stage| stage.has_keys());
        let mut approver = Terminal::new(&cancel, seat, self.answer.clone(), self.no_questions);
        let runner = Runner::new(session, index, engine)
            .choice(choice)
            .owner(session.signing_owner(output))
            .approver(&mut approver)
            .listener(&mut screen)
            .cancel(cancel.clone())
            .attended(is_attended())
            .invocation(invocation("run"));
        let finished = match &beginning {
            Beginning::Recorded(run_id) => runner.resume(run_id)?,
            Beginning::New(wanted) => runner.work_on(wanted)?,
        };
        screen.finish();
        stage.iter().for_each(Stage::close);
        let invocation = invocation("run");
        Teller {
            output,
            screen: &screen,
            invocation: &invocation,
            model: self.model_options(),
            events: self.events,
            denied: approver.denied,
            keeps: session.layers.config.changes.apply == Apply::Keep,
            is_chat: false,
        }
        .tell(finished)
    }

    /// The options that chose the model.
    fn model_options(&self) -> Vec<&str> {
        let options = [("--model", &self.model), ("--base-url", &self.base_url)];
        let given = options.into_iter().filter_map(|(name, value)| Some([name, value.as_deref()?]));
        given.flatten().collect()
    }

    /// The request, and the skill that `--skill` or a first word `/NAME` chooses.
    fn wanted(&self, session: &Session, index: &Index) -> Result<Wanted, Failure> {
        let request = self.request.join(" ");
        match &self.skill {
            Some(name) => Wanted::with_skill(session, index, &request, name),
            None => Wanted::read(session, index, &request),
        }
    }
}

/// What a run begins with.
enum Beginning<'a> {
    New(Wanted),
    Recorded(&'a str),
}

/// Whether a panel can be drawn: on a terminal that can move its cursor.
pub(crate) fn can_be_live(session: &Session, output: &Output) -> bool {
    let term = session.variable("TERM").filter(|term| *term != "dumb" && !term.is_empty());
    term.is_some() && std::io::stderr().is_terminal() && !output.json && !output.quiet
}

/// The terminal is given back whatever happens.
pub(crate) struct Closing(pub(crate) Stage);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The first interrupt lets the run end cleanly, the second ends the process.
fn stop_run_on_interrupt(cancel: &Cancel, stage: Option<&Stage>) -> Result<(), Failure> {
    let (heard, stage) = (cancel.clone(), stage.cloned());
    on_interrupt(move || match &stage {
        Some(stage) => stage.interrupt(),
        None if heard.requested() => std::process::exit(INTERRUPTED.into()),
        None => heard.request(),
    })
}

/// Does this whenever the process is interrupted.
pub(crate) fn on_interrupt(act: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    ctrlc::set_handler(act).map_err(|error| Failure::from_error(Exit::Failed, "IOError", &error))
}

/// Like a run's: the first Ctrl-C ends it cleanly, the second at once.
pub(super) fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&stop);
    on_interrupt(move || {
        if heard.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })?;
    Ok(stop)
}

/// This process's command line, to which approvals can be added.
pub(crate) fn invocation(command: &str) -> Invocation {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let command_ends =
        arguments.iter().position(|argument| argument == command).map_or(0, |place| place + 1);
    let mut command = vec![OsString::from("skillful")];
    command.extend_from_slice(&arguments[..command_ends]);
    Invocation { command, arguments: arguments[command_ends..].to_vec() }
}
