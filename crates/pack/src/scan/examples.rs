//! What each rule finds and what it leaves alone: the tests of the rules, and the examples of
//! `docs/scan.md`.
//!
//! Keys are written in two halves, so that nobody takes them for forgotten ones.

mod commands;
mod content;
mod credentials;
mod instructions;
mod persistence;

use super::Severity::{self, Critical, High, Info, Low, Medium};

/// How a rule sees skills of one file. After a line that begins with `===` stands the description of the
/// skill, where that matters.
#[derive(Debug)]
pub(super) struct Examples {
    pub(super) rule: &'static str,
    /// The file, its content, and how grave that is.
    pub(super) found: &'static [(Severity, &'static str, &'static str)],
    /// The file and its content.
    pub(super) left_alone: &'static [(&'static str, &'static str)],
}

pub(super) static EXAMPLES: [&Examples; 13] = [
    &instructions::OVERRIDE_INSTRUCTIONS,
    &instructions::HIDE_FROM_USER,
    &instructions::SEND_DATA_OUT,
    &content::HIDDEN_UNICODE,
    &credentials::CREDENTIAL_ACCESS,
    &credentials::EXFILTRATION,
    &commands::PIPE_TO_SHELL,
    &commands::OBFUSCATED_CODE,
    &commands::REVERSE_SHELL,
    &persistence::PERSISTENCE,
    &content::SECRET,
    &content::DESCRIPTION_MISMATCH,
    &content::OPAQUE_CONTENT,
];
