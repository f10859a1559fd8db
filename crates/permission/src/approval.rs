//! The question put to a person, as data, with a command that would answer it.

use std::ffi::{OsStr, OsString};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Pattern, Permission, Risk};

/// The name of one question: `ap_` and letters, digits, `_` or `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ApprovalId(String);

/// A text that is no approval id.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an approval id: it must be `ap_` and letters, digits, `_` or `-`")]
pub struct InvalidApprovalId(pub String);

impl ApprovalId {
    /// The id of the question with this number; numbers are not used twice in a run.
    pub fn numbered(number: u64) -> Self {
        Self(format!("ap_{number}"))
    }

    /// The id as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ApprovalId {
    type Error = InvalidApprovalId;

    fn try_from(text: String) -> Result<Self, InvalidApprovalId> {
        let well_formed = text.strip_prefix("ap_").is_some_and(|rest| {
            !rest.is_empty()
                && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        });
        if well_formed { Ok(Self(text)) } else { Err(InvalidApprovalId(text)) }
    }
}

impl From<ApprovalId> for String {
    fn from(id: ApprovalId) -> Self {
        id.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A question for a person: what, how risky, what it will do, and how to allow it without being asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequest {
    /// Which question it is.
    pub id: ApprovalId,
    /// The permission that is asked for.
    pub tool: Permission,
    /// How much it can harm.
    pub risk: Risk,
    /// Why the agent wants it.
    pub reason: String,
    /// Exactly what it would do it with.
    pub params: Value,
    /// What of it is asked for, as rules would name it; none in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// What an answer for always would allow, in words; nothing where that is not to be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<String>,
    /// What it would do, in words.
    pub effect: String,
    /// A command that repeats the invocation with the approval given.
    pub replay: String,
}

/// Characters of a value that a question shows whole; of a longer one, those at its beginning and its end.
const SHOWN: usize = 600;
const HEAD: usize = 400;
const TAIL: usize = 160;

impl ApprovalRequest {
    /// What the person who decides must see, as labels and values: why it is wanted, and what it is done
    /// with, a script as one would call it. What is left out of a long value is said in its place.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("why", shortened(&self.reason))];
        let params = &self.params;
        if let Some(command) = params["command"].as_str() {
            facts.push(("run", shortened(command)));
            for (label, key) in [("in", "folder"), ("for", "why"), ("stdin", "stdin")] {
                facts.extend(params[key].as_str().map(|text| (label, shortened(text))));
            }
            facts.extend(
                params["timeout_seconds"].as_u64().map(|time| ("time", format!("{time} s"))),
            );
            return facts;
        }
        let (Some(skill), Some(path)) =
            (params["skill"]["name"].as_str(), params["relative_path"].as_str())
        else {
            facts.push(("with", shortened(&params.to_string())));
            return facts;
        };
        let words = params["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut call = format!("{skill}/{path}");
        words.for_each(|word| call.extend([" ", &shell_quoted(word.as_ref())]));
        facts.push(("with", shortened(&call)));
        if let Some(stdin) = params["stdin"].as_str().filter(|stdin| !stdin.is_empty()) {
            let length = stdin.chars().count();
            facts.push(("stdin", format!("{length} characters: {}", shortened(stdin))));
        }
        facts
    }
}

fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= SHOWN {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} … {} characters not shown … {tail}", length - HEAD - TAIL)
}

/// The command line of this process, from which a replay is made.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Program, global flags and command, up to where the command's own flags begin.
    pub command: Vec<OsString>,
    /// Everything after that.
    pub arguments: Vec<OsString>,
}

impl Invocation {
    /// Another command of the program, for a shell, with the options before it that this invocation had.
    pub fn another(&self, words: &[&str]) -> String {
        let options = self.command.split_last().map_or(&[][..], |(_, options)| options);
        let words = options.iter().cloned().chain(words.iter().map(OsString::from));
        words.map(|word| shell_quoted(&word)).collect::<Vec<_>>().join(" ")
    }

    /// The command for a shell that repeats this invocation with the patterns approved.
    pub(super) fn approving<'p>(
        &self,
        permission: Permission,
        patterns: impl Iterator<Item = &'p str>,
    ) -> String {
        let approvals = patterns.flat_map(|pattern| {
            // Escaped, so that approving a file called `*` approves that file alone.
            [
                OsString::from("--approve"),
                format!("{permission}:{}", Pattern::literal(pattern)).into(),
            ]
        });
        let words =
            self.command.iter().cloned().chain(approvals).chain(self.arguments.iter().cloned());
        words.map(|word| shell_quoted(&word)).collect::<Vec<_>>().join(" ")
    }
}

/// A word quoted so that a shell reads back the same bytes and pasting it into a terminal is harmless.
pub fn shell_quoted(word: &OsStr) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b",-./:@_".contains(byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.as_bytes().iter().all(plain) => text.to_owned(),
        Some(text) if !text.chars().any(disturbs_a_terminal) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => escaped(word.as_encoded_bytes()),
    }
}

/// A name or a path in a command that can be pasted: neither a shell nor the program makes anything else of it.
pub fn argument(word: &str) -> String {
    let quoted = shell_quoted(word.as_ref());
    if word.starts_with('-') { format!("-- {quoted}") } else { quoted }
}

/// Control characters act on the terminal; the bidirectional ones make it show something else.
fn disturbs_a_terminal(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The `$'…'` form, in which any byte can be written.
fn escaped(bytes: &[u8]) -> String {
    let mut quoted = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\'' | b'\\' => quoted.extend(['\\', byte as char]),
            b' '..=b'~' => quoted.push(byte as char),
            // Octal has at most three digits, so what follows cannot be taken for a part of it.
            _ => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests;
