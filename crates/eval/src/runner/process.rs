//! One process, with an end to its patience.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How a process ended.
pub(super) enum Ended {
    /// By itself; `failed` says what was wrong with that.
    Exited { output: Vec<u8>, failed: Option<String> },
    /// It took too long.
    TimedOut { output: Vec<u8> },
    /// Nobody wanted it any more.
    Stopped,
}

/// Bytes of output that are kept; more than any honest run writes.
const LONGEST: u64 = 64 << 20;
/// How soon a wish to stop is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// Runs a command in a process group of its own, which dies with it.
pub(super) fn run(
    mut command: Command,
    limit: Duration,
    stop: &AtomicBool,
) -> std::io::Result<Ended> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn()?;
    let output = collect(child.stdout.take());
    let messages = collect(child.stderr.take());
    // A limit that no clock reaches is none.
    let deadline = Instant::now().checked_add(limit);
    let read = loop {
        match output.recv_timeout(LOOK) {
            Ok(read) => break read,
            Err(RecvTimeoutError::Disconnected) => break Vec::new(),
            Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                end(&mut child);
                return Ok(Ended::Stopped);
            }
            Err(RecvTimeoutError::Timeout)
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) =>
            {
                end(&mut child);
                return Ok(Ended::TimedOut { output: output.recv().unwrap_or_default() });
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    let status = child.wait()?;
    if stop.load(Ordering::Relaxed) {
        return Ok(Ended::Stopped);
    }
    let failed = failure(status, &messages.recv().unwrap_or_default());
    Ok(Ended::Exited { output: read, failed })
}

/// Kills the whole group: a script that the run started must not outlive it.
fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

fn collect(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What was read before an error still counts.
            let _ = from.take(LONGEST).read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// Ends without an answer or with a question are the judges' business; anything else is not.
fn failure(status: ExitStatus, messages: &[u8]) -> Option<String> {
    let (error, said) = read_error(&String::from_utf8_lossy(messages));
    match (status.code(), status.signal()) {
        (Some(0 | 3), _) => None,
        // An answer without the model ends like this, too, but without an error.
        (Some(1), _) if !error => None,
        (Some(code), _) => Some(format!("ended with exit code {code}{said}")),
        (None, Some(signal)) => Some(format!("was killed by signal {signal}{said}")),
        (None, None) => Some(format!("ended in an unknown way{said}")),
    }
}

/// Whether a program told of an error, and what it said: the error with its hint, or else its last line.
fn read_error(messages: &str) -> (bool, String) {
    /// An error, what it is about, and a hint; more is a backtrace or the usage.
    const LINES: usize = 4;
    let lines: Vec<&str> = messages.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_error = |line: &&str| line.starts_with("error:") || line.contains(" panicked at ");
    let error = lines.iter().position(is_error);
    let first = error.unwrap_or(lines.len().saturating_sub(1));
    let shown: Vec<&str> = lines[first..].iter().take(LINES).map(|line| line.trim()).collect();
    let shown = if shown.is_empty() { String::new() } else { format!(": {}", shown.join("; ")) };
    (error.is_some(), shown)
}
