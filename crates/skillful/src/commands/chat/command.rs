//! What can be typed after a `/`, besides skills.

/// A command of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Help,
    Skills,
    Why,
    Model,
    Mode,
    Plan,
    Changes,
    Apply,
    Undo,
    Runs,
    Continue,
    New,
    Compact,
    Cost,
    Export,
    Exit,
}

/// The commands, what follows them, and what they do.
pub(super) const COMMANDS: [(Command, &str, &str, &str); 16] = [
    (Command::Help, "help", "", "list the commands"),
    (Command::Skills, "skills", "[WORDS]", "list your skills, or find some"),
    (Command::Why, "why", "NAME", "explain why a skill is visible or hidden"),
    (Command::Model, "model", "[NAME]", "show the model, or use another one"),
    (
        Command::Mode,
        "mode",
        "[NAME]",
        "show how much is asked, or set it: read-only, ask, contained, plan",
    ),
    (Command::Plan, "plan", "", "show the plan of the last request"),
    (Command::Changes, "changes", "", "show what the last request changed"),
    (Command::Apply, "apply", "", "apply changes that wait"),
    (Command::Undo, "undo", "", "take applied changes back"),
    (Command::Runs, "runs", "", "list earlier runs"),
    (Command::Continue, "continue", "[RUN]", "go on with an earlier conversation"),
    (Command::New, "new", "", "begin a new conversation"),
    (Command::Compact, "compact", "", "shorten what was said so far"),
    (Command::Cost, "cost", "", "show tokens and cost so far"),
    (
        Command::Export,
        "export",
        "[FORMAT]",
        "print the conversation as one document (md, json, html)",
    ),
    (Command::Exit, "exit", "", "leave (or Ctrl-D)"),
];

impl Command {
    pub(super) fn named(name: &str) -> Option<Self> {
        COMMANDS.iter().find(|(_, known, ..)| *known == name).map(|(command, ..)| *command)
    }
}

/// The command that a line is, and the words after it. Other words after a `/` may be a skill.
pub(super) fn read(line: &str) -> Option<(Command, &str)> {
    let rest = line.trim().strip_prefix('/')?;
    let (name, words) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Some((Command::named(name)?, words.trim()))
}

/// All of them, a line each.
pub(super) fn help() -> String {
    let mut text = String::new();
    for (_, name, words, does) in COMMANDS {
        let typed = format!("/{name} {words}");
        text += &format!("{typed:<18}{does}\n");
    }
    text += &format!("{:<18}use this skill\n", "/SKILL REQUEST");
    text += "\nAlt-Enter or \\ at the end of a line: another line. @ completes files, Tab completes, Ctrl-R searches what you typed.\n\
        Ctrl-C stops a run, twice leaves.\n";
    text
}
