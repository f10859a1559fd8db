//! The text that somebody types: what each key does to it, and how it looks.

mod history;
mod look;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::keys::Key;
use history::History;
pub(crate) use look::Rows;
use unicode_width::UnicodeWidthChar;

/// A paste of more lines or characters is shown as a mark.
const PASTE_LINES: usize = 3;
const PASTE_CHARS: usize = 800;
/// Marks of pastes are letters that nobody can type.
const MARKS: Range<u32> = 0xf0000..0xffff0;

/// What could be typed here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    /// Where the word begins that is completed.
    pub(crate) from: usize,
    pub(crate) candidates: Vec<Candidate>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) text: String,
    /// What it is, in a few words.
    pub(crate) hint: String,
}

/// Completes the text before the cursor.
pub(crate) type Completer = Box<dyn Fn(&str) -> Completion + Send>;

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Nothing,
    /// The text is complete.
    Sent(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    Leave,
    /// Esc, where it ended nothing else.
    Escape,
}

/// A text that is being typed.
#[derive(Default)]
pub(crate) struct Editor {
    text: String,
    /// In bytes.
    cursor: usize,
    /// What the marks stand for.
    pastes: Vec<String>,
    history: History,
    completer: Option<Completer>,
    completion: Completion,
    /// Which candidate Tab has put there, and what was typed before it.
    chosen: Option<usize>,
}

impl Editor {
    pub(crate) fn new(history: Vec<String>, completer: Completer) -> Self {
        Self { history: History::new(history), completer: Some(completer), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Throws the text away.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.pastes.clear();
        (self.cursor, self.chosen) = (0, None);
        self.completion = Completion::default();
        self.history.rest();
    }

    /// Puts a text before what is there.
    pub(crate) fn give_back(&mut self, text: &str) {
        let rest = std::mem::take(&mut self.text);
        self.cursor = 0;
        self.insert_block(text);
        if !rest.is_empty() {
            self.insert("\n");
            self.insert(&rest);
        }
    }

    /// Ends a search or closes the candidates; whether there was any.
    fn escape(&mut self) -> bool {
        let had_menu = !self.completion.candidates.is_empty();
        self.completion = Completion::default();
        self.history.end_search() || had_menu
    }

    pub(crate) fn key(&mut self, key: Key) -> Typed {
        if self.history.is_searching() && self.search_key(&key) {
            return Typed::Nothing;
        }
        if !matches!(key, Key::Tab | Key::BackTab) {
            self.chosen = None;
        }
        match key {
            Key::Enter if self.text[..self.cursor].ends_with('\\') => {
                self.remove_before(1);
                self.insert("\n");
            }
            Key::Enter => return self.send(),
            Key::Escape if self.escape() => return Typed::Nothing,
            Key::Escape => return Typed::Escape,
            Key::Ctrl('c') => return Typed::Interrupt,
            Key::Ctrl('d') if self.is_empty() => return Typed::Leave,
            Key::Tab => return self.complete(1),
            Key::BackTab => return self.complete(-1),
            key => self.edit(key),
        }
        self.suggest();
        Typed::Nothing
    }

    fn edit(&mut self, key: Key) {
        match key {
            Key::Char(c) if !MARKS.contains(&u32::from(c)) => {
                self.insert(c.encode_utf8(&mut [0; 4]));
            }
            Key::NewLine => self.insert("\n"),
            Key::Paste(text) => self.insert_block(&text),
            Key::Backspace => self.remove_before(self.cursor - self.left()),
            Key::Delete | Key::Ctrl('d') => self.remove(self.cursor..self.right()),
            Key::BackWord | Key::Ctrl('w') => self.remove(self.word_left()..self.cursor),
            Key::Ctrl('u') => self.remove(self.line_start()..self.cursor),
            Key::Ctrl('k') => self.remove(self.cursor..self.line_end()),
            Key::Left | Key::Ctrl('b') => self.cursor = self.left(),
            Key::Right | Key::Ctrl('f') => self.cursor = self.right(),
            Key::WordLeft => self.cursor = self.word_left(),
            Key::WordRight => self.cursor = self.word_right(),
            Key::Home | Key::Ctrl('a') => self.cursor = self.line_start(),
            Key::End | Key::Ctrl('e') => self.cursor = self.line_end(),
            Key::Up | Key::Ctrl('p') => self.up(),
            Key::Down | Key::Ctrl('n') => self.down(),
            Key::Ctrl('r') => self.history.search(),
            _ => {}
        }
    }

    fn send(&mut self) -> Typed {
        let text = self.whole();
        self.history.add(&text);
        self.clear();
        Typed::Sent(text)
    }

    /// The text with what its marks stand for.
    fn whole(&self) -> String {
        let mut whole = String::new();
        for c in self.text.chars() {
            match self.paste(c) {
                Some(paste) => whole.push_str(paste),
                None => whole.push(c),
            }
        }
        whole
    }

    fn paste(&self, c: char) -> Option<&str> {
        let number = u32::from(c).checked_sub(MARKS.start)?;
        Some(self.pastes.get(usize::try_from(number).ok()?)?)
    }

    /// Text of several lines, as a mark if it is long.
    fn insert_block(&mut self, text: &str) {
        let text: String = text.chars().filter(|c| !MARKS.contains(&u32::from(*c))).collect();
        let is_long = text.lines().count() > PASTE_LINES || text.chars().count() > PASTE_CHARS;
        let mark = u32::try_from(self.pastes.len()).ok();
        let mark = mark.and_then(|number| char::from_u32(MARKS.start + number)).filter(|_| is_long);
        match mark {
            Some(mark) => {
                self.pastes.push(text);
                self.insert(mark.encode_utf8(&mut [0; 4]));
            }
            None => self.insert(&text),
        }
    }

    fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn remove_before(&mut self, bytes: usize) {
        self.remove(self.cursor - bytes..self.cursor);
    }

    fn remove(&mut self, range: Range<usize>) {
        self.cursor = range.start;
        self.text.drain(range);
    }

    /// The beginning of the letter before the cursor, with what is put over it.
    fn left(&self) -> usize {
        let before = self.text[..self.cursor].char_indices().rev();
        before.into_iter().find(|(_, c)| is_letter(*c)).map_or(0, |(place, _)| place)
    }

    fn right(&self) -> usize {
        let mut after = self.text[self.cursor..].char_indices().skip(1);
        after.find(|(_, c)| is_letter(*c)).map_or(self.text.len(), |(place, _)| self.cursor + place)
    }

    fn word_left(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before.rfind(char::is_whitespace).map_or(0, |place| place + 1)
    }

    fn word_right(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let spaces = rest.len() - rest.trim_start().len();
        let end = rest[spaces..].find(char::is_whitespace);
        end.map_or(self.text.len(), |place| self.cursor + spaces + place)
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |place| place + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |place| self.cursor + place)
    }

