//! Redirections and here-documents: where data comes from and goes to. They run nothing, so the grammar does not see them.

use std::ops::Range;

use super::state::Place;
use super::{Lexer, Stop};
use crate::places;

/// A here-document whose text has not come yet.
pub(super) struct HereDocument {
    pub(super) range: Range<usize>,
    delimiter: String,
    strips_tabs: bool,
    is_literal: bool,
}

const OPERATORS: [&str; 12] =
    ["&>>", "<<<", "<<-", "&>", "<<", "<&", "<>", ">>", ">&", ">|", "<", ">"];

/// A byte that means itself wherever it stands in the name of a file.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:@+,%".contains(&byte)
}

impl Lexer<'_> {
    /// A redirection, from its number on if it has one.
    pub(super) fn redirection(&mut self, number: Option<usize>) -> Result<(), Stop> {
        let start = number.unwrap_or(self.at);
        if self.begins_with("<(") || self.begins_with(">(") {
            return self.process_substitution();
        }
        let found = OPERATORS.into_iter().find(|operator| self.begins_with(operator));
        let operator = found.unwrap_or(">");
        let sign = self.at;
        self.at += operator.len();
        let is_bare = self.place == Place::Start && self.is_open;
        match self.place {
            Place::Start if is_bare => self.place = Place::Prefix,
            // After `)`.
            Place::Start => self.place = Place::AfterGroup,
            Place::Prefix | Place::Arguments | Place::AfterGroup => {}
            _ => return self.stop(start..self.at, "a redirection inside `for` or `case`"),
        }
        self.skip_blanks()?;
        if matches!(self.peek(0), None | Some(b'\n' | b'|' | b'&' | b';' | b'(' | b')')) {
            return self.stop(start..self.at, "a redirection without a target");
        }
        if matches!(self.peek(0), Some(b'<' | b'>')) {
            return self.process_substitution();
        }
        let target = self.at;
        let word = self.word()?;
        let range = start..self.at;
        if operator.starts_with("&>") {
            self.both = Some(range.clone());
        }
        if is_bare {
            self.bare = Some(sign);
            self.is_open = false;
        }
        match operator {
            "<<" | "<<-" => {
                if word.expands || word.text.contains('\n') {
                    return self.stop(target..self.at, "the end of the here-document is computed");
                }
                self.documents.push(HereDocument {
                    range,
                    is_literal: word.is_quoted,
                    delimiter: word.text,
                    strips_tabs: operator == "<<-",
                });
            }
            _ if word.expands => {
                self.doubt(range, "where it reads or writes is only known when it runs");
            }
            "<<<" => {}
            // bash expands what follows `>&` twice, so that quotes do not protect it.
            _ if word.text.contains(['$', '`'])
                || operator.contains('&') && !word.text.bytes().all(is_plain) =>
            {
                self.doubt(range, "bash may compute what it reads or writes, in quotes as well");
            }
            _ if word.has_tilde => {
                self.doubt(range, "where it reads or writes is only known when it runs");
            }
            _ if operator.contains('>') && places::decides_what_runs(&word) => {
                self.doubt(range, places::WHY);
            }
            _ if word.text.contains("/dev/tcp") || word.text.contains("/dev/udp") => {
                self.doubt(range, "it opens a connection");
            }
            _ if word.is_glob => {
                self.doubt(range, "where it reads or writes depends on the files there are")
            }
            _ => {}
        }
        Ok(())
    }

    fn process_substitution(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += 1;
        if self.peek(0) == Some(b'(') {
            self.substitution(start)?;
        }
        self.stop(start..self.at, "it runs commands of its own")
    }

    /// The texts of here-documents, after the line that asks for them.
    pub(super) fn read_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let start = self.at;
            let end = loop {
                let rest = &self.line[self.at..];
                let (line, length) = match rest.find('\n') {
                    Some(end) => (&rest[..end], end + 1),
                    None => (rest, rest.len()),
                };
                let begins = self.at;
                self.at += length;
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line };
                if line == document.delimiter {
                    break Some(begins);
                }
                if length == rest.len() && !rest.ends_with('\n') || rest.is_empty() {
                    break None;
                }
            };
            let body = &self.line[start..end.unwrap_or(self.at)];
            if !document.is_literal && body.contains(['$', '`', '\\']) {
                self.doubt(document.range.clone(), "the shell computes parts of the here-document");
            }
            if end.is_none() {
                self.doubt(document.range, "the here-document has no end");
            }
        }
    }
}
