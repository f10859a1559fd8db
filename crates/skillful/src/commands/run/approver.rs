//! The person at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

use agent::model::Cancel;
use basics::text::for_terminal;
use permission::{Answer, ApprovalRequest};
use runtime::driver::Approver;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tools::grants::GrantFileError;

use crate::output::Palette;

/// The person at the terminal, if there is one.
pub(super) struct Terminal<'a> {
    cancel: &'a Cancel,
    /// Whether they said no to something.
    pub(super) denied: bool,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(cancel: &'a Cancel) -> Self {
        Self { cancel, denied: false }
    }
}

impl Approver for Terminal<'_> {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        loop {
            put(question);
            match self.line() {
                // Not left open: whoever stops the run does not want to be told how to allow it.
                _ if self.cancel.requested() => {
                    let message = Some("the run was stopped at this question".to_owned());
                    return Some(Answer::Reject { message });
                }
                Some(line) => match understood(&line, question) {
                    Some(answer) => {
                        self.denied |= matches!(answer, Answer::Reject { .. });
                        return Some(answer);
                    }
                    None => {
                        let _ = writeln!(std::io::stderr(), "Type one of the letters in brackets.");
                    }
                },
                None => return None,
            }
        }
    }

    fn not_kept(&mut self, why: &GrantFileError) {
        let _ = writeln!(std::io::stderr(), "the approval counts for this run only: {why}");
    }
}

impl Terminal<'_> {
    /// A line of input; none when the terminal is closed or the run is to stop.
    fn line(&self) -> Option<String> {
        let stdin = std::io::stdin();
        let patience = Timespec::try_from(Duration::from_millis(100)).ok()?;
        while !self.cancel.requested() {
            let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut ready, Some(&patience)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    let mut line = String::new();
                    return (stdin.lock().read_line(&mut line).ok()? > 0).then_some(line);
                }
                Err(_) => return None,
            }
        }
        None
    }
}

fn put(question: &ApprovalRequest) {
    let Palette { bold, dim, warn, .. } = Palette::for_stream(&std::io::stderr());
    let risk = serde_json::to_value(question.risk).ok();
    let risk = risk.as_ref().and_then(|risk| risk.as_str()).unwrap_or_default();
    let mut text = format!(
        "\n{warn}Allow this?{warn:#}  {bold}{}{bold:#}  ({risk} risk)\n  {}\n",
        question.tool,
        for_terminal(&question.effect),
    );
    for (label, value) in question.facts() {
        text += &format!("  {dim}{label:<5}{dim:#}  {}\n", for_terminal(&value));
    }
    if let Some(always) = &question.always {
        text += &format!("  {dim}always{dim:#} {}\n", for_terminal(always));
    }
    text += &format!("{bold}[o]{bold:#}nce  this {bold}[r]{bold:#}un  ");
    if question.always.is_some() {
        text += &format!("{bold}[a]{bold:#}lways  ");
    }
    text += &format!("{bold}[n]{bold:#}o, or no and a reason: ");
    let mut out = std::io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

fn understood(line: &str, question: &ApprovalRequest) -> Option<Answer> {
    let line = line.trim();
    let (word, message) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match word.to_lowercase().as_str() {
        "o" | "once" | "y" | "yes" => Some(Answer::Once),
        "r" | "run" => Some(Answer::Run),
        "a" | "always" => question.always.is_some().then_some(Answer::Always),
        "n" | "no" => {
            let message = message.trim();
            Some(Answer::Reject { message: (!message.is_empty()).then(|| message.to_owned()) })
        }
        _ => None,
    }
}
