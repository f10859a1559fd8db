//! Commands in the background: started, looked at, written to, stopped; none of them outlives the run.

use std::fs::File;
use std::io::{PipeWriter, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use agent::action::Action;
use agent::observation::{Details, Facts, Observation};
use agent::request::{Refusal, Request};
use permission::params::{CommandInput, CommandOutput, CommandStop};
use permission::{Permission, Risk, Tool};
use serde_json::json;
use tools::command::{self, Command};
use tools::sandbox::{Exit, Output, Stdin};
use tools::script::{ScriptError, Surroundings};

use super::command::params;
use super::program::{ending_in_words, exit_code};
use super::{Workbench, io_error};
use crate::driver::Means;
use crate::journal::{Filtered, Journal};

/// How many may run at once.
const MOST: usize = 8;
/// How long somebody may wait for output.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Bytes of output that are shown at once.
const SHOWN: usize = 16_000;
/// How often is looked whether there is something new.
const TICK: Duration = Duration::from_millis(20);
/// How long a new command is watched: one that fails at once should say so at once.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// A command in the background.
#[derive(Debug)]
pub(super) struct Background {
    id: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Exit, ScriptError>>>,
    ended: Option<String>,
    code: Option<i32>,
    stdin: Option<PipeWriter>,
    streams: [Shown; 2],
}

/// One of its streams, and how far it was shown.
#[derive(Debug)]
struct Shown {
    file: File,
    done: u64,
}

impl Workbench<'_> {
    pub(super) fn start_background(
        &mut self,
        command: Command,
        surroundings: Surroundings,
        means: &Means<'_>,
        journal: &mut Journal,
    ) -> Result<Observation, Refusal> {
        self.background.iter_mut().for_each(Background::look);
        if self.background.iter().filter(|other| other.ended.is_none()).count() >= MOST {
            return Err(Refusal::new(
                "BudgetExceeded",
                format!("{MOST} commands run in the background already"),
                "stop one with command_stop first",
            ));
        }
        let failed = |error: std::io::Error| io_error(&error);
        let number = journal.next_sequence();
        let create = |stream: &str| -> Result<File, Refusal> {
            let name = format!("observations/background-{number}.{stream}");
            journal.state().create_anew(&name).map_err(|error| io_error(&error))
        };
        let (stdout, stderr) = (create("stdout")?, create("stderr")?);
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let command = Command { stdin: Stdin::Pipe(Arc::new(reader.into())), ..command };
        let stop = Arc::new(AtomicBool::new(false));
        let (heard, redactor) = (Arc::clone(&stop), means.redactor.clone());
        let kernel = (*self.scripts.kernel).clone();
        let copies = [&stdout, &stderr].map(File::try_clone);
        let [own_stdout, own_stderr] = copies;
        let (own_stdout, own_stderr) = (own_stdout.map_err(failed)?, own_stderr.map_err(failed)?);
        let thread = std::thread::spawn(move || {
            let mut filters =
                (Filtered::new(&redactor, own_stdout), Filtered::new(&redactor, own_stderr));
            let output = Output { stdout: &mut filters.0, stderr: &mut filters.1 };
            let exit = command::run(&kernel, &command, &surroundings, output, &heard);
            // What was held back, as far as there is room for it.
            let _ = (filters.0.finish(), filters.1.finish());
            exit
        });
        let id = format!("c{number}");
        let mut started = Background {
            id,
            stop,
            thread: Some(thread),
            ended: None,
            code: None,
            stdin: Some(writer),
            streams: [stdout, stderr].map(|file| Shown { file, done: 0 }),
        };
        started.wait(FIRST_LOOK, means);
        let observation = started.observe();
        self.background.push(started);
        observation
    }

    /// Looking at a command, writing to it or stopping it: it was approved when it was started.
    pub(super) fn prepare_background(action: &Action, tool: Tool) -> Result<Request, Refusal> {
        let (id, effect) = match tool {
            Tool::CommandInput => {
                let CommandInput { id, text, .. } = params(action, tool)?;
                let effect = format!("writes {} bytes to the command `{id}`", text.len());
                (id, effect)
            }
            Tool::CommandStop => {
                let CommandStop { id } = params(action, tool)?;
                let effect = format!("ends the command `{id}`");
                (id, effect)
            }
            _ => {
                let CommandOutput { id, .. } = params(action, tool)?;
                let effect = format!("looks at the command `{id}`");
                (id, effect)
            }
        };
        Ok(Request {
            patterns: vec![id],
            risk: Risk::Low,
            effect,
            params: super::request::payload(action),
            read_only: tool == Tool::CommandOutput,
            ..Request::new(action.clone(), Permission::from(tool))
        })
    }

    pub(super) fn mind_background(
        &mut self,
        action: &Action,
        tool: Tool,
        means: &Means<'_>,
    ) -> Result<Observation, Refusal> {
        match tool {
            Tool::CommandInput => {
                let CommandInput { id, text, end } = params(action, tool)?;
                let command = self.find(&id)?;
                command.write(&text)?;
                if end {
                    command.stdin = None;
                }
                command.wait(FIRST_LOOK, means);
                command.observe()
            }
            Tool::CommandStop => {
                let CommandStop { id } = params(action, tool)?;
                let command = self.find(&id)?;
                command.stop();
                command.observe()
            }
            _ => {
                let CommandOutput { id, wait_seconds } = params(action, tool)?;
                let command = self.find(&id)?;
                let wait = Duration::from_secs(wait_seconds.unwrap_or(0)).min(LONGEST_WAIT);
                command.wait(wait, means);
                command.observe()
            }
        }
    }

    fn find(&mut self, id: &str) -> Result<&mut Background, Refusal> {
        let known: Vec<String> = self.background.iter().map(|command| command.id.clone()).collect();
        self.background.iter_mut().find(|command| command.id == id).ok_or_else(|| {
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            Refusal::new(
                "NotFound",
                format!(
                    "there is no command `{}` in the background",
                    basics::text::for_terminal(id)
                ),
                format!("started in this run: {known}"),
            )
        })
    }
}

