//! Taking secrets out of a text that arrives in pieces.
//!
//! Invariant: no known secret leaves in parts. What looks like one by its form is found where it is one word.

use super::Redactor;

/// The longest word that is waited for.
const LONGEST_WORD: usize = 1_000;

/// Takes secrets out of a text that arrives in pieces.
#[derive(Debug)]
pub struct Streamed<'r> {
    redactor: &'r Redactor,
    /// What may be the beginning of a secret.
    held: String,
}

impl<'r> Streamed<'r> {
    pub(super) fn new(redactor: &'r Redactor) -> Self {
        Self { redactor, held: String::new() }
    }

    /// Takes the next piece and gives what can be shown by now.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let word = self.held.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let word = self.held.ceil_char_boundary(word);
        let ready = if self.held.len() - word > LONGEST_WORD { self.held.len() } else { word };
        let ready = self.before_secret(ready);
        let rest = self.held.split_off(ready);
        let shown = std::mem::replace(&mut self.held, rest);
        self.redactor.text(&shown).into_owned()
    }

    /// What is left to show at the end.
    pub fn finish(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.redactor.text(&held).into_owned()
    }

    /// A place up to `ready` at which no known secret is cut in two, whether it is all there or may go on.
    fn before_secret(&self, ready: usize) -> usize {
        let known = self.redactor.known();
        let secrets = &known.secrets;
        let crosses = |from: usize| {
            let rest = &self.held[from..];
            secrets.iter().any(|secret| match rest.starts_with(secret.as_str()) {
                true => from + secret.len() > ready,
                false => secret.starts_with(rest),
            })
        };
        let longest = secrets.iter().map(String::len).max().unwrap_or(0);
        let first = self.held.floor_char_boundary(ready.saturating_sub(longest));
        let places = self.held[first..ready].char_indices().map(|(place, _)| first + place);
        places.into_iter().find(|place| crosses(*place)).unwrap_or(ready)
    }
}
