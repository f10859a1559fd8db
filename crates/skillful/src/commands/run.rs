//! `skillful run`

mod about;
pub(crate) mod approver;
pub(crate) mod diff;
pub(crate) mod ending;
mod question;
mod request;
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

use crate::commands::budget_flags::BudgetFlags;
use crate::commands::models::suggest;
use crate::commands::rule_flags::RuleFlags;
use crate::commands::trust::{tell_fitting, tell_hidden};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;
use crate::terminal::stage::Stage;
use approver::{Terminal, is_attended};
use ending::INTERRUPTED;
pub(crate) use ending::RunResult;
use ending::Teller;
use request::Request;
use screen::Screen;

/// Do a task with the skills that fit it
///
/// The model chooses skills, reads them and acts. It asks you before anything risky. Everything is recorded
/// under .agent/runs: you can see it, check it and undo it with `skillful runs`. Without a model, the
/// offline planner decides.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful run \"Summarise sales.csv\"\n  skillful run --skill csv-report sales.csv\n  skillful run --approve run_script:csv-report/* \"Summarise sales.csv\"\n  skillful run --model anthropic:claude-sonnet-4-5 \"Summarise sales.csv\"\n  skillful run --mode contained --apply \"Make the tests pass\"\n  skillful run --continue \"And the same for 2025.csv\"\n  skillful run --resume 20261115_083000_k3f9 --answer \"Q1\"\n  git log --oneline | skillful run \"Which of these are fixes?\""
)]
pub(crate) struct Run {
    /// Your task; start with /NAME to choose a skill. `-` reads it from standard input; what you pipe in is added to it
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    request: Vec<String>,
    /// Use this skill
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    skill: Option<String>,
    /// The model to use, such as claude-sonnet-4-5, gpt-5-mini or ollama:NAME; see `skillful models`
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Use the model server at this address
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Take up a run that was interrupted or waits for an approval
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Continue the conversation of your last run, or of another one (--continue=RUN)
    #[arg(
        long = "continue",
        value_name = "RUN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "last",
        conflicts_with = "resume"
    )]
    continues: Option<String>,
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
    #[command(flatten)]
    budget: BudgetFlags,
    /// Print only the run's events, as JSON lines
    #[arg(long, conflicts_with = "json")]
    events: bool,
}

impl Run {
    pub(crate) fn run(&self, mut session: Session, output: &Output) -> Result<ExitCode, Failure> {
        session.set_budget(|budget| self.budget.set(budget));
        let session = &session;
        session.finish_interrupted_installs();
        session.finish_interrupted_changes().iter().for_each(|line| output.note(line));
        let index = Arc::new(session.index()?);
        // The process ends with this command: nothing is gained by freeing every skill before.
        let _kept = ManuallyDrop::new(Arc::clone(&index));
        let engine = self.rules.engine_with(session, self.apply)?;
        let mut replayed = invocation("run");
        let beginning = match &self.resume {
            Some(run_id) => Beginning::Recorded(run_id),
            None => {
                let request = Request::read(&self.request, output)?;
                // What was piped in is gone, and what was the last run is not any more: the run is taken up again.
                if request.is_piped() || self.continues.is_some() {
                    let again = ["--resume", "last"].map(str::to_owned).into_iter();
                    let again = again.chain(self.options_again());
                    replayed.arguments = again.map(OsString::from).collect();
                }
                Beginning::New(self.wanted(session, &index, request)?)
            }
        };
        tell_hidden(&index, output);
        let wish = Wish { model: self.model.as_deref(), base_url: self.base_url.as_deref() };
        let choice = Choice::new(session, wish)?.with_key()?;
        if choice.is_last_resort() && is_first(session) {
            suggest().iter().for_each(|line| output.note(line));
        }
        let cancel = Cancel::default();
        let stage = (!self.events && can_be_live(session, output)).then(|| Stage::open(None));
        stage.iter().for_each(|stage| stage.runs(Some(cancel.clone())));
        stop_run_on_interrupt(&cancel, stage.as_ref())?;
        let _closed = stage.clone().map(Closing);
        let mut screen = Screen::new(output, self.events, stage.as_ref(), &cancel);
        let seat = stage.as_ref().filter(|stage| stage.has_keys());
        let mut approver = Terminal::new(&cancel, seat, self.answer.clone(), self.no_questions);
        let mut runner = Runner::new(session, Arc::clone(&index), engine)
            .choice(choice)
            .owner(session.signing_owner(output))
            .approver(&mut approver)
            .listener(&mut screen)
            .cancel(cancel.clone())
            .attended(is_attended())
            .invocation(replayed);
        if let Some(earlier) = &self.continues {
            runner = runner.continues(earlier);
        }
        let finished = match &beginning {
            Beginning::Recorded(run_id) => runner.resume(run_id)?,
            Beginning::New(wanted) => runner.work_on(wanted)?,
        };
        screen.finish();
        stage.iter().for_each(Stage::close);
        if finished.is_without_skill() {
            tell_fitting(&index, finished.run.request(), output);
        }
        let invocation = invocation("run");
        Teller {
            output,
            screen: &screen,
            invocation: &invocation,
            options: self.options_again(),
            events: self.events,
            denied: approver.denied,
            keeps: session.layers.config.changes.apply == Apply::Keep,
            is_chat: false,
        }
        .tell(finished)
    }

    /// The options that chose the model, and the limits: they count for this process only.
    fn options_again(&self) -> Vec<String> {
        let options = [("--model", &self.model), ("--base-url", &self.base_url)];
        let given = options.into_iter().filter_map(|(name, value)| Some([name, value.as_deref()?]));
        given.flatten().map(str::to_owned).chain(self.budget.again()).collect()
    }

    /// The request, and the skill that `--skill` or a first word `/NAME` chooses.
    fn wanted(
        &self,
        session: &Session,
        index: &Index,
        request: Request,
    ) -> Result<Wanted, Failure> {
        match &self.skill {
            Some(name) => Wanted::with_skill(session, index, &request.text, name),
            None => Wanted::read(session, index, &request.not_empty()?.text),
        }
    }
}

/// Whether nothing was run in this project before.
fn is_first(session: &Session) -> bool {
    !session.runs().exists()
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
