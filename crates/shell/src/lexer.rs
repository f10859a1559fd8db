//! Cuts a line into words, operators and redirections, as a shell does before its grammar is asked.
//!
//! Invariant: the mask that the grammar reads has the length of the line and consists of operators, reserved words that
//! the shell would recognise, and the letter `w` for every byte of any other word. So the grammar's ranges are those of
//! the line, and nothing that a stranger wrote reaches its scanner.

mod expansion;
mod redirection;
mod state;

use std::ops::Range;

use crate::word::Word;
use redirection::HereDocument;
use state::Place;

/// How deep groups and conditions can be nested.
const DEEPEST: usize = 32;

/// How many operators and reserved words a line can have: the grammar's time grows with their square where it fails.
const MOST_SIGNS: usize = 400;

/// A line in tokens.
pub(crate) struct Lexed {
    /// The words, in order.
    pub(crate) tokens: Vec<Token>,
    /// The line for the grammar.
    pub(crate) mask: String,
    /// What cannot be vouched for, and why.
    pub(crate) doubts: Vec<Doubt>,
    /// Lines inside the line: substitutions.
    pub(crate) inner: Vec<String>,
    /// Whether the whole line could be cut.
    pub(crate) is_whole: bool,
}

/// A part of a line, and why it is unclear.
pub(crate) type Doubt = (Range<usize>, &'static str);

/// A word at its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) range: Range<usize>,
    pub(crate) role: Role,
    pub(crate) word: Word,
}

/// What a word is, by what stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `NAME=VALUE` before a program.
    Assignment,
    /// The first word of a command.
    Program,
    /// A later one; also a word after `in`.
    Argument,
    /// The name after `for`.
    Variable,
    /// The word after `case`.
    Subject,
    /// A command of redirections alone.
    Nothing,
}

/// The line cannot be read any further.
struct Stop;

struct Lexer<'l> {
    line: &'l str,
    bytes: &'l [u8],
    at: usize,
    place: Place,
    mask: Vec<u8>,
    tokens: Vec<Token>,
    doubts: Vec<Doubt>,
    inner: Vec<String>,
    documents: Vec<HereDocument>,
    depth: usize,
    signs: usize,
    /// Where a command began that is nothing but redirections so far.
    bare: Option<usize>,
    /// Whether what comes next can still belong to what stands before, so that a newline means nothing.
    is_open: bool,
    /// Where a `&>` stands in this command: not every shell takes it for a redirection.
    both: Option<Range<usize>>,
}

/// Cuts a line.
pub(crate) fn read(line: &str) -> Lexed {
    let mut lexer = Lexer {
        line,
        bytes: line.as_bytes(),
        at: 0,
        place: Place::Start,
        mask: vec![b' '; line.len()],
        tokens: Vec::new(),
        doubts: Vec::new(),
        inner: Vec::new(),
        documents: Vec::new(),
        depth: 0,
        signs: 0,
        bare: None,
        is_open: true,
        both: None,
    };
    let is_whole = lexer.all().is_ok();
    Lexed {
        tokens: lexer.tokens,
        mask: String::from_utf8(lexer.mask).unwrap_or_default(),
        doubts: lexer.doubts,
        inner: lexer.inner,
        is_whole,
    }
}

/// What looks like commands in a line that could not be read.
pub(crate) fn traces(line: &str) -> Vec<String> {
    let separators = |c: char| ";|&()\n`{}".contains(c);
    let plain = |part: &str| {
        let words = part.split_whitespace().map(|word| word.replace(['\'', '"', '\\'], ""));
        words.filter(|word| !word.is_empty() && word != "$").collect::<Vec<_>>().join(" ")
    };
    let start = &line[..line.floor_char_boundary(crate::LONGEST)];
    start.split(separators).map(plain).filter(|text| !text.is_empty()).take(256).collect()
}

