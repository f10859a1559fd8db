//! What an action is about, in a few words: `read src/main.rs`, `run pytest -q`.

use agent::action::Action;
use basics::text::{one_line, prefix};
use serde_json::Value;

/// Characters of it that are kept.
const LENGTH: usize = 200;

/// An action in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Headline {
    /// As a heading: `read`.
    pub(super) verb: &'static str,
    /// While it is done: `reading`.
    pub(super) doing: &'static str,
    /// What it is done to.
    pub(super) what: String,
}

impl Headline {
    pub(super) fn of(action: &Action) -> Self {
        let (verb, doing, what) = words(action);
        Self { verb, doing, what: prefix(&one_line(&what), LENGTH).to_owned() }
    }

    pub(super) fn title(&self) -> String {
        format!("{} {}", self.verb, self.what)
    }

    pub(super) fn progress(&self) -> String {
        format!("{} {}", self.doing, self.what)
    }
}

fn words(action: &Action) -> (&'static str, &'static str, String) {
    match action {
        Action::SelectSkills { skills, .. } => {
            let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            ("use", "loading", format!("skill {}", names.join(", ")))
        }
        Action::SearchSkills { query, .. } => {
            ("find", "looking for", format!("skills for {query}"))
        }
        Action::LoadResource { skill, relative_path, .. } => {
            ("read", "reading", format!("{}/{relative_path}", skill.name))
        }
        Action::LoadChunk { skill, chunk_id } => {
            ("read", "reading", format!("{} {chunk_id}", skill.name))
        }
        Action::RunScript { skill, relative_path, args, .. } => {
            let call = format!("{}/{relative_path} {}", skill.name, args.join(" "));
            ("run", "running", call)
        }
        Action::CallTool { tool, params, .. } => tool_words(tool, params),
        Action::ReadObservation { reference, .. } => {
            ("read", "reading", format!("back {reference}"))
        }
        Action::AskUser { question, .. } => ("ask", "asking", question.clone()),
        Action::ApplyChanges { paths, .. } if paths.is_empty() => {
            ("apply", "applying", "the changes".to_owned())
        }
        Action::ApplyChanges { paths, .. } => {
            ("apply", "applying", format!("changes to {}", paths.join(", ")))
        }
        Action::FinalAnswer { .. } => ("give", "giving", "the answer".to_owned()),
    }
}

fn tool_words(tool: &str, params: &Value) -> (&'static str, &'static str, String) {
    let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
    let path = || match text("path") {
        path if path.is_empty() => ".".to_owned(),
        path => path,
    };
    match tool {
        "read_file" => ("read", "reading", path()),
        "list_dir" => ("list", "listing", path()),
        "grep" => ("search", "searching", format!("{} for {}", path(), text("pattern"))),
        "write_file" => ("write", "writing", path()),
        "edit_file" => ("edit", "editing", path()),
        "delete_file" => ("delete", "deleting", path()),
        "run_command" => ("run", "running", text("command")),
        "command_output" => ("read", "reading", format!("the output of {}", text("id"))),
        "command_input" => ("answer", "answering", text("id")),
        "command_stop" => ("stop", "stopping", text("id")),
        "network_request" => ("fetch", "fetching", text("url")),
        _ => {
            let target = ["path", "url", "command", "id", "pattern", "query"];
            let target = target.iter().find_map(|name| params[*name].as_str());
            ("call", "calling", format!("{tool} {}", target.unwrap_or_default()))
        }
    }
}
