//! The person at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

use agent::model::Cancel;
use agent::question::{About, Question, QuestionAnswer};
use basics::text::for_terminal;
use permission::{Answer, ApprovalRequest, Mode, Permission};
use runtime::driver::Approver;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tools::grants::GrantFileError;

use super::question::{self, Reply};
use crate::output::{Palette, unseen};
use crate::terminal::panel::Asked;
use crate::terminal::stage::{Said, Stage};

/// The person at the terminal, if there is one.
pub(crate) struct Terminal<'a> {
    cancel: &'a Cancel,
    /// Where questions stay in sight.
    stage: Option<&'a Stage>,
    /// What they said in advance to the question that the run waits with.
    given: Option<String>,
    /// Whether the model is told that nobody answers its questions.
    no_questions: bool,
    /// Whether they said no to something.
    pub(crate) denied: bool,
}

/// Whether somebody is there to answer.
pub(crate) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(
        cancel: &'a Cancel,
        stage: Option<&'a Stage>,
        given: Option<String>,
        no_questions: bool,
    ) -> Self {
        Self { cancel, stage, given, no_questions, denied: false }
    }
}

impl Approver for Terminal<'_> {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        if !is_attended() {
            // What was changed is kept, and can be applied later.
            return (question.tool == Permission::ApplyChanges).then_some(Answer::Later);
        }
        let palette = Palette::for_stream(&std::io::stderr());
        let put = || question::approval(question, palette);
        let mut is_repeated = false;
        loop {
            let said = self.put(put(), is_repeated);
            // Not left open: whoever stops the run does not want to be told how to allow it.
            if self.cancel.requested() {
                let message = Some("the run was stopped at this question".to_owned());
                return Some(Answer::Reject { message });
            }
            let reply = match said {
                Said::Line(line) => question::understood(&line, question),
                Said::No => Reply::Answer(Answer::Reject { message: None }),
                Said::Nothing => return None,
            };
            match reply {
                Reply::Answer(answer) => {
                    self.denied |= matches!(answer, Answer::Reject { .. })
                        && question.tool != Permission::ApplyChanges;
                    self.note(&question::noted(question, &answer, palette));
                    return Some(answer);
                }
                Reply::ShowAll => self.say(&question::whole(question, palette)),
                Reply::Explain => self.say(&question::explained(question, palette)),
                Reply::Unclear(why) => self.say(why),
            }
            is_repeated = true;
        }
    }

    fn question(&mut self, question: &Question) -> Option<QuestionAnswer> {
        if let Some(given) = self.given.take() {
            return answer(&given, question).or(Some(QuestionAnswer::Said(vec![given])));
        }
        if self.no_questions && !matches!(question.about, About::Limit(_)) {
            return Some(QuestionAnswer::Nobody);
        }
        if !is_attended() {
            return None;
        }
        let palette = Palette::for_stream(&std::io::stderr());
        let mut is_repeated = false;
        loop {
            let said = self.put(question::other(question, palette), is_repeated);
            if self.cancel.requested() {
                return Some(QuestionAnswer::No(None));
            }
            let line = match said {
                Said::Line(line) => line,
                Said::No => return Some(QuestionAnswer::No(None)),
                Said::Nothing => return None,
            };
            if let Some(answer) = answer(&line, question) {
                let line = if question.secret { "(not shown)" } else { line.trim() };
                self.note(&question::noted_answer(question, line, palette));
                return Some(answer);
            }
            self.say("Type a number, one of the answers, or a text of your own.\n");
            is_repeated = true;
        }
    }

    fn not_kept(&mut self, why: &GrantFileError) {
        self.say(&format!(
            "the approval counts for this conversation only: {}\n",
            for_terminal(&why.to_string())
        ));
    }
}

impl Terminal<'_> {
    /// Puts a question and waits for a line; where it stands already, only what can be answered is put again.
    fn put(&self, asked: Asked, is_repeated: bool) -> Said {
        if let Some(stage) = self.stage {
            return stage.ask(asked);
        }
        let is_secret = asked.is_secret;
        let ask = || {
            if !is_repeated {
                say(&question::printed(&asked, Palette::for_stream(&std::io::stderr())));
            }
            say(&asked.choices);
            self.line()
        };
        let line = if is_secret { unseen(ask).ok().flatten() } else { ask() };
        match line {
            // Where no key can be told from another, Esc comes with the line.
            Some(line) if line.trim() == "\u{1b}" => Said::No,
            Some(line) => Said::Line(line),
            None => Said::Nothing,
        }
    }

    fn say(&self, lines: &str) {
        match self.stage {
            Some(stage) => stage.say(lines),
            None => say(lines),
        }
    }

    /// What was asked and answered stays above; a plain terminal has it already.
    fn note(&self, line: &str) {
        self.stage.iter().for_each(|stage| stage.say(line));
    }

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

/// What a line means as an answer to a question.
pub(super) fn answer(line: &str, question: &Question) -> Option<QuestionAnswer> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let chosen = |word: &str| {
        let by_number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let by_number = by_number.and_then(|index| question.options.get(index));
        let by_name =
            || question.options.iter().find(|option| option.label.eq_ignore_ascii_case(word));
        by_number.or_else(by_name).map(|option| option.label.clone())
    };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let no = || {
        let rest = rest.trim();
        QuestionAnswer::No((!rest.is_empty()).then(|| rest.to_owned()))
    };
    Some(match question.about {
        About::Task => {
            let words: Vec<&str> = match question.multiple {
                true => line.split(',').map(str::trim).filter(|word| !word.is_empty()).collect(),
                false => vec![line],
            };
            let said =
                words.into_iter().map(|word| chosen(word).unwrap_or_else(|| word.to_owned()));
            QuestionAnswer::Said(said.collect())
        }
        About::Plan => match chosen(word).as_deref().unwrap_or(word) {
            "ask" | "y" | "yes" => QuestionAnswer::CarryOut(Mode::Ask),
            "contained" => QuestionAnswer::CarryOut(Mode::Contained),
            "no" | "n" => no(),
            _ => QuestionAnswer::No(Some(line.to_owned())),
        },
        About::Limit(_) => match chosen(word).as_deref().unwrap_or(word) {
            "yes" | "y" => QuestionAnswer::GoOn,
            "no" | "n" => no(),
            _ => return None,
        },
    })
}

fn say(text: &str) {
    let mut out = std::io::stderr();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