    fn up(&mut self) {
        match self.line_start() {
            0 => {
                let whole = self.whole();
                if let Some(text) = self.history.older(whole) {
                    self.show(&text);
                }
            }
            start => {
                let column = self.text[start..self.cursor].chars().count();
                let above = self.text[..start - 1].rfind('\n').map_or(0, |place| place + 1);
                self.cursor = place_of(&self.text, above, column);
            }
        }
    }

    fn down(&mut self) {
        match self.line_end() {
            end if end == self.text.len() => {
                if let Some(text) = self.history.newer() {
                    self.show(&text);
                }
            }
            end => {
                let column = self.text[self.line_start()..self.cursor].chars().count();
                self.cursor = place_of(&self.text, end + 1, column);
            }
        }
    }

    fn show(&mut self, text: &str) {
        self.text.clear();
        self.pastes.clear();
        self.cursor = 0;
        self.insert_block(text);
    }

    /// A key while the history is searched; whether it belonged to the search.
    fn search_key(&mut self, key: &Key) -> bool {
        match key {
            Key::Char(c) => self.history.narrow(*c),
            Key::Backspace => self.history.widen(),
            Key::Ctrl('r') => self.history.search(),
            Key::Escape => return false,
            _ => {
                if let Some(found) = self.history.found() {
                    let found = found.to_owned();
                    self.show(&found);
                }
                self.history.end_search();
                return *key == Key::Enter;
            }
        }
        true
    }

    /// What could be typed here, for everyone to see.
    fn suggest(&mut self) {
        self.completion = match &self.completer {
            Some(complete) => complete(&self.text[..self.cursor]),
            None => Completion::default(),
        };
    }

    fn complete(&mut self, by: isize) -> Typed {
        if self.chosen.is_none() {
            self.suggest();
        }
        let Completion { from, candidates } = &self.completion;
        let Some(first) = candidates.first() else { return Typed::Nothing };
        let (from, count) = (*from, candidates.len());
        let common = candidates.iter().fold(first.text.len(), |length, candidate| {
            common(&first.text, &candidate.text).min(length)
        });
        let (text, chosen) = match self.chosen {
            None if count == 1 => (ended(&first.text), None),
            None if common > self.cursor.saturating_sub(from) => {
                (first.text[..common].to_owned(), None)
            }
            None => (first.text.clone(), Some(0)),
            Some(last) => {
                let next = last.cast_signed() + by;
                let next = next.rem_euclid(count.cast_signed()).cast_unsigned();
                (candidates[next].text.clone(), Some(next))
            }
        };
        self.remove(from..self.cursor);
        self.insert(&text);
        self.chosen = chosen;
        if self.chosen.is_none() {
            self.suggest();
        }
        Typed::Nothing
    }
}

/// Whether a letter stands for itself: others are put over the one before.
fn is_letter(c: char) -> bool {
    c == '\n' || c.width().unwrap_or(1) > 0
}

/// The place in `text` that many letters after `start`, on the same line.
fn place_of(text: &str, start: usize, column: usize) -> usize {
    let line = text[start..].split('\n').next().unwrap_or_default();
    line.char_indices().nth(column).map_or(start + line.len(), |(place, _)| start + place)
}

/// How many bytes two texts begin with alike.
fn common(one: &str, other: &str) -> usize {
    let same = one.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
    same.last().map_or(0, |((place, c), _)| place + c.len_utf8())
}

/// A word that is complete; a folder goes on.
fn ended(text: &str) -> String {
    if text.ends_with('/') { text.to_owned() } else { format!("{text} ") }
}
