//! What can be shown of a reply while it arrives: the action, whom or what it is about, and the answer as it is written.
//!
//! Nothing is done before the whole reply has been read by [`crate::decision`]; this is for the eye alone.
//!
//! Invariant: for a reply that is a decision, all that is shown by the end is what the decision says, however the bytes
//! were split: the answers joined are its content.
//!
//! ```
//! use skillful_model::early::{Early, Shown};
//!
//! let reply = r#"{"action": {"type": "final_answer", "payload": {"content": "caf\u00e9"}}}"#;
//! let (mut early, mut answer) = (Early::new(), String::new());
//! let mut show = |shown: Shown<'_>| {
//!     if let Shown::Answer(text) = shown {
//!         answer.push_str(text);
//!     }
//! };
//! for piece in reply.as_bytes().chunks(5) {
//!     early.push(piece, &mut show);
//! }
//! early.finish(&skillful_model::decision::parse(reply)?.decision, &mut show);
//! assert_eq!(answer, "café");
//! # Ok::<(), skillful_model::decision::Problem>(())
//! ```

use agent::action::{Action, Decision};
use permission::Tool;

use crate::decision::{self, MAX_REPLY_BYTES};
use crate::json::{Event, Mode};
use crate::reply::ReplyParser;

/// Something to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    /// The type of the action.
    Action(&'static str),
    /// A skill that is selected.
    Skill(&'a str),
    /// The file, script, command or tool that the action is about.
    Target(&'a str),
    /// The next piece of the answer.
    Answer(&'a str),
}

/// Watches one reply.
pub struct Early {
    parser: ReplyParser<Field>,
    bytes: usize,
    known: Known,
}

#[derive(Clone, Copy, PartialEq)]
enum Field {
    Type,
    Skill,
    Path,
    Tool,
    Command,
    Content,
}

const WATCHES: [(&str, Mode, Field); 6] = [
    ("$.action.type", Mode::Value, Field::Type),
    ("$.action.payload.skills[*].name", Mode::Value, Field::Skill),
    ("$.action.payload.relative_path", Mode::Value, Field::Path),
    ("$.action.payload.tool", Mode::Value, Field::Tool),
    ("$.action.payload.params.command", Mode::Value, Field::Command),
    ("$.action.payload.content", Mode::Deltas, Field::Content),
];

/// What is known of the reply so far.
#[derive(Default)]
struct Known {
    kind: Kind,
    /// What came before the type, which decides whether it means anything.
    held: Vec<(Field, String)>,
    skills: Vec<String>,
    targeted: bool,
    /// The tool that is called, and a command that came before it.
    tool: Option<String>,
    command: Option<String>,
    /// Bytes of the answer that were shown.
    answered: usize,
}

#[derive(Default, Clone, Copy)]
enum Kind {
    #[default]
    Awaited,
    Is(&'static str),
    /// No decision will come of it.
    Nothing,
}

impl Early {
    /// Before the first byte.
    #[expect(clippy::new_without_default, reason = "an empty reply is no default of anything")]
    pub fn new() -> Self {
        let parser = ReplyParser::new(&WATCHES).expect("the watched paths are right");
        Self { parser, bytes: 0, known: Known::default() }
    }

    /// Takes the next bytes of the reply, split anywhere.
    pub fn push(&mut self, bytes: &[u8], show: &mut dyn FnMut(Shown<'_>)) {
        self.bytes = self.bytes.saturating_add(bytes.len());
        // Such a reply is refused, and must not pile up here meanwhile.
        if self.bytes <= MAX_REPLY_BYTES {
            self.parser.push(bytes, &mut |event| self.known.take(event, show));
        }
    }

    /// Shows what is left, now that the whole reply is a decision: after prose, or in another spelling, nothing could be
    /// shown early.
    pub fn finish(self, decision: &Decision, show: &mut dyn FnMut(Shown<'_>)) {
        let known = self.known;
        if !matches!(known.kind, Kind::Is(_)) {
            show(Shown::Action(decision.action.kind().name()));
        }
        match &decision.action {
            Action::SelectSkills { skills, .. } => {
                let new = skills.iter().filter(|skill| !known.skills.contains(&skill.name));
                new.for_each(|skill| show(Shown::Skill(&skill.name)));
            }
            Action::LoadResource { relative_path: target, .. }
            | Action::RunScript { relative_path: target, .. }
                if !known.targeted =>
            {
                show(Shown::Target(target));
            }
            Action::CallTool { tool, params, .. } if !known.targeted => {
                let command = params["command"].as_str().filter(|_| runs_command(tool));
                show(Shown::Target(command.unwrap_or(tool)));
            }
            Action::FinalAnswer { content } => {
                let rest = content.get(known.answered..).filter(|rest| !rest.is_empty());
                rest.into_iter().for_each(|rest| show(Shown::Answer(rest)));
            }
            _ => {}
        }
    }
}

impl Known {
    fn take(&mut self, event: Event<'_, Field>, show: &mut dyn FnMut(Shown<'_>)) {
        match event {
            Event::Value(field, json) => {
                // Whatever is no string makes the reply invalid, or is a spelling for the end.
                let Ok(text) = serde_json::from_slice::<String>(json) else { return };
                if field == Field::Type {
                    self.typed(&text, show)
                } else {
                    self.say(field, &text, show)
                }
            }
            Event::Delta(field, text) => self.say(field, text, show),
            Event::DeltasEnd(_) => {}
        }
    }

    fn typed(&mut self, name: &str, show: &mut dyn FnMut(Shown<'_>)) {
        let Kind::Awaited = self.kind else { return };
        self.kind = decision::kind_named(name).map_or(Kind::Nothing, Kind::Is);
        if let Kind::Is(kind) = self.kind {
            show(Shown::Action(kind));
        }
        for (field, text) in std::mem::take(&mut self.held) {
            self.say(field, &text, show);
        }
    }

    fn say(&mut self, field: Field, text: &str, show: &mut dyn FnMut(Shown<'_>)) {
        match (self.kind, field) {
            (Kind::Awaited, _) => self.held.push((field, text.to_owned())),
            (Kind::Is("select_skills"), Field::Skill) => {
                self.skills.push(text.to_owned());
                show(Shown::Skill(text));
            }
            (Kind::Is("load_resource" | "run_script"), Field::Path) => self.target(text, show),
            (Kind::Is("call_tool"), Field::Tool) => {
                self.tool = Some(text.to_owned());
                match self.command.take() {
                    _ if !runs_command(text) => self.target(text, show),
                    Some(command) => self.target(&command, show),
                    // It follows, or is missing.
                    None => {}
                }
            }
            (Kind::Is("call_tool"), Field::Command) => match &self.tool {
                None => self.command = Some(text.to_owned()),
                Some(tool) if runs_command(tool) => self.target(text, show),
                Some(_) => {}
            },
            (Kind::Is("final_answer"), Field::Content) => {
                self.answered += text.len();
                show(Shown::Answer(text));
            }
            _ => {}
        }
    }

    fn target(&mut self, text: &str, show: &mut dyn FnMut(Shown<'_>)) {
        self.targeted = true;
        show(Shown::Target(text));
    }
}

fn runs_command(tool: &str) -> bool {
    tool == Tool::RunCommand.name()
}

#[cfg(test)]
mod tests;
