//! What a scan says.

use std::cmp::{Ordering, Reverse};

use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is wrong with it by itself.
    Info,
    /// Common in honest skills; matters beside other findings.
    Low,
    /// Honest skills do it for a reason; read the place before you use the skill.
    Medium,
    /// Honest skills hardly ever do it; do not use the skill before you understand why it does.
    High,
    /// No honest reason is known.
    Critical,
}

/// A place that a rule speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The rule's name, such as `pipe-to-shell`.
    pub rule: &'static str,
    /// How much it matters here.
    pub severity: Severity,
    /// The file, relative to the skill's folder.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What stands there, shortened, with hidden characters spelled out and secrets cut.
    pub excerpt: String,
    /// What it means.
    pub explanation: String,
    /// What can be done about it.
    pub hint: &'static str,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LookedAt {
    /// Files whose whole text was looked at.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// Something that was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct NotLookedAt {
    /// Relative to the skill's folder.
    pub file: String,
    /// Why not.
    pub reason: String,
}

/// What was found in a skill, and what was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// The gravest first, then by file and line.
    pub findings: Vec<Finding>,
    /// Further findings of the same kind that are not listed.
    pub omitted: usize,
    /// How much was looked at.
    pub looked_at: LookedAt,
    /// What was not, by file.
    pub not_looked_at: Vec<NotLookedAt>,
    /// How much more was not and is not listed.
    pub more_not_looked_at: usize,
}

impl Severity {
    /// All of them, the least first.
    pub const ALL: [Self; 5] = [Self::Info, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// What it means.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Info => "good to know; nothing is wrong with it alone",
            Self::Low => "common in honest skills; matters together with other findings",
            Self::Medium => {
                "honest skills have a reason for it; read the place before you use the skill"
            }
            Self::High => {
                "honest skills hardly ever do it; do not use the skill before you know why it does"
            }
            Self::Critical => "no honest reason is known",
        }
    }
}

impl Report {
    /// The gravest severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

impl Finding {
    /// The gravest first, then by place.
    fn order(&self) -> impl Ord + '_ {
        let place = (&self.file, self.line, self.column);
        (Reverse(self.severity), place, self.rule, &self.explanation, &self.excerpt, self.hint)
    }
}

impl Ord for Finding {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Finding {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
