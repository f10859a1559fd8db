//! The text in rows of a terminal, with the place of the cursor.

use basics::text::{for_terminal, one_line};

use super::{Candidate, Editor};
use crate::output::{Palette, fit};

/// Candidates that are shown at once.
const MENU: usize = 8;

/// Rows, and where the cursor is: row and column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<String>,
    pub(crate) cursor: (usize, usize),
}

impl Editor {
    /// The text after `prompt` in at most `height` rows, around the cursor; candidates below it.
    pub(crate) fn rows(&self, prompt: &str, width: usize, height: usize, palette: Palette) -> Rows {
        let mut all = match self.history.searched() {
            Some((words, found)) => {
                let label = format!("search: {}", for_terminal(words));
                let text = format!("{label}  {}", for_terminal(&one_line(found)));
                let cursor = (0, fit::columns(&label).min(width));
                Rows { rows: vec![fit::clip(&text, Some(width)).into_owned()], cursor }
            }
            None => self.text_rows(prompt, width),
        };
        let height = height.max(1);
        if all.rows.len() > height {
            let last = (all.cursor.0 + 1).max(height);
            all.rows = all.rows[last - height..last].to_vec();
            all.cursor.0 -= last - height;
        }
        let left = height - all.rows.len();
        all.rows.extend(self.menu(width, left.min(MENU), palette));
        all
    }

    /// The same for what must not be seen: only that something was typed.
    pub(crate) fn hidden_rows(&self, prompt: &str, width: usize) -> Rows {
        let dots = "•".repeat(self.text.chars().count().min(width / 2));
        let row = fit::clip(&format!("{prompt}{dots}"), Some(width)).into_owned();
        let cursor = (0, fit::columns(&row));
        Rows { rows: vec![row], cursor }
    }

    fn text_rows(&self, prompt: &str, width: usize) -> Rows {
        let indent = fit::columns(prompt).min(2);
        let mut rows = vec![prompt.to_owned()];
        let mut taken = fit::columns(prompt);
        let mut cursor = (0, taken);
        let mut place = 0;
        for c in self.text.chars() {
            if place == self.cursor {
                cursor = (rows.len() - 1, taken);
            }
            place += c.len_utf8();
            let letter = self.letter(c);
            let needed = fit::columns(&letter);
            if c == '\n' || (taken + needed > width && taken > indent) {
                rows.push(" ".repeat(indent));
                taken = indent;
                if place - c.len_utf8() == self.cursor && c != '\n' {
                    cursor = (rows.len() - 1, taken);
                }
            }
            if c != '\n'
                && let Some(row) = rows.last_mut()
            {
                row.push_str(&letter);
                taken += needed;
            }
        }
        if place == self.cursor {
            cursor = (rows.len() - 1, taken);
        }
        Rows { rows, cursor }
    }

    /// A letter as it is shown.
    fn letter(&self, c: char) -> String {
        match self.paste(c) {
            Some(paste) => match paste.lines().count() {
                0 | 1 => format!("[pasted {} characters]", paste.chars().count()),
                lines => format!("[pasted {lines} lines]"),
            },
            None if c == '\t' => "    ".to_owned(),
            None => for_terminal(c.encode_utf8(&mut [0; 4])).into_owned(),
        }
    }

    fn menu(&self, width: usize, height: usize, palette: Palette) -> Vec<String> {
        let Palette { bold, dim, .. } = palette;
        let candidates = &self.completion.candidates;
        let first = self.chosen.map_or(0, |chosen| (chosen + 1).saturating_sub(height.max(1)));
        let shown = candidates.iter().enumerate().skip(first).take(height);
        let longest = shown.clone().map(|(_, one)| fit::columns(&one.text)).max().unwrap_or(0);
        shown
            .map(|(index, Candidate { text, hint })| {
                let style = if self.chosen == Some(index) { bold } else { dim };
                let mark = if self.chosen == Some(index) { "›" } else { " " };
                let text = for_terminal(text);
                let gap = " ".repeat(fit::missing(&text, longest));
                let row = format!("{mark} {text}{gap}  {}", for_terminal(&one_line(hint)));
                format!("{style}{}{style:#}", fit::clip(row.trim_end(), Some(width)))
            })
            .collect()
    }
}