impl Lexer<'_> {
    fn all(&mut self) -> Result<(), Stop> {
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        if let Some((at, found)) = self.line.char_indices().find(|(_, c)| control(*c)) {
            return self.stop(at..at + found.len_utf8(), "it has a control character");
        }
        loop {
            self.skip_blanks()?;
            let Some(byte) = self.peek(0) else { break };
            match byte {
                b'\n' => self.newline()?,
                b'|' | b'&' | b';' | b'(' | b')' if !self.begins_with("&>") => self.operator()?,
                b'<' | b'>' | b'&' => self.redirection(None)?,
                _ => self.word_token()?,
            }
        }
        self.boundary();
        if let Some(document) = self.documents.first() {
            let range = document.range.clone();
            self.doubt(range, "the here-document has no end");
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn begins_with(&self, text: &str) -> bool {
        self.bytes[self.at..].starts_with(text.as_bytes())
    }

    fn doubt(&mut self, part: Range<usize>, why: &'static str) {
        self.doubts.push((part, why));
    }

    fn stop<T>(&mut self, part: Range<usize>, why: &'static str) -> Result<T, Stop> {
        self.doubt(part, why);
        Err(Stop)
    }

    /// To the end of the line, for what cannot be told apart any more.
    fn rest(&self, from: usize) -> Range<usize> {
        from..self.line.len()
    }

    fn skip_blanks(&mut self) -> Result<(), Stop> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b' ' | b'\t'), _) => self.at += 1,
                (Some(b'\\'), Some(b'\n')) => {
                    // Between blanks it is one; anywhere else it glues together what stands on both lines.
                    let is_apart = self.at == 0 || b" \t\n".contains(&self.bytes[self.at - 1]);
                    if !is_apart {
                        let part = self.at..self.at + 2;
                        return self.stop(part, "a line is continued without a blank before it");
                    }
                    self.at += 2;
                }
                (Some(b'#'), _) => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                _ => return Ok(()),
            }
        }
    }

    fn newline(&mut self) -> Result<(), Stop> {
        self.boundary();
        if !self.is_open {
            self.sign()?;
            self.mask[self.at] = b'\n';
        }
        self.at += 1;
        if matches!(
            self.place,
            Place::Name | Place::AfterName | Place::Subject | Place::AfterSubject
        ) {
            let part = self.at - 1..self.at;
            return self.stop(part, "a newline inside `for` or `case`");
        }
        self.place = Place::Start;
        self.is_open = true;
        self.read_documents();
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Stop> {
        const OPERATORS: [&str; 11] =
            [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")"];
        let found = OPERATORS.into_iter().find(|operator| self.begins_with(operator));
        let operator = found.unwrap_or(";");
        let range = self.at..self.at + operator.len();
        match operator {
            ";&" | ";;&" => return self.stop(range, "a case that falls through"),
            "(" if self.peek(1) == Some(b'(') => {
                return self.stop(self.rest(self.at), "arithmetic can run commands");
            }
            "(" if self.place != Place::Start => {
                return self.stop(self.rest(self.at), "a function, an array or a pattern with `(`");
            }
            "(" => self.deeper()?,
            ")" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        let is_header = matches!(self.place, Place::Name | Place::Subject | Place::AfterSubject)
            || self.place == Place::AfterName && operator != ";";
        if is_header {
            return self.stop(range, "`for` or `case` without a word");
        }
        self.boundary();
        self.sign()?;
        let shown = if operator == "|&" { "| " } else { operator };
        self.mask[range.clone()].copy_from_slice(shown.as_bytes());
        self.at = range.end;
        self.place = Place::Start;
        self.is_open = operator != ")";
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), Stop> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self.stop(self.rest(self.at), "it is nested too deep");
        }
        Ok(())
    }

    fn sign(&mut self) -> Result<(), Stop> {
        self.signs += 1;
        if self.signs > MOST_SIGNS {
            return self.stop(self.rest(self.at), "the line has too many parts");
        }
        Ok(())
    }

    /// A command ends here.
    fn boundary(&mut self) {
        if let Some(at) = self.bare.take() {
            self.mask[at] = b'w';
            let word = Word::default();
            self.tokens.push(Token { range: at..at + 1, role: Role::Nothing, word });
        }
        self.both = None;
    }
}
