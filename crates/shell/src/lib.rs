//! What a shell command line would run, for rules about commands, and what of it nobody can vouch for.
//!
//! A line is cut into words by a strict reader, which leaves the grammar nothing but plain words and operators; the
//! grammar says which of them are commands; programs that only start others are opened.
//!
//! Invariants: what is not understood is [`Unclear`], never passed over. Time grows with the length of the line, and
//! a line that is too long or too deep is unclear. Nothing here runs anything, or reads a file or a variable.

mod always;
mod command;
mod git;
mod grammar;
mod lexer;
mod names;
mod open;
mod options;
mod places;
mod programs;
mod quoting;
mod scripts;
mod variables;
mod word;

pub use command::Command;

use std::collections::HashSet;

use lexer::Lexed;

/// The longest line that is looked at, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// How deep commands can lie in commands: `sh -c`, `$( )`, `find -exec`.
const DEEPEST: usize = 8;

/// What a line would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Every simple command that would run, in order, with what it wraps opened. Where something is unclear, those that
    /// were recognised.
    pub commands: Vec<Command>,
    /// Why parts of the line cannot be vouched for; empty where all is understood.
    pub unclear: Vec<Unclear>,
    /// Texts in a part that is unclear which look like commands.
    traces: Vec<String>,
}

/// A part of a line that cannot be vouched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// The part, shortened.
    pub part: String,
    /// Why, as a sentence about the part without its full stop: "its output becomes part of the line".
    pub why: &'static str,
}

impl std::fmt::Display for Unclear {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}`: {}", self.part, self.why)
    }
}

/// Reads a line as `bash -c` would.
pub fn read(line: &str) -> Line {
    let mut read = Line::default();
    read.take(line, &[], 0);
    if !read.unclear.is_empty() {
        read.traces = lexer::traces(line);
    }
    read
}

impl Line {
    /// Whether all of it is understood.
    pub fn is_clear(&self) -> bool {
        self.unclear.is_empty()
    }

    /// The commands that need a rule.
    pub fn ruled(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|command| !command.is_harmless())
    }

    /// What rules are asked about: the commands that need one, each once; where something is unclear, first the line itself.
    /// Nothing where every command is harmless.
    pub fn patterns(&self, line: &str) -> Vec<String> {
        let whole = (!self.is_clear()).then(|| line.to_owned());
        unique(whole.into_iter().chain(self.ruled().map(Command::text)))
    }

    /// What an answer for always is about: a pattern for each command that needs a rule; nothing where one of them has none
    /// that is safe, or something is unclear.
    pub fn always(&self) -> Option<Vec<String>> {
        let patterns = self.ruled().map(Command::always).collect::<Option<Vec<_>>>()?;
        self.is_clear().then(|| unique(patterns))
    }

    /// Other texts under which a rule that denies must find the commands, each once; those that need no rule among them.
    pub fn shadows(&self) -> Vec<String> {
        let harmless = self.commands.iter().filter(|command| command.is_harmless());
        let shadows = self.commands.iter().flat_map(Command::shadows);
        unique(harmless.map(Command::text).chain(shadows).chain(self.traces.iter().cloned()))
    }

    /// Those of the [patterns](Self::patterns) that can run other programs, which no rule sees.
    pub fn hides(&self) -> Vec<String> {
        unique(self.ruled().filter(|command| command.hides()).map(Command::text))
    }

    /// Why a person must look, in words; nothing where all is understood.
    pub fn doubts(&self) -> Option<String> {
        let reasons: Vec<String> = self.unclear.iter().take(3).map(ToString::to_string).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Reads a line that stands by itself or inside another one.
    fn take(&mut self, line: &str, outer: &[String], depth: usize) {
        if line.len() > LONGEST {
            return self.doubt(line, "it is too long to be looked at");
        }
        if depth > DEEPEST {
            return self.doubt(line, "commands lie too deep in commands");
        }
        let Lexed { tokens, mask, doubts, inner, is_whole } = lexer::read(line);
        for (part, why) in doubts {
            self.doubt(&line[part], why);
        }
        if is_whole {
            match grammar::commands(tokens, mask) {
                Ok(parsed) => {
                    parsed.doubts.into_iter().for_each(|(part, why)| self.doubt(&line[part], why));
                    for simple in parsed.commands {
                        self.simple(simple, outer, depth);
                    }
                }
                Err(why) => self.doubt(line, why),
            }
        }
        for text in inner {
            self.take(&text, outer, depth + 1);
        }
    }

    fn doubt(&mut self, part: &str, why: &'static str) {
        let mut shown: String = part.chars().take(80).collect();
        if shown.len() < part.len() {
            shown.push('…');
        }
        let unclear = Unclear { part: shown, why };
        // A line of doubts says no more than its first ones.
        if self.unclear.len() < 64 && !self.unclear.contains(&unclear) {
            self.unclear.push(unclear);
        }
    }
}

/// Each text once, in the order of its first place.
fn unique(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}
