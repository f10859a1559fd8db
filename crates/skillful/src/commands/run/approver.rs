//! The person at the terminal.

use std::io::{BufRead, IsTerminal, Write};
use std::time::Duration;

use agent::model::Cancel;
use agent::question::{About, Question, QuestionAnswer};
use basics::text::{for_terminal, for_terminal_block};
use permission::{Answer, ApprovalRequest, Mode, Permission};
use runtime::driver::Approver;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tools::grants::GrantFileError;

use super::diff;
use crate::output::{Palette, unseen};

/// The person at the terminal, if there is one.
pub(super) struct Terminal<'a> {
    cancel: &'a Cancel,
    /// What they said in advance to the question that the run waits with.
    given: Option<String>,
    /// Whether the model is told that nobody answers its questions.
    no_questions: bool,
    /// Whether they said no to something.
    pub(super) denied: bool,
}

/// Whether somebody is there to answer.
pub(super) fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

impl<'a> Terminal<'a> {
    pub(super) fn new(cancel: &'a Cancel, given: Option<String>, no_questions: bool) -> Self {
        Self { cancel, given, no_questions, denied: false }
    }
}

impl Approver for Terminal<'_> {
    fn ask(&mut self, question: &ApprovalRequest) -> Option<Answer> {
        if !is_attended() {
            // What was changed is kept, and can be applied later.
            return (question.tool == Permission::ApplyChanges).then_some(Answer::Later);
        }
        put(question);
        loop {
            let line = self.line();
            // Not left open: whoever stops the run does not want to be told how to allow it.
            if self.cancel.requested() {
                let message = Some("the run was stopped at this question".to_owned());
                return Some(Answer::Reject { message });
            }
            match understood(&line?, question) {
                Said::Answer(answer) => {
                    self.denied |= matches!(answer, Answer::Reject { .. })
                        && question.tool != Permission::ApplyChanges;
                    return Some(answer);
                }
                Said::Show => say(&diff::coloured(question)),
                Said::Unclear => say("Type one of the letters in brackets.\n"),
            }
            say(&choices(question));
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
        let mut prompt = asked(question);
        loop {
            let ask = || {
                say(&prompt);
                self.line()
            };
            let line = match question.secret {
                true => unseen(ask).ok().flatten(),
                false => ask(),
            };
            if self.cancel.requested() {
                return Some(QuestionAnswer::No(None));
            }
            if let Some(answer) = answer(&line?, question) {
                return Some(answer);
            }
            prompt = "Type a number, one of the answers, or a text of your own: ".to_owned();
        }
    }

    fn not_kept(&mut self, why: &GrantFileError) {
        say(&format!("the approval counts for this run only: {why}\n"));
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
    match question.tool {
        Permission::ApplyChanges => text += &diff::summary(question),
        _ => {
            for (label, value) in question.facts() {
                text += &format!("  {dim}{label:<5}{dim:#}  {}\n", for_terminal(&value));
            }
        }
    }
    if let Some(always) =
        question.always.as_ref().filter(|_| question.tool != Permission::ApplyChanges)
    {
        text += &format!("  {dim}always{dim:#} {}\n", for_terminal(always));
    }
    say(&(text + &choices(question)));
}

fn choices(question: &ApprovalRequest) -> String {
    let Palette { bold, .. } = Palette::for_stream(&std::io::stderr());
    if question.tool == Permission::ApplyChanges {
        return format!(
            "{bold}[y]{bold:#}es, change my files  {bold}[d]{bold:#}iff  {bold}[n]{bold:#}o, keep them apart: "
        );
    }
    let mut text = format!("{bold}[o]{bold:#}nce  this {bold}[r]{bold:#}un  ");
    if question.always.is_some() {
        text += &format!("{bold}[a]{bold:#}lways  ");
    }
    text + &format!("{bold}[n]{bold:#}o, or no and a reason: ")
}

/// What a person typed.
enum Said {
    Answer(Answer),
    Show,
    Unclear,
}

fn understood(line: &str, question: &ApprovalRequest) -> Said {
    let line = line.trim();
    let (word, message) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_apply = question.tool == Permission::ApplyChanges;
    Said::Answer(match word.to_lowercase().as_str() {
        "d" | "diff" | "v" | "view" if is_apply => return Said::Show,
        "o" | "once" | "y" | "yes" => Answer::Once,
        "r" | "run" if !is_apply => Answer::Run,
        "a" | "always" if question.always.is_some() && !is_apply => Answer::Always,
        "n" | "no" => {
            let message = message.trim();
            Answer::Reject { message: (!message.is_empty()).then(|| message.to_owned()) }
        }
        _ => return Said::Unclear,
    })
}

fn asked(question: &Question) -> String {
    let Palette { bold, dim, warn, .. } = Palette::for_stream(&std::io::stderr());
    let title = match question.about {
        About::Task => "The agent asks",
        About::Plan => "Carry out this plan?",
        About::Limit(_) => "A limit is reached",
    };
    let mut text =
        format!("\n{warn}{title}{warn:#}\n{}\n", for_terminal_block(question.question.trim_end()));
    for (option, number) in question.options.iter().zip(1..) {
        let description = option.description.as_deref().unwrap_or_default();
        text += &format!(
            "  {bold}{number}{bold:#} {}  {dim}{}{dim:#}\n",
            for_terminal(&option.label),
            for_terminal(description)
        );
    }
    text + match (question.options.is_empty(), question.multiple) {
        (true, _) => "Your answer: ",
        (false, true) => "Numbers with commas, or a text of your own: ",
        (false, false) => "A number, or a text of your own: ",
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
