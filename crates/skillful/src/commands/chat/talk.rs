//! A conversation: one run after the other, and commands in between.

use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use agent::budget::Usage;
use agent::model::Cancel;
use basics::text::one_line;
use permission::{Grant, Invocation, Mode};
use runtime::journal;
use runtime::models::{Choice, Wish};
use runtime::runner::{Runner, Wanted};
use runtime::settings::Apply;

use super::attach;
use super::command::{self, Command};
use crate::commands::rule_flags::RuleFlags;
use crate::commands::run::approver::{Terminal, is_attended};
use crate::commands::run::ending::Teller;
use crate::commands::run::screen::{Screen, used};
use crate::failure::{Exit, Failure};
use crate::output::{Output, count};
use crate::session::Session;
use crate::terminal::stage::Stage;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    GoOn,
    /// The request came to nothing, or to less than was asked for.
    Failed(ExitCode),
    Leave,
}

/// A conversation.
pub(super) struct Talk<'a> {
    pub(super) session: &'a Session,
    pub(super) output: &'a Output,
    rules: &'a RuleFlags,
    invocation: &'a Invocation,
    model: Option<String>,
    base_url: Option<String>,
    mode: Option<Mode>,
    /// The run that the next one continues.
    earlier: Option<String>,
    /// The last run, whatever came of it.
    last: Option<String>,
    /// What was approved for the whole of it.
    approvals: Vec<Grant>,
    /// Whether the next run begins with a shorter conversation.
    compact: bool,
    plan: Vec<String>,
    usage: Usage,
    runs: usize,
    /// What stops the run that goes on.
    pub(super) stop: Arc<Mutex<Option<Cancel>>>,
}

impl<'a> Talk<'a> {
    pub(super) fn new(
        session: &'a Session,
        output: &'a Output,
        rules: &'a RuleFlags,
        invocation: &'a Invocation,
    ) -> Self {
        Self {
            session,
            output,
            rules,
            invocation,
            model: None,
            base_url: None,
            mode: None,
            earlier: None,
            last: None,
            approvals: Vec::new(),
            compact: false,
            plan: Vec::new(),
            usage: Usage::default(),
            runs: 0,
            stop: Arc::default(),
        }
    }

    pub(super) fn model(self, model: Option<String>, base_url: Option<String>) -> Self {
        Self { model, base_url, ..self }
    }

    /// The first words.
    pub(super) fn greet(&self) -> Result<(), Failure> {
        let mode = self.engine_mode()?;
        self.output
            .note(&format!("{} · mode {mode} · /help lists the commands", self.choice()?.name));
        Ok(())
    }

    /// Does what a line says.
    pub(super) fn handle(&mut self, line: &str, stage: Option<&Stage>) -> Next {
        let done = match command::read(line) {
            Some((command, words)) => match stage {
                Some(stage) => stage.lend(|| self.command(command, words)),
                None => self.command(command, words),
            },
            None => self.work_on(line, stage),
        };
        done.unwrap_or_else(|failure| {
            let code = aside(stage, || self.output.fail(&failure));
            Next::Failed(code)
        })
    }

    fn work_on(&mut self, line: &str, stage: Option<&Stage>) -> Result<Next, Failure> {
        let (session, output) = (self.session, self.output);
        // Read anew for each run: somebody may have changed or trusted something meanwhile.
        let index = Arc::new(session.index()?);
        let request = attach::named_files(line, &session.surroundings.working_directory);
        let wanted = Wanted::read(session, &index, &request)?;
        let mut engine = self.rules.engine(session)?;
        if let Some(mode) = self.mode {
            engine.set_mode(session.layers.mode_with(mode));
        }
        let choice = self.choice()?.with_key()?;
        let cancel = Cancel::default();
        self.runs_with(Some(&cancel), stage);
        let mut screen = Screen::new(output, false, stage, &cancel);
        let mut approver = Terminal::new(&cancel, stage, None, false);
        let runner = Runner::new(session, index, engine)
            .choice(choice)
            .owner(session.signing_owner(output))
            .approver(&mut approver)
            .listener(&mut screen)
            .cancel(cancel.clone())
            .attended(is_attended())
            .invocation(self.invocation.clone())
            .approvals(self.approvals.clone())
            .compact(self.compact);
        let runner = match &self.earlier {
            Some(earlier) => runner.continues(earlier),
            None => runner,
        };
        let finished = runner.work_on(&wanted);
        let denied = approver.denied;
        screen.finish();
        self.runs_with(None, stage);
        let finished = finished?;
        self.plan = screen.plan_lines();
        self.last = Some(finished.run.id().to_owned());
        self.earlier.clone_from(&self.last);
        self.approvals.clone_from(&finished.approvals);
        self.compact = false;
        self.usage.add(&finished.run.spent().usage);
        self.runs += 1;
        let teller = Teller {
            output,
            screen: &screen,
            invocation: self.invocation,
            options: Vec::new(),
            events: false,
            denied,
            keeps: session.layers.config.changes.apply == Apply::Keep,
            is_chat: true,
        };
        let code = aside(stage, || teller.tell(finished))?;
        Ok(if code == ExitCode::SUCCESS { Next::GoOn } else { Next::Failed(code) })
    }

