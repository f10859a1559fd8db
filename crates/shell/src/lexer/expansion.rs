//! One word: quotes removed, and what the shell would put in the place of `$`, backquotes, braces and wildcards.

use super::{Lexer, Stop};
use crate::quoting::ansi_c;
use crate::word::Word;

impl Lexer<'_> {
    /// Reads a word to its end.
    pub(super) fn word(&mut self) -> Result<Word, Stop> {
        let start = self.at;
        let mut word = Word::default();
        let (mut brace, mut bracket) = (false, false);
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' => break,
                b'\\' => self.escape(&mut word)?,
                b'\'' => self.single(&mut word)?,
                b'"' => self.double(&mut word)?,
                b'`' => self.backquotes(&mut word)?,
                b'$' => self.dollar(&mut word, false)?,
                _ => {
                    brace |= byte == b'{';
                    bracket |= byte == b'[';
                    let expands = byte == b',' || byte == b'.' && self.peek(1) == Some(b'.');
                    if brace && expands {
                        self.doubt(start..self.at + 1, "braces become several words");
                        brace = false;
                        word.expands = true;
                    }
                    word.is_glob |= matches!(byte, b'*' | b'?') || byte == b']' && bracket;
                    word.has_tilde |= byte == b'~' && self.at == start;
                    self.push(&mut word.text);
                }
            }
        }
        word.raw = self.line[start..self.at].to_owned();
        Ok(word)
    }

    fn push(&mut self, text: &mut String) {
        if let Some(character) = self.line[self.at..].chars().next() {
            text.push(character);
            self.at += character.len_utf8();
        }
    }

    fn escape(&mut self, word: &mut Word) -> Result<(), Stop> {
        word.is_quoted = true;
        self.at += 1;
        match self.peek(0) {
            None => self.stop(self.at - 1..self.at, "a backslash at the end"),
            Some(b'\n') => self.stop(self.at - 1..self.at + 1, "a line is continued inside a word"),
            Some(_) => {
                self.push(&mut word.text);
                Ok(())
            }
        }
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Stop> {
        word.is_quoted = true;
        let body = self.at + 1;
        let Some(length) = self.line[body..].find('\'') else {
            return self.stop(self.rest(self.at), "a quote is not closed");
        };
        word.text.push_str(&self.line[body..body + length]);
        self.at = body + length + 1;
        Ok(())
    }

    fn double(&mut self, word: &mut Word) -> Result<(), Stop> {
        word.is_quoted = true;
        let start = self.at;
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return self.stop(self.rest(start), "a quote is not closed"),
                (Some(b'"'), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(b'\n')) => self.at += 2,
                (Some(b'\\'), Some(b'$' | b'`' | b'"' | b'\\')) => {
                    self.at += 1;
                    self.push(&mut word.text);
                }
                (Some(b'`'), _) => self.backquotes(word)?,
                (Some(b'$'), _) => self.dollar(word, true)?,
                _ => self.push(&mut word.text),
            }
        }
    }

    fn backquotes(&mut self, word: &mut Word) -> Result<(), Stop> {
        let start = self.at;
        let mut body = String::new();
        self.at += 1;
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => return self.stop(self.rest(start), "a backquote is not closed"),
                (Some(b'`'), _) => break,
                (Some(b'\\'), Some(b'$' | b'`' | b'\\')) => {
                    self.at += 1;
                    self.push(&mut body);
                }
                _ => self.push(&mut body),
            }
        }
        self.at += 1;
        self.inner.push(body);
        self.computed(word, start, "its output becomes part of the line");
        Ok(())
    }

    fn computed(&mut self, word: &mut Word, start: usize, why: &'static str) {
        self.doubt(start..self.at, why);
        word.text.push_str(&self.line[start..self.at]);
        (word.expands, word.splits) = (true, true);
    }

    fn dollar(&mut self, word: &mut Word, is_quoted: bool) -> Result<(), Stop> {
        let start = self.at;
        let Some(next) = self.peek(1) else {
            self.at += 1;
            word.text.push('$');
            return Ok(());
        };
        match next {
            b'\'' if !is_quoted => return self.ansi_c(word),
            b'"' if !is_quoted => {
                self.doubt(start..start + 2, "it is translated, so its text is not known");
                word.expands = true;
                self.at += 1;
                return self.double(word);
            }
            b'(' if self.peek(2) == Some(b'(') => {
                return self.stop(self.rest(start), "arithmetic can run commands");
            }
            b'[' => return self.stop(self.rest(start), "arithmetic can run commands"),
            b'\\' if self.peek(2) == Some(b'\n') => {
                return self.stop(start..start + 3, "a line is continued inside a word");
            }
            b'(' => {
                self.at += 1;
                self.substitution(start)?;
                self.computed(word, start, "its output becomes part of the line");
                return Ok(());
            }
            b'{' => {
                self.braced(start)?;
            }
            b'A'..=b'Z' | b'a'..=b'z' | b'_' => {
                let name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
                self.at += 1 + self.bytes[start + 1..].iter().take_while(name).count();
                // The shell would take the line together before it reads the name.
                if self.begins_with("\\\n") {
                    return self.stop(start..self.at, "a line is continued inside a word");
                }
            }
            b'0'..=b'9' | b'?' | b'#' | b'$' | b'!' | b'@' | b'*' | b'-' => self.at += 2,
            _ => {
                self.at += 1;
                word.text.push('$');
                return Ok(());
            }
        }
        word.text.push_str(&self.line[start..self.at]);
        word.expands = true;
        word.splits |= !is_quoted;
        Ok(())
    }

    fn ansi_c(&mut self, word: &mut Word) -> Result<(), Stop> {
        let start = self.at;
        word.is_quoted = true;
        self.at += 2;
        let body = self.at;
        loop {
            match self.peek(0) {
                None => return self.stop(self.rest(start), "a quote is not closed"),
                Some(b'\'') => break,
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
        let text = &self.line[body..self.at];
        self.at += 1;
        match ansi_c(text) {
            Some(text) => word.text.push_str(&text),
            None => {
                self.doubt(start..self.at, "shells do not agree what it means");
                word.text.push_str(text);
                word.expands = true;
            }
        }
        Ok(())
    }

    /// `${NAME}`; anything more is an operation on its value, and some of them run commands.
    fn braced(&mut self, start: usize) -> Result<(), Stop> {
        let Some(length) = self.line[start..].find('}') else {
            return self.stop(self.rest(start), "a brace is not closed");
        };
        self.at = start + length + 1;
        let name = &self.line[start + 2..self.at - 1];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return self.stop(self.rest(start), "its value is computed");
        }
        Ok(())
    }

    /// From `(` to its `)`: a line of its own.
    pub(super) fn substitution(&mut self, start: usize) -> Result<(), Stop> {
        let body = self.at + 1;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek(0) {
            let skipped = match byte {
                b'(' => {
                    depth += 1;
                    Some(1)
                }
                b')' if depth == 1 => {
                    self.inner.push(self.line[body..self.at].to_owned());
                    self.at += 1;
                    return Ok(());
                }
                b')' => {
                    depth -= 1;
                    Some(1)
                }
                b'\\' => Some(2),
                b'\'' => self.line[self.at + 1..].find('\'').map(|length| length + 2),
                _ => Some(1),
            };
            let Some(skipped) = skipped else { break };
            self.at = (self.at + skipped).min(self.line.len());
        }
        self.at = self.line.len();
        self.stop(start..self.at, "its output becomes part of the line")
    }
}
