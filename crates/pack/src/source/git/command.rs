//! Calling `git`: without configuration, hooks, prompts, or any protocol but those that are meant.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::{Fetching, SourceError};

/// Settings that no file can change.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.file.allow=always",
    "http.followRedirects=initial",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.fsckObjects=false",
    "transfer.credentialsInUrl=die",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// No file that git writes may be larger (in blocks of 512 bytes): 1 GiB.
const WITHIN_LIMITS: &str = "ulimit -f 2097152; exec git \"$@\"";

pub(super) struct Git<'a> {
    pub(super) folder: &'a Path,
    pub(super) fetching: &'a Fetching,
    pub(super) deadline: Instant,
}

impl Git<'_> {
    pub(super) fn run(&self, arguments: &[&str]) -> Result<(), SourceError> {
        self.read(arguments, 1 << 20).map(|_| ())
    }

    /// What git prints.
    pub(super) fn read(&self, arguments: &[&str], limit: u64) -> Result<Vec<u8>, SourceError> {
        let mut running = self.start(arguments)?;
        let (stdin, stdout) = running.pipes()?;
        drop(stdin);
        let mut printed = Vec::new();
        let read = stdout.take(limit).read_to_end(&mut printed);
        running.wait()?;
        read.map_err(failed)?;
        match printed.len() as u64 == limit {
            true => Err(SourceError::Git { message: "there are too many files".to_owned() }),
            false => Ok(printed),
        }
    }

    pub(super) fn start(&self, arguments: &[&str]) -> Result<Running, SourceError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", WITHIN_LIMITS, "git"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments).current_dir(self.folder).process_group(0);
        command.env_clear().envs(self.fetching.environment.iter().cloned());
        command.envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_ALLOW_PROTOCOL", "https:file"),
            ("LC_ALL", "C"),
        ]);
        command.env("HOME", self.folder).env("GIT_DIR", ".");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let complaints = child.stderr.take().map(|stderr| {
            thread::spawn(move || {
                let mut text = Vec::new();
                let _ = stderr.take(10_000).read_to_end(&mut text);
                String::from_utf8_lossy(&text).into_owned()
            })
        });
        let (done, ended) = channel();
        watch(&child, self.deadline, ended);
        Ok(Running { child, complaints, _done: done })
    }
}

/// Ends the whole group when time is up.
fn watch(child: &Child, deadline: Instant, ended: Receiver<()>) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    thread::spawn(move || {
        let left = deadline.saturating_duration_since(Instant::now());
        let late =
            matches!(ended.recv_timeout(left), Err(std::sync::mpsc::RecvTimeoutError::Timeout));
        if let (true, Some(group)) = (late, group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    });
}

/// A git that was started.
pub(super) struct Running {
    child: Child,
    complaints: Option<thread::JoinHandle<String>>,
    /// Closed when this is dropped.
    _done: Sender<()>,
}

impl Running {
    pub(super) fn pipes(&mut self) -> Result<(ChildStdin, ChildStdout), SourceError> {
        let pipes = self.child.stdin.take().zip(self.child.stdout.take());
        pipes.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))
    }

    pub(super) fn wait(mut self) -> Result<(), SourceError> {
        let status = self.child.wait().map_err(failed)?;
        let said = self.complaints.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let message =
            said.lines().find_map(|line| line.strip_prefix("fatal: ")).or(said.lines().last());
        Err(SourceError::Git {
            message: message.map_or_else(|| format!("it ended with {status}"), str::to_owned),
        })
    }
}

fn failed(source: io::Error) -> SourceError {
    SourceError::Git { message: source.to_string() }
}
