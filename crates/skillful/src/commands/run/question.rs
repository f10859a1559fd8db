//! The words of a question: what it is about, what would be done, what can be answered, what an answer means.

use agent::question::{About, Question};
use basics::text::{for_terminal, for_terminal_block, one_line};
use permission::{Answer, ApprovalRequest, Permission};

use super::diff;
use crate::output::Palette;
use crate::terminal::panel::Asked;

/// Lines of a question that a terminal without a panel gets at once.
const PRINTED: usize = 30;

/// What a person typed.
pub(super) enum Reply {
    Answer(Answer),
    /// Everything that would be done.
    ShowAll,
    /// What the keys mean.
    Explain,
    Unclear(&'static str),
}

/// A question about permission.
pub(super) fn approval(question: &ApprovalRequest, palette: Palette) -> Asked {
    let Palette { dim, .. } = palette;
    let mut details = Vec::new();
    match question.tool {
        Permission::ApplyChanges => {
            details.extend(diff::summary(question, palette));
            details.extend(diff::lines(question, palette));
        }
        _ => {
            for (label, value) in question.facts() {
                let is_content = label == "with" && file_change(question).is_some();
                if !is_content {
                    details.push(format!("  {dim}{label:<5}{dim:#}  {}", for_terminal(&value)));
                }
            }
            if let Some(change) = file_change(question) {
                details.extend(change.lines().map(|line| diff::paint_line(line, palette)));
            }
        }
    }
    if let Some(always) = remembered(question) {
        details.push(format!("  {dim}always{dim:#} {}", for_terminal(always)));
    }
    Asked {
        title: "Allow this?".to_owned(),
        sentence: format!("It {} ({} risk).", for_terminal(&question.effect), risk(question)),
        details,
        choices: choices(question),
        ..Asked::default()
    }
}

fn choices(question: &ApprovalRequest) -> String {
    if question.tool == Permission::ApplyChanges {
        return "[y]es, change my files  [n]o, keep them apart  [v]iew all  [?] ".to_owned();
    }
    let always = if remembered(question).is_some() { "[a]lways  " } else { "" };
    format!("[y]es once  [c]onversation  {always}[n]o  [v]iew all  [?] ")
}

/// A question of the model, or about the run itself.
pub(super) fn other(question: &Question, palette: Palette) -> Asked {
    let Palette { bold, dim, .. } = palette;
    let title = match question.about {
        About::Task => "The agent asks:",
        About::Plan => "Carry out this plan?",
        About::Limit(_) => "A limit is reached.",
    };
    let text = for_terminal_block(question.question.trim());
    let (sentence, more) = text.split_once('\n').unwrap_or((&text, ""));
    let mut details: Vec<String> = more.lines().map(|line| format!("  {line}")).collect();
    for (option, number) in question.options.iter().zip(1..) {
        let description = option.description.as_deref().unwrap_or_default();
        let label = for_terminal(&option.label);
        let line =
            format!("  {bold}{number}{bold:#} {label}  {dim}{}{dim:#}", for_terminal(description));
        details.push(line);
    }
    let choices = match (question.options.is_empty(), question.multiple) {
        (true, _) => "Your answer: ",
        (false, true) => "Numbers with commas, or a text of your own: ",
        (false, false) => "A number, or a text of your own: ",
    };
    Asked {
        title: title.to_owned(),
        sentence: sentence.to_owned(),
        details,
        choices: choices.to_owned(),
        is_secret: question.secret,
        ..Asked::default()
    }
}

/// The question as lines for a terminal that has no panel.
pub(super) fn printed(asked: &Asked, palette: Palette) -> String {
    let details = asked.details.iter().take(PRINTED).cloned();
    let lines = asked.head(None, palette).into_iter().chain(details);
    let mut lines: String = lines.map(|line| line + "\n").collect();
    let hidden = asked.details.len().saturating_sub(PRINTED);
    if hidden > 0 {
        lines += &format!("  … {hidden} more lines; v shows all\n");
    }
    format!("\n{lines}")
}

pub(super) fn understood(line: &str, question: &ApprovalRequest) -> Reply {
    let line = line.trim();
    let (word, message) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_apply = question.tool == Permission::ApplyChanges;
    Reply::Answer(match word.to_lowercase().as_str() {
        "v" | "view" | "d" | "diff" => return Reply::ShowAll,
        "?" | "h" | "help" => return Reply::Explain,
        "y" | "yes" | "o" | "once" => Answer::Once,
        "c" | "conversation" | "r" | "run" if !is_apply => Answer::Run,
        "a" | "always" if remembered(question).is_some() => Answer::Always,
        "a" | "always" => {
            return Reply::Unclear(
                "This cannot be remembered. Type y, n or another key; ? explains them.\n",
            );
        }
        "n" | "no" => {
            let message = message.trim();
            Answer::Reject { message: (!message.is_empty()).then(|| message.to_owned()) }
        }
        _ => return Reply::Unclear("Type one of the letters in brackets; ? explains them.\n"),
    })
}

/// What each key does.
pub(super) fn explained(question: &ApprovalRequest, palette: Palette) -> String {
    let Palette { bold, .. } = palette;
    let is_apply = question.tool == Permission::ApplyChanges;
    let mut keys = vec![("y", "yes, this time".to_owned())];
    if !is_apply {
        let same = "yes, and do not ask again for exactly this until the conversation ends";
        keys.push(("c", same.to_owned()));
    }
    if let Some(always) = remembered(question) {
        keys.push(("a", format!("yes, and remember it: {}", for_terminal(always))));
    }
    keys.extend([
        (
            "n",
            "no; the model is told a reason that you type after it: n use the other file"
                .to_owned(),
        ),
        ("v", "show everything that would be done".to_owned()),
        ("Esc", "no".to_owned()),
        ("Ctrl-C", "stop the run".to_owned()),
    ]);
    keys.iter().map(|(key, text)| format!("  {bold}{key:<6}{bold:#}  {text}\n")).collect()
}

/// Everything that would be done.
pub(super) fn whole(question: &ApprovalRequest, palette: Palette) -> String {
    if question.tool == Permission::ApplyChanges {
        return diff::coloured(question, palette);
    }
    if let Some(change) = file_change(question) {
        return diff::paint(&change, palette);
    }
    let dim = palette.dim;
    let mut text = String::new();
    for (name, value) in question.params.as_object().into_iter().flatten() {
        let value = match value.as_str() {
            Some(value) => value.to_owned(),
            None => value.to_string(),
        };
        let value = for_terminal_block(&value);
        let mut lines = value.lines();
        let first = lines.next().unwrap_or_default();
        text += &format!("  {dim}{}{dim:#}  {first}\n", for_terminal(name));
        lines.for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

/// A line about what was answered.
pub(super) fn noted(question: &ApprovalRequest, answer: &Answer, palette: Palette) -> String {
    let dim = palette.dim;
    let words = match answer {
        Answer::Once => "yes, once".to_owned(),
        Answer::Run => "yes, for this conversation".to_owned(),
        Answer::Always => {
            format!(
                "yes, and remembered: {}",
                for_terminal(remembered(question).unwrap_or_default())
            )
        }
        Answer::Reject { message: Some(message) } => format!("no: {}", for_terminal(message)),
        Answer::Reject { message: None } => "no".to_owned(),
        Answer::Later => "later".to_owned(),
    };
    let effect = question.effect.split(';').next().unwrap_or_default();
    format!("{dim}asked: it {}{dim:#}\n  {words}\n", for_terminal(effect))
}

/// The same for another question.
pub(super) fn noted_answer(question: &Question, line: &str, palette: Palette) -> String {
    let dim = palette.dim;
    let question = for_terminal(&one_line(&question.question)).into_owned();
    format!("{dim}asked: {question}{dim:#}\n  {}\n", for_terminal(line))
}

/// What an answer for always would allow.
fn remembered(question: &ApprovalRequest) -> Option<&str> {
    question.always.as_deref().filter(|_| question.tool != Permission::ApplyChanges)
}

fn risk(question: &ApprovalRequest) -> String {
    let risk = serde_json::to_value(question.risk).ok();
    risk.as_ref().and_then(|risk| risk.as_str()).unwrap_or_default().to_owned()
}

/// What a file tool would do to a file, as a difference.
fn file_change(question: &ApprovalRequest) -> Option<String> {
    let text = |name: &str| question.params[name].as_str();
    let marked = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    let path = text("path")?;
    match question.tool {
        Permission::WriteFile => Some(format!("+++ {path}\n{}", marked('+', text("content")?))),
        Permission::EditFile => {
            let (old, new) = (marked('-', text("old")?), marked('+', text("new")?));
            Some(format!("--- {path}\n+++ {path}\n{old}{new}"))
        }
        _ => None,
    }
}
