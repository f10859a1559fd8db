//! What a word is, by what stands before it.

use std::ops::Range;

use super::{Lexer, Role, Stop, Token};
use crate::word::Word;

/// What can come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A command, or a reserved word.
    Start,
    /// After an assignment or a redirection: more of them, or a program.
    Prefix,
    /// After a program: its arguments. Also after `in`.
    Arguments,
    /// After `fi`, `done`, `esac` or `}`: redirections, an operator or a reserved word.
    AfterGroup,
    /// After `for`.
    Name,
    /// After the name: `in`, `do` or `;`.
    AfterName,
    /// After `case`.
    Subject,
    /// After the subject: `in`.
    AfterSubject,
}

impl Lexer<'_> {
    pub(super) fn word_token(&mut self) -> Result<(), Stop> {
        let start = self.at;
        let word = self.word()?;
        let range = start..self.at;
        if matches!(self.peek(0), Some(b'<' | b'>')) {
            if word.raw.bytes().all(|byte| byte.is_ascii_digit()) {
                return self.redirection(Some(range.start));
            }
            if word.raw.starts_with('{') && word.raw.ends_with('}') {
                return self.stop(range, "a redirection into a variable");
            }
        }
        let can_be_reserved =
            matches!(self.place, Place::Start | Place::AfterGroup) && !word.is_quoted;
        if can_be_reserved && self.reserved(&word.raw, &range)? {
            return Ok(());
        }
        match self.place {
            Place::AfterGroup => self.stop(range, "a word after the end of a group"),
            Place::Start | Place::Prefix => self.beginning(word, range),
            Place::Arguments => {
                if let Some(part) = self.both.clone() {
                    self.doubt(part, "not every shell takes `&>` for a redirection");
                }
                self.token(Role::Argument, word, range);
                Ok(())
            }
            Place::Name => {
                self.token(Role::Variable, word, range);
                self.place = Place::AfterName;
                Ok(())
            }
            Place::Subject => {
                self.token(Role::Subject, word, range);
                self.place = Place::AfterSubject;
                Ok(())
            }
            Place::AfterName | Place::AfterSubject => self.header(&word, range),
        }
    }

    /// The first word of a command, or an assignment before it.
    fn beginning(&mut self, word: Word, range: Range<usize>) -> Result<(), Stop> {
        let name_length =
            word.raw.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let after = &word.raw[name_length..];
        let is_named = name_length > 0 && !word.raw.starts_with(|c: char| c.is_ascii_digit());
        if is_named && after.starts_with('[') && (after.contains("]=") || after.contains("]+=")) {
            self.doubt(range.clone(), "the index of an array can run commands");
        }
        if is_named && (after.starts_with('=') || after.starts_with("+=")) {
            self.place = Place::Prefix;
            self.token(Role::Assignment, word, range);
        } else {
            if let Some(part) = self.both.clone() {
                self.doubt(part, "not every shell takes `&>` for a redirection");
            }
            self.place = Place::Arguments;
            self.token(Role::Program, word, range);
        }
        Ok(())
    }

    fn header(&mut self, word: &Word, range: Range<usize>) -> Result<(), Stop> {
        match (&*word.raw, self.place) {
            ("in", place) => {
                self.mask[range].copy_from_slice(b"in");
                self.is_open = place == Place::AfterSubject;
                self.place =
                    if place == Place::AfterName { Place::Arguments } else { Place::Start };
                Ok(())
            }
            ("do", Place::AfterName) => self.reserved("do", &range).map(drop),
            _ => self.stop(range, "`for` or `case` without `in`"),
        }
    }

    fn token(&mut self, role: Role, word: Word, range: Range<usize>) {
        self.mask[range.clone()].fill(b'w');
        self.bare = None;
        self.is_open = false;
        self.tokens.push(Token { range, role, word });
    }

    /// Whether a word is reserved here.
    fn reserved(&mut self, word: &str, range: &Range<usize>) -> Result<bool, Stop> {
        let place = match word {
            "then" | "else" | "elif" | "do" => Place::Start,
            "if" | "while" | "until" | "{" => {
                self.deeper()?;
                Place::Start
            }
            "fi" | "done" | "esac" | "}" => {
                self.depth = self.depth.saturating_sub(1);
                Place::AfterGroup
            }
            "for" => {
                self.deeper()?;
                Place::Name
            }
            "case" => {
                self.deeper()?;
                Place::Subject
            }
            // Neither changes what runs, so the grammar need not know them.
            "!" => return Ok(self.place == Place::Start),
            "time" if self.place == Place::Start => return self.time().map(|()| true),
            "[[" => {
                let part = self.rest(range.start);
                return self.stop(part, "`[[` can run commands as it compares numbers");
            }
            "function" | "coproc" | "select" => {
                let part = self.rest(range.start);
                return self.stop(part, "it defines what later words mean");
            }
            _ => return Ok(false),
        };
        self.sign()?;
        self.mask[range.clone()].copy_from_slice(word.as_bytes());
        self.is_open = place == Place::Start;
        self.place = place;
        Ok(true)
    }

    /// After `time`: its option, and nothing that shells without this word would read otherwise.
    fn time(&mut self) -> Result<(), Stop> {
        self.skip_blanks()?;
        let start = self.at;
        if matches!(
            self.peek(0),
            None | Some(b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
        ) {
            return self.stop(start..start, "`time` without a program");
        }
        let before = self.at;
        let word = self.word()?;
        match &*word.raw {
            "-p" | "--" => Ok(()),
            raw if raw.starts_with('-') || raw == "{" || raw == "!" || raw == "time" => {
                self.stop(before..self.at, "shells do not agree what `time` means before it")
            }
            _ => {
                self.at = before;
                self.place = Place::Prefix;
                Ok(())
            }
        }
    }
}