    fn runs_with(&self, cancel: Option<&Cancel>, stage: Option<&Stage>) {
        if let Ok(mut stop) = self.stop.lock() {
            *stop = cancel.cloned();
        }
        stage.iter().for_each(|stage| stage.runs(cancel.cloned()));
    }

    fn command(&mut self, command: Command, words: &str) -> Result<Next, Failure> {
        match command {
            Command::Help => self.print(&command::help())?,
            Command::Skills => {
                match words {
                    "" => self.program(&["list"]),
                    words => self.program(&["search", words]),
                }
                self.tell_shadowed()?;
            }
            Command::Why => self.program(&["why", words]),
            Command::Model => self.set_model(words)?,
            Command::Mode => self.set_mode(words)?,
            Command::Plan if self.plan.is_empty() => self.output.note("There is no plan."),
            Command::Plan => self.print(&(self.plan.join("\n") + "\n"))?,
            Command::Changes => self.program(&["runs", "changes", self.last()?, "--diff"]),
            Command::Apply => self.program(&["runs", "apply", self.last()?]),
            Command::Undo => self.program(&["runs", "undo", self.last()?]),
            Command::Runs => self.program(&["runs", "list"]),
            Command::Cost => self.tell_cost(),
            Command::New => {
                (self.earlier, self.last) = (None, None);
                self.approvals.clear();
                self.plan.clear();
                self.output.note("A new conversation: what was said before is forgotten.");
            }
            Command::Continue if words.is_empty() => {
                self.program(&["runs", "list"]);
                self.output.note("/continue RUN goes on with one of these.");
            }
            Command::Continue => self.go_on_with(words)?,
            Command::Compact => {
                self.last()?;
                self.compact = true;
                self.output.note("Your next request begins with a shorter conversation.");
            }
            Command::Export => {
                let format = if words.is_empty() { "md" } else { words };
                self.program(&["runs", "export", self.last()?, "--format", format]);
            }
            Command::Exit => return Ok(Next::Leave),
        }
        Ok(Next::GoOn)
    }

    /// The next request continues this run.
    pub(super) fn go_on_with(&mut self, run: &str) -> Result<(), Failure> {
        let folder = self.session.run_folder(run)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let events = journal::read(&folder)?;
        let summary = journal::summary(&events);
        self.output.note(&format!("Going on with {name}: {}", one_line(&summary.request)));
        // What was approved counts for the other conversation.
        self.approvals.clear();
        self.plan.clear();
        (self.earlier, self.last) = (Some(name.clone()), Some(name));
        Ok(())
    }

    /// Runs another command of this program, with the options that this one was started with.
    fn program(&self, words: &[&str]) {
        let options = self.invocation.command.split_last().map_or(&[][..], |(_, options)| options);
        let words = options.iter().cloned().chain(words.iter().map(Into::into));
        crate::cli::run_words(words.collect());
    }

    fn last(&self) -> Result<&str, Failure> {
        let none = || {
            Failure::new(Exit::Usage, "NoRun", "nothing was done in this conversation yet")
                .hint("/runs lists earlier runs")
        };
        self.last.as_deref().ok_or_else(none)
    }

    fn choice(&self) -> Result<Choice, Failure> {
        let wish = Wish { model: self.model.as_deref(), base_url: self.base_url.as_deref() };
        Choice::new(self.session, wish)
    }

    fn set_model(&mut self, name: &str) -> Result<(), Failure> {
        if !name.is_empty() {
            let before = self.model.replace(name.to_owned());
            if let Err(failure) = self.choice() {
                self.model = before;
                return Err(failure);
            }
        }
        let Choice { name, why, .. } = self.choice()?;
        self.output.note(&format!("model {name} ({why})"));
        Ok(())
    }

    fn set_mode(&mut self, name: &str) -> Result<(), Failure> {
        if !name.is_empty() {
            let mode = Mode::from_str(name)
                .map_err(|error| Failure::from_error(Exit::Usage, "UnknownMode", &error))?;
            self.mode = Some(mode);
        }
        self.output.note(&format!("mode {}", self.engine_mode()?));
        Ok(())
    }

    /// The mode that counts: a project may ask for a stricter one.
    fn engine_mode(&self) -> Result<Mode, Failure> {
        Ok(match self.mode {
            Some(mode) => self.session.layers.mode_with(mode),
            None => self.rules.engine(self.session)?.mode(),
        })
    }

    fn tell_cost(&self) {
        let used = used(&self.usage);
        let used = if used.is_empty() { "no tokens".to_owned() } else { used };
        self.output.note(&format!("{} · {used}", count(self.runs, "request")));
    }

    /// Skills that a command of the same name hides.
    fn tell_shadowed(&self) -> Result<(), Failure> {
        let index = self.session.index()?;
        for skill in index.skills.iter().filter(|skill| Command::named(&skill.name).is_some()) {
            let name = &skill.name;
            self.output.note(&format!(
                "The command /{name} hides your skill `{name}`; use it with `skillful run --skill {name} …`."
            ));
        }
        Ok(())
    }

    fn print(&self, text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout();
        Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?)
    }
}

/// Does something that writes to the terminal by itself.
fn aside<T>(stage: Option<&Stage>, work: impl FnOnce() -> T) -> T {
    match stage {
        Some(stage) => stage.step_aside(work),
        None => work(),
    }
}