impl Background {
    /// Finds out whether it has ended.
    fn look(&mut self) {
        if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            self.join();
        }
    }

    fn join(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.stdin = None;
        match thread.join() {
            Ok(Ok(exit)) => {
                self.code = exit_code(exit.ending);
                self.ended = Some(ending_in_words(exit.ending));
            }
            Ok(Err(error)) => self.ended = Some(basics::failure::one_line(&error)),
            Err(_) => self.ended = Some("it failed".to_owned()),
        }
    }

    fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.join();
    }

    /// Waits until there is something new, it has ended, or the time is over.
    fn wait(&mut self, time: Duration, means: &Means<'_>) {
        let began = Instant::now();
        loop {
            self.look();
            let is_new = self.streams.iter().any(Shown::has_more);
            if self.ended.is_some() || is_new || began.elapsed() >= time || means.cancel.requested()
            {
                return;
            }
            std::thread::sleep(TICK);
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Refusal> {
        let gone =
            || Refusal::new("NotFound", "the command does not read any more", "look at its output");
        let pipe = self.stdin.as_mut().ok_or_else(gone)?;
        pipe.write_all(text.as_bytes()).and_then(|()| pipe.flush()).map_err(|_| gone())
    }

    /// What it wrote since it was last looked at, and whether it still runs.
    fn observe(&mut self) -> Result<Observation, Refusal> {
        self.look();
        let [stdout, stderr] = &mut self.streams;
        let (stdout, more) = stdout.next().map_err(|error| io_error(&error))?;
        let (stderr, more_errors) = stderr.next().map_err(|error| io_error(&error))?;
        let result = json!({
            "ok": true,
            "id": self.id,
            "running": self.ended.is_none(),
            "ended": self.ended,
            "exit_code": self.code,
            "stdout": stdout,
            "stderr": stderr,
            "truncated": more || more_errors,
        });
        let more = Details::of(&json!({"id": self.id, "running": self.ended.is_none()}));
        let facts = Facts { exit_code: self.code, more, ..Facts::default() };
        Ok(Observation { facts, ..Observation::of(result.to_string()) })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shown {
    fn has_more(&self) -> bool {
        self.file.metadata().is_ok_and(|about| about.len() > self.done)
    }

    /// The next part, and whether there is still more.
    fn next(&mut self) -> std::io::Result<(String, bool)> {
        let mut bytes = vec![0; SHOWN];
        // At a position of its own: the other thread writes through the same file.
        let length = self.file.read_at(&mut bytes, self.done)?;
        bytes.truncate(length);
        self.done += length as u64;
        let text = String::from_utf8_lossy(&bytes);
        Ok((basics::text::strip_hidden(&text).0.into_owned(), self.has_more()))
    }
}
