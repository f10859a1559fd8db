//! The rules, as data: what each looks for, and how much it matters where it is found.
//!
//! Examples of what each finds and what it leaves alone are in `examples`, and in `docs/scan.md`.

mod commands;
mod credentials;
mod instructions;
mod persistence;
mod secrets;

use super::finding::Severity;
pub(super) use commands::{OBFUSCATED_CODE, PIPE_TO_SHELL, REVERSE_SHELL};
pub(super) use credentials::{CREDENTIAL_ACCESS, EXFILTRATION, SENDS};
pub(super) use instructions::{HIDE_FROM_USER, OVERRIDE_INSTRUCTIONS, SEND_DATA_OUT};
pub(super) use persistence::PERSISTENCE;
pub(super) use secrets::SECRET;

/// Something that is looked for.
#[derive(Debug)]
pub struct Rule {
    /// Its name, such as `pipe-to-shell`.
    pub id: &'static str,
    /// What a finding of it means.
    pub explanation: &'static str,
    /// What can be done about one.
    pub hint: &'static str,
    pub(super) patterns: &'static [Pattern],
}

/// How a rule finds something.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) regex: &'static str,
    pub(super) unless: Unless,
    pub(super) levels: Levels,
}

/// Which matches of a pattern are left alone. What stands around a match never matters.
#[derive(Debug)]
pub(super) enum Unless {
    /// None.
    Never,
    /// Those that this matches, too.
    It(&'static str),
    /// Those whose parts, at least one of them, are all of a kind.
    All {
        /// What is a part.
        parts: &'static str,
        /// Of what kind each must be.
        are: &'static str,
    },
}

/// Where in a skill something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// What may be run.
    Code,
    /// What is only read: Markdown, plain text, comments of scripts.
    Text,
}

impl Area {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Code, Self::Text];
}

/// How much a match matters in each place; nothing where it is not looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    pub(super) code: Option<Severity>,
    pub(super) text: Option<Severity>,
}

const LOW: Option<Severity> = Some(Severity::Low);
const MEDIUM: Option<Severity> = Some(Severity::Medium);
const HIGH: Option<Severity> = Some(Severity::High);
const CRITICAL: Option<Severity> = Some(Severity::Critical);

impl Levels {
    /// Commands: what runs matters most, what a model is shown may be run as well.
    const fn commands(code: Option<Severity>, text: Option<Severity>) -> Self {
        Self { code, text }
    }

    /// Only what may be run.
    const fn code(code: Option<Severity>) -> Self {
        Self { code, text: None }
    }

    /// Words that a model may obey wherever it reads them, and keys.
    const fn everywhere(level: Option<Severity>) -> Self {
        Self { code: level, text: level }
    }

    pub(super) fn at(&self, place: Area) -> Option<Severity> {
        match place {
            Area::Code => self.code,
            Area::Text => self.text,
        }
    }
}

impl Rule {
    /// The gravest severity it can have.
    pub fn worst(&self) -> Severity {
        let all = Area::ALL.into_iter().filter_map(|place| self.worst_at(place));
        // The rules without patterns say themselves how grave a finding is.
        all.max().unwrap_or(match self.id {
            id if id == HIDDEN_UNICODE.id => Severity::Critical,
            id if id == OPAQUE_CONTENT.id => Severity::High,
            _ => Severity::Medium,
        })
    }

    /// The gravest severity it can have in a place.
    pub fn worst_at(&self, place: Area) -> Option<Severity> {
        self.patterns.iter().filter_map(|pattern| pattern.levels.at(place)).max()
    }
}

/// Every rule.
pub static RULES: [&Rule; 13] = [
    &OVERRIDE_INSTRUCTIONS,
    &HIDE_FROM_USER,
    &SEND_DATA_OUT,
    &HIDDEN_UNICODE,
    &CREDENTIAL_ACCESS,
    &EXFILTRATION,
    &PIPE_TO_SHELL,
    &OBFUSCATED_CODE,
    &REVERSE_SHELL,
    &PERSISTENCE,
    &SECRET,
    &DESCRIPTION_MISMATCH,
    &OPAQUE_CONTENT,
];

pub(super) static HIDDEN_UNICODE: Rule = Rule {
    id: "hidden-unicode",
    explanation: "characters that a model reads but a person does not see",
    hint: "look at the line in an editor that shows hidden characters, or remove them",
    patterns: &[],
};

pub(super) static DESCRIPTION_MISMATCH: Rule = Rule {
    id: "description-mismatch",
    explanation: "the description does not match what the skill does",
    hint: "ask the author; people and models choose a skill by its description",
    patterns: &[],
};

pub(super) static OPAQUE_CONTENT: Rule = Rule {
    id: "opaque-content",
    explanation: "this cannot be analysed",
    hint: "use it only if you trust its source; the scan does not know what it does",
    patterns: &[],
};

/// How a description says that the network is not used.
pub(super) const NO_NETWORK: &str = r"(?i)\b(?:no\s+(?:network|internet)\s+(?:access|connection|calls?|requests?|use|needed|required)|without\s+(?:any\s+)?(?:network|internet)\b|(?:works|runs?|operates?)\s+(?:fully\s+|completely\s+|entirely\s+|100%\s+)?(?:offline|locally\s+only)|(?:never|does\s+not|doesn't)\s+(?:use|uses|access|accesses|contact|contacts|touch|touches)\s+the\s+(?:network|internet)|(?:no\s+data|nothing)\s+(?:ever\s+)?leaves\s+(?:the|your|this)\s+(?:machine|computer|device)|(?:fully|completely|entirely)\s+offline)";

/// How a script uses it, other than to talk to its own machine.
pub(super) const NETWORK: &str = r#"\b(?:curl|wget)\s[^\n]*https?://[a-z0-9-]+\.[a-z]|\brequests\.(?:get|post|put|request)\s*\(|\burllib\.request\.(?:urlopen|Request)\s*\(|\burlopen\s*\(|\bhttpx\.(?:get|post|Client|AsyncClient)\b|\bfetch\s*\(\s*["'`]https?://[a-z0-9-]+\.[a-z]|\baxios\.(?:get|post|put|request)\s*\(|\bhttps\.(?:get|request)\s*\(|\bInvoke-(?:WebRequest|RestMethod)\b|\bhttp\.client\.HTTPS?Connection\s*\("#;

/// How a description says that nothing is changed.
pub(super) const NO_CHANGE: &str = r"(?i)\b(?:read[- ]only(?:\s+(?:analysis|audit|inspection|skill|review|access|tool|check)|[.,;)]|\s*$)|(?:never|does\s+not|doesn't|without)\s+(?:modify|modifies|modifying|change|changes|changing|write|writes|writing|delete|deletes|deleting)\s+(?:any\s+|your\s+)?(?:files?|anything|data|code))";

/// How a script changes something that was there before.
pub(super) const CHANGE: &str = r"\brm\s+-[a-zA-Z]*r[a-zA-Z]*f?\s+[^\n]*(?:~|\$HOME|\.\.?/|/\*)|\bshutil\.rmtree\s*\(|\bgit\s+(?:push|commit|reset\s+--hard|clean\s+-[a-z]*f)\b|\bsed\s+-i\b|\b(?:DROP\s+(?:TABLE|DATABASE)|DELETE\s+FROM|TRUNCATE\s+TABLE)\s|\bkubectl\s+(?:delete|apply|patch|scale)\b|\bterraform\s+(?:apply|destroy)\b";
