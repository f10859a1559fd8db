//! The request: the words of the command line, and what is piped in.

use std::io::{IsTerminal, Read, stdin};
use std::time::Duration;

use agent::piped;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

use crate::failure::{Exit, Failure};
use crate::output::Output;

/// Bytes that may be piped in: they stay in the model's context for the whole run.
const MOST: u64 = 100_000;

/// After that long somebody may wonder what the program waits for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the user asked for.
pub(super) struct Request {
    pub(super) text: String,
    /// Whether a part of it was piped in, which the command line alone does not repeat.
    is_piped: bool,
}

impl Request {
    /// The words; `-` alone is all of standard input, and what is piped in is added to other words.
    pub(super) fn read(words: &[String], output: &Output) -> Result<Self, Failure> {
        let text = words.join(" ");
        if text == "-" {
            let text = input(output)?.trim().to_owned();
            return Ok(Self { text, is_piped: true });
        }
        let added = match is_piped() {
            true => input(output)?,
            false => String::new(),
        };
        Ok(match (text.trim().is_empty(), added.trim().is_empty()) {
            (_, true) => Self { text, is_piped: false },
            (true, false) => Self { text: added.trim().to_owned(), is_piped: true },
            (false, false) => Self { text: piped::join(&text, &added), is_piped: true },
        })
    }

    /// The same request, if it says anything.
    pub(super) fn not_empty(self) -> Result<Self, Failure> {
        match self.text.trim().is_empty() {
            false => Ok(self),
            true => Err(Failure::new(Exit::Usage, "EmptyRequest", "the request is empty")
                .hint("say what to do, as in: skillful run \"Summarise sales.csv\"")),
        }
    }

    /// Whether it was piped in, and so is gone afterwards.
    pub(super) fn is_piped(&self) -> bool {
        self.is_piped
    }
}

/// Whether somebody piped something in, or redirected a file. Other programs start this one with a socket or with a
/// device, and never close it.
fn is_piped() -> bool {
    let kind = fstat(stdin()).map(|status| FileType::from_raw_mode(status.st_mode));
    kind.is_ok_and(|kind| matches!(kind, FileType::Fifo | FileType::RegularFile))
}

/// All of standard input.
fn input(output: &Output) -> Result<String, Failure> {
    let stdin = stdin();
    if !stdin.is_terminal() && !has_something(&stdin) {
        output.note("Reading standard input; `</dev/null` behind the command leaves it out.");
    }
    let mut bytes = Vec::new();
    let read = stdin.lock().take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::from_error(Exit::Failed, "IOError", &error))?;
    if bytes.len() as u64 > MOST {
        let message = format!("standard input has more than {MOST} bytes");
        return Err(Failure::new(Exit::Usage, "InputTooLarge", message)
            .hint("save it in a file and name the file in your request"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(Exit::Usage, "NotText", "standard input is not text in UTF-8")
            .hint("save it in a file and name the file in your request")
    })
}

/// Whether there is something to read, or nothing will come, before anybody wonders.
fn has_something(stdin: &std::io::Stdin) -> bool {
    let Ok(patience) = Timespec::try_from(PATIENCE) else { return true };
    let mut ready = [PollFd::new(stdin, PollFlags::IN)];
    poll(&mut ready, Some(&patience)) != Ok(0)
}
